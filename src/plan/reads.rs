//! How the rows of an output lie in its operands, and how packs and short rows of these are read.

use std::ops::Range;

use super::boxes::in_parts;
use super::device::{Device, check_countable, stride_u32};
use super::layout::{Extent, Source, check_dims};
use super::{Binding, check_count};
use crate::shader::OperandParams;
use crate::{DType, Error, View};

/// The output's dimensions, collapsed as far as every operand allows; innermost first.
pub(super) struct Rows {
    pub sizes: Vec<u64>,
}

impl Rows {
    /// And each operand's strides along them.
    pub fn new(shape: &[u64], sources: &[Source]) -> Result<(Rows, Vec<Vec<i64>>), Error> {
        let views: Vec<&View> = sources.iter().map(|source| &source.view).collect();
        let mut sizes: Vec<u64> = Vec::new();
        let mut strides: Vec<Vec<i64>> = vec![Vec::new(); views.len()];
        for d in (0..shape.len()).rev().filter(|&d| shape[d] != 1) {
            let runs_on = |size: u64| {
                let mut all = views.iter().zip(&strides);
                all.all(|(view, own)| {
                    own.last().and_then(|own| own.checked_mul(size as i64)) == Some(view.strides()[d])
                })
            };
            match sizes.last_mut() {
                Some(size) if runs_on(*size) => *size *= shape[d],
                _ => {
                    sizes.push(shape[d]);
                    strides.iter_mut().zip(&views).for_each(|(own, view)| own.push(view.strides()[d]));
                }
            }
        }
        if sizes.is_empty() {
            sizes.push(1);
            strides.iter_mut().for_each(|own| own.push(0));
        }
        check_dims(sizes.len())?;
        Ok((Rows { sizes }, strides))
    }

    pub fn row_len(&self) -> u64 {
        self.sizes[0]
    }

    pub fn count(&self) -> u64 {
        self.sizes[1..].iter().product()
    }

    /// Whether an operand of these strides is one stretch of elements.
    pub fn follow_one_another(&self, strides: &[i32]) -> bool {
        strides[0] == 1 && self.rows_follow_one_another(strides, self.row_len())
    }

    /// Whether what rows have of such an operand, so many elements each, is one stretch.
    fn rows_follow_one_another(&self, strides: &[i32], own_len: u64) -> bool {
        let mut len = own_len;
        self.sizes.iter().zip(strides).skip(1).all(|(size, &stride)| {
            let follows = i64::from(stride) == len as i64;
            len *= size;
            follows
        })
    }

    /// Whether as many rows as a pack has elements may lie in two stretches of rows that follow one another.
    pub fn have_ragged_stretches(&self, pack: u64) -> bool {
        self.sizes.len() > 2 && !self.sizes[1].is_multiple_of(pack)
    }

    /// Whether rows end within packs.
    pub fn are_ragged(&self, pack: u64) -> bool {
        self.sizes.len() > 1 && !self.row_len().is_multiple_of(pack)
    }
}

/// What one dispatch reads of an operand: what is bound, and where its elements are in it.
pub(super) struct Read {
    pub window: Binding,
    /// The view's first element, counted from the start of the binding.
    start: u32,
    /// Those of [`Rows`]: along a row, and of the dimensions around it.
    pub strides: Vec<i32>,
    /// Elements that the binding holds.
    span: u64,
    /// Whether there are elements that it does not hold.
    pub partial: bool,
}

impl Read {
    /// All that is bound of an operand, in one dispatch after another.
    pub fn windows(dtype: DType, source: &Source, strides: &[i64], device: &Device) -> Result<Vec<Read>, Error> {
        let Source { slot, view } = source;
        let extent = Extent::new(dtype, view, device)?;
        let Extent { base, span, .. } = extent;
        let whole = extent.binding(dtype, *slot);
        if extent.fits(device) {
            return Ok(vec![Read::new(whole, base, span, false, view, strides)?]);
        }
        let most = device.binding_elements(dtype.bytes())?;
        check_count(span / most)?;
        let read = |part: Range<u64>| {
            let len = part.end - part.start;
            let window = whole.part(dtype.bytes(), part.start, len);
            Read::new(window, base + part.start, len, true, view, strides)
        };
        in_parts(0..span, most).map(read).collect()
    }

    fn new(window: Binding, base: u64, span: u64, partial: bool, view: &View, strides: &[i64]) -> Result<Read, Error> {
        check_countable(span + 64)?; // a pack may begin at the last element
        Ok(Read {
            window,
            start: view.offset().wrapping_sub(base) as u32, // of a part it may lie before: addresses are modulo 2^32
            strides: strides.iter().map(|&stride| stride_u32(stride)).collect::<Result<_, _>>()?,
            span,
            partial,
        })
    }

    /// Where its elements are, if so many dimensions lie within a row.
    pub fn params(&self, inside: usize) -> OperandParams {
        OperandParams { start: self.start, strides: self.strides[inside..].to_vec() }
    }

    /// How the kernel of packs reads it, if it can.
    pub fn in_packs(&self, rows: &Rows, pack: u64) -> Option<Form> {
        let along_row = self.repeats_along_row()?;
        // Where rows end within packs, those of an operand of its own layout do so elsewhere.
        let aligned = match rows.row_len().is_multiple_of(pack) {
            true => multiples(&self.strides[1..], pack),
            false => rows.follow_one_another(&self.strides),
        };
        Some(Form { along_row, row_after_row: false, shifted: !(along_row || aligned && self.begins_with_pack(pack)) })
    }

    /// How the kernel of short rows reads it, if it can: as one stretch, or one element after another, or the same again.
    pub fn in_short_rows(&self, rows: &Rows, pack: u64) -> Option<Form> {
        let along_row = self.repeats_along_row()?;
        let (&next_row, around) = self.strides[1..].split_first()?;
        let row_after_row = next_row == 0;
        let own_len = if along_row { 1 } else { rows.row_len() };
        let in_one_piece = row_after_row || i64::from(next_row) == own_len as i64;
        let stretches_aligned = match rows.have_ragged_stretches(pack) {
            false => multiples(around, pack),
            true => rows.rows_follow_one_another(&self.strides, own_len), // others begin elsewhere than the output's
        };
        let aligned = stretches_aligned && self.begins_with_pack(pack);
        in_one_piece.then_some(Form { along_row, row_after_row, shifted: !row_after_row && !aligned })
    }

    /// Whether a row has one element of it; nothing where it is neither that nor a stretch of them.
    fn repeats_along_row(&self) -> Option<bool> {
        (!self.partial && matches!(self.strides[0], 0 | 1)).then_some(self.strides[0] == 0)
    }

    pub fn begins_with_pack(&self, pack: u64) -> bool {
        self.span >= pack && u64::from(self.start).is_multiple_of(pack)
    }
}

fn multiples(strides: &[i32], pack: u64) -> bool {
    strides.iter().all(|stride| u64::from(stride.unsigned_abs()).is_multiple_of(pack))
}

/// How whole packs of an operand are read.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// There is one element for all of a row.
    pub along_row: bool,
    /// There are the same elements in row after row.
    pub row_after_row: bool,
    /// Packs begin anywhere in the binding.
    pub shifted: bool,
}

/// A bit for each operand of which this is so.
pub(super) fn mask<T>(forms: &[T], is_so: impl Fn(&T) -> bool) -> u32 {
    forms.iter().enumerate().fold(0, |mask, (n, form)| mask | u32::from(is_so(form)) << n)
}
