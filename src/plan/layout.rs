//! Where a view's elements lie: its dimensions made as few as they can be, and the part of a buffer that holds it.

use super::device::{Device, MAX_ELEMENTS, stride_u32, to_u32};
use super::{Binding, Slot};
use crate::dtype::padded_bytes;
use crate::error::within;
use crate::shader::{Dim, MAX_DIMS, RowBlock};
use crate::{DType, Error, Parts, View};

/// The elements of the largest blocks of rows that go in bunches wherever packs of columns, or of runs, do as well.
pub(super) const LARGEST_USUAL_BLOCK: u64 = 128;

/// The rows of a run of columns from which on it is long.
const FEWEST_ROWS_OF_RUN: u64 = 8;

/// A view of one input.
#[derive(Clone, PartialEq)]
pub(super) struct Source {
    pub slot: Slot,
    pub view: View,
}

/// The parts of an operation's input, which begins with that slot. Those without elements are left out.
pub(super) fn sources(input: &Parts, first_slot: usize) -> Vec<Source> {
    let parts = input.views().iter().enumerate().filter(|(_, view)| !view.is_empty());
    parts.map(|(n, view)| Source { slot: Slot::Input(first_slot + n), view: view.without_idle_strides() }).collect()
}

/// A dimension of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    pub size: u64,
    pub stride: i64,
    /// How many outputs, or positions, lie from one to the next in the whole reduction.
    pub logical_stride: u64,
}

/// Dimensions, outermost first, that address the same elements in the same order with as few of them as possible;
/// innermost first.
fn collapse(dimensions: impl DoubleEndedIterator<Item = Dimension>) -> Vec<Dimension> {
    let mut merged: Vec<Dimension> = Vec::new();
    for own in dimensions.rev().filter(|d| d.size != 1) {
        match merged.last_mut() {
            Some(inner)
                if inner.stride.checked_mul(inner.size as i64) == Some(own.stride)
                    && inner.logical_stride.checked_mul(inner.size) == Some(own.logical_stride) =>
            {
                inner.size *= own.size;
            }
            _ => merged.push(own),
        }
    }
    merged
}

/// Dimensions of values, which may be taken in any order and once or twice: those that overlap, or meet, as one. The greatest stride comes
/// first, and back come innermost first.
fn united(dimensions: Vec<Dimension>) -> Vec<Dimension> {
    let mut united: Vec<Dimension> = Vec::new();
    for own in dimensions.into_iter().rev() {
        match united.last_mut() {
            Some(inner) if own.stride % inner.stride == 0 && own.stride / inner.stride <= inner.size as i64 => {
                inner.size += (own.size - 1) * (own.stride / inner.stride) as u64;
            }
            _ => united.push(own),
        }
    }
    united
}

/// The greatest stride first, whatever its sign. There are few: a sort would be a lot of code in a small module.
pub(super) fn by_stride<D>(dimensions: Vec<D>, stride: impl Fn(&D) -> i64) -> Vec<D> {
    let mut sorted: Vec<D> = Vec::with_capacity(dimensions.len());
    for own in dimensions {
        let at = sorted.partition_point(|other| stride(other).unsigned_abs() >= stride(&own).unsigned_abs());
        sorted.insert(at, own);
    }
    sorted
}

/// The part of a buffer that a view is read from. It begins where the device allows a binding to, and at a whole pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The element that it begins with.
    pub base: u64,
    /// Elements up to the last one that the view touches.
    pub span: u64,
    pub bytes: u64,
}

impl Extent {
    /// No byte of the view may be past what 64 bits count.
    pub fn new(dtype: DType, view: &View, device: &Device) -> Result<Extent, Error> {
        view.buffer_bytes(dtype)?;
        let (low, high) = view.extent();
        let base = low - low % device.binding_step(&[dtype.bytes()]);
        let span = high - base + 1;
        Ok(Extent { base, span, bytes: padded_bytes(dtype, span).unwrap_or(u64::MAX) })
    }

    /// Whether a binding has room for it, and shaders can count its elements.
    pub fn fits(&self, device: &Device) -> bool {
        device.binds(self.bytes) && self.span <= MAX_ELEMENTS
    }

    pub fn binding(&self, dtype: DType, slot: Slot) -> Binding {
        Binding { binding: 1, slot, writes: false, offset_bytes: self.base * dtype.bytes(), bytes: self.bytes }
    }
}

/// A reduction with its dimensions collapsed. There is at least one output and one element to reduce to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReductionShape {
    /// Innermost first.
    pub kept: Vec<Dimension>,
    /// First the run, of length 1 where nothing is reduced; then what is around it, innermost first. The run is innermost, if it is not
    /// a [long one](ReductionShape::with_long_run).
    pub reduced: Vec<Dimension>,
    /// The element at index 0 of every dimension, counted from the start of the input's binding.
    pub start: u64,
    /// Elements of the input's binding.
    pub span: u64,
    /// Where several rows of columns count as one, the elements of a block that are more than whole rows.
    pub rest_len: u64,
    /// Then, whether blocks begin within packs, and rows, which are whole packs, with the pack in which a block begins.
    pub has_lead: bool,
}

impl ReductionShape {
    /// `any_order`: whether the reduced elements may be taken in another order, as values may, but not positions. Then
    /// elements are left out where they are repeated, reversed dimensions turned round, and the smallest stride goes innermost.
    /// `logical_strides` has, for each dimension, how many outputs or positions lie from one index to the next.
    pub fn new(
        view: &View,
        reduced: &[usize],
        any_order: bool,
        extent: &Extent,
        logical_strides: &[u64],
    ) -> ReductionShape {
        let dimension = |d: usize| Dimension {
            size: view.shape()[d],
            stride: view.strides()[d],
            logical_stride: logical_strides[d],
        };
        let kept = collapse((0..view.rank()).filter(|d| !reduced.contains(d)).map(dimension));
        let mut start = view.offset() - extent.base;
        let mut dimensions: Vec<Dimension> = reduced.iter().map(|&d| dimension(d)).filter(|d| d.size != 1).collect();
        if any_order {
            dimensions.retain(|d| d.stride != 0);
            dimensions.iter_mut().for_each(|d| d.logical_stride = 0); // values have no positions
            for d in dimensions.iter_mut().filter(|d| d.stride < 0) {
                start = start.wrapping_add_signed(d.stride * (d.size as i64 - 1)); // stays within the view's extent
                d.stride = -d.stride;
            }
        }
        let mut reduced = match any_order {
            true => united(by_stride(dimensions, |d| d.stride)),
            false => collapse(dimensions.into_iter()),
        };
        if reduced.is_empty() {
            reduced.push(Dimension { size: 1, stride: 0, logical_stride: 0 });
        }
        ReductionShape { kept, reduced, start, span: extent.span, rest_len: 0, has_lead: false }
    }

    /// The same of values in any order, whose columns go down the longest dimension first, where the innermost has few rows: to begin a run
    /// costs as much as some rows do. No more steps are taken then.
    pub fn with_long_run(mut self) -> ReductionShape {
        let (run, columns) = (self.run(), self.columns().unwrap_or(0));
        let small = run.size.saturating_mul(columns) <= LARGEST_USUAL_BLOCK; // which goes in bunches
        if let Some((n, longest)) = self.reduced.iter().enumerate().max_by_key(|(_, d)| d.size)
            && run.stride != 1
            && !small
            && run.size < FEWEST_ROWS_OF_RUN
            && longest.size >= 2 * run.size
        {
            self.reduced[..=n].rotate_right(1);
        }
        self
    }

    pub fn outputs(&self) -> u64 {
        product(&self.kept)
    }

    pub fn reduce_len(&self) -> u64 {
        product(&self.reduced)
    }

    /// The elements that the outputs see, each counted once.
    pub fn seen(&self) -> u64 {
        self.outputs().saturating_mul(self.reduce_len()).min(self.span)
    }

    pub fn run(&self) -> Dimension {
        self.reduced[0]
    }

    /// The kept dimension along which outputs are neighbours in memory, if there is one.
    pub fn columns(&self) -> Option<u64> {
        match self.kept.first() {
            Some(inner) => (inner.stride == 1).then_some(inner.size),
            None => Some(1),
        }
    }

    /// Whether every run, cut into chunks, begins and ends at a multiple of `elements`.
    pub fn runs_are_whole(&self, chunk_len: u64, elements: u64) -> bool {
        let outer = &self.reduced[1..];
        let strides = self.kept.iter().chain(outer).map(|d| d.stride.unsigned_abs());
        [self.start, self.run().size, chunk_len].into_iter().chain(strides).all(|n| n.is_multiple_of(elements))
    }

    /// Whether every row of columns begins and ends at a multiple of `elements`.
    pub fn columns_are_whole(&self, elements: u64) -> bool {
        let (start, blocks) =
            if self.has_lead { (0, &[][..]) } else { (self.start, self.kept.get(1..).unwrap_or(&[])) };
        let strides = blocks.iter().chain(&self.reduced).map(|d| d.stride.unsigned_abs());
        [start, self.columns().unwrap_or(1)].into_iter().chain(strides).all(|n| n.is_multiple_of(elements))
    }

    /// Whether blocks begin or end within a row of columns.
    pub fn has_loose_ends(&self) -> bool {
        self.has_lead || self.rest_len > 0
    }

    /// The rows, or blocks of them, that follow one another: elements of rows side by side take turns one by one. None where nothing
    /// follows.
    pub fn row_block(&self) -> Option<RowBlock> {
        let (run, inner) = (self.run(), self.kept.first()?);
        let follows = |d: &Dimension, columns: u64| d.stride == (run.size * columns) as i64;
        match self.kept.get(1) {
            _ if run.stride == 1 && follows(inner, 1) => Some(RowBlock::row(run.size)),
            Some(blocks) if inner.stride == 1 && run.stride == inner.size as i64 && follows(blocks, inner.size) => {
                Some(RowBlock { len: run.size, columns: inner.size, turn: 1 })
            }
            _ => None,
        }
    }

    /// The same of rows in two dimensions, such as windows of a picture: runs of rows side by side, and below them others of the same
    /// rows.
    pub fn window_block(&self) -> Option<RowBlock> {
        let ([run, below], [inner, blocks, ..]) = (&self.reduced[..], &self.kept[..]) else { return None };
        let run_len = i64::try_from(run.size).ok()?;
        let follow = run.stride == 1
            && inner.stride == run_len
            && below.stride == run_len * inner.size as i64
            && blocks.stride == below.stride.checked_mul(below.size as i64)?;
        follow.then(|| RowBlock { len: run.size * below.size, columns: inner.size, turn: run.size })
    }

    /// The dimensions along which rows or blocks of them follow one another, and those around them.
    fn stretches(&self, block: &RowBlock) -> (&[Dimension], &[Dimension]) {
        self.kept.split_at(if block.columns > 1 { 2 } else { 1 })
    }

    /// The rows that follow one another.
    pub fn stretch_rows(&self, block: &RowBlock) -> u64 {
        product(self.stretches(block).0)
    }

    /// Whether there is more than one stretch of them.
    pub fn has_stretches(&self, block: &RowBlock) -> bool {
        !self.stretches(block).1.is_empty()
    }

    /// Whether short rows that follow one another make whole bunches of so many, each of which begins at a multiple of
    /// `elements`.
    pub fn bunches_are_whole(&self, elements: u64, block: &RowBlock, bunch_rows: u64) -> bool {
        let (_, around) = self.stretches(block);
        let within = if block.is_window() { 2 } else { 1 };
        let strides = around.iter().chain(&self.reduced[within..]).map(|d| d.stride.unsigned_abs());
        [self.start].into_iter().chain(strides).all(|n| n.is_multiple_of(elements))
            && (around.is_empty() || self.stretch_rows(block).is_multiple_of(bunch_rows))
    }

    /// The rows of columns.
    pub fn rows_of_columns(&self) -> u64 {
        self.outputs() / self.columns().unwrap_or(1)
    }
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(super) fn product(dimensions: &[Dimension]) -> u64 {
    dimensions.iter().map(|d| d.size).product()
}

/// For each dimension how many outputs, or positions where it is reduced, lie from one index to the next.
pub(super) fn logical_strides(shape: &[u64], reduced: &[usize]) -> Vec<u64> {
    let mut logical_strides = vec![0; shape.len()];
    let (mut outputs, mut positions) = (1_u64, 1_u64);
    for (d, &size) in shape.iter().enumerate().rev() {
        let place = if reduced.contains(&d) { &mut positions } else { &mut outputs };
        logical_strides[d] = *place;
        *place = place.saturating_mul(size);
    }
    logical_strides
}

/// Whether shaders have room for so many dimensions.
pub(super) fn check_dims(dimensions: usize) -> Result<(), Error> {
    within("dimensions that do not collapse", dimensions as u64, MAX_DIMS as u64)
}

/// The dimensions as the shaders take them; their logical_strides only where the shader looks at them.
pub(super) fn shader_dims(dimensions: &[Dimension], placed: bool) -> Result<Vec<Dim>, Error> {
    check_dims(dimensions.len())?;
    let dim = |d: &Dimension| {
        Ok(Dim {
            size: to_u32(d.size)?,
            stride: stride_u32(d.stride)?,
            logical_stride: if placed { d.logical_stride } else { 0 },
        })
    };
    dimensions.iter().map(dim).collect()
}
