//! Hardmax: an ArgMax leaves the winners in scratch, and what remains is to write ones and zeros: zeros everywhere and a one for each
//! winner or, where it is measured to be faster, packs. Teams of invocations that find the winners of slices, or merge what is known
//! of them, write the slices themselves.

use std::ops::Range;

use super::boxes::in_parts;
use super::device::{Device, FEWEST_PACKS, check_countable, to_u32};
use super::fill::{fill, filled_words};
use super::layout::{gcd, sources};
use super::reduce::{reduce, reduce_to_ones, reduce_to_winners};
use super::schedule::{FEWEST_FAR_LOADS, Reduction};
use super::{Binding, Dispatch, Dispatches, Plan, Slot};
use crate::element::{Element, with_element_type};
use crate::error::list;
use crate::shader::{Epilogue, HardmaxOnesParams, HardmaxWriteParams, HardmaxWriter, Params, Program};
use crate::{DType, Error, Hardmax, Limits};

pub(crate) fn hardmax(op: &Hardmax, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let slice = &op.checked()?;
    let outputs = op.output_types()?;
    let label = format!("Hardmax {} {} over {}", op.dtype, list(op.input.shape()), list(slice));
    let dispatches = |targets: &[Binding]| dispatches(op, slice, targets[0], device);
    Plan::of(label, op.input.views().len(), &outputs, device, dispatches)
}

fn dispatches(op: &Hardmax, slice: &[usize], target: Binding, device: &Device) -> Result<Dispatches, Error> {
    let output = Output::new(op.dtype, op.input.shape(), slice, target, device);
    if output.slice_len == 1 {
        let one = with_element_type!(op.dtype, T => filled_words(T::ONE)); // every element is the maximum of its slice
        return fill(one, target, device);
    }
    let out_len = output.len / output.slice_len;
    let search = Reduction {
        slice_len: output.slice_len,
        ..Reduction::new(op.dtype, op.nan, Epilogue::Index, slice, out_len, device)
    };
    let sources = sources(&op.input, 0);
    let ones = Reduction { epilogue: Epilogue::Ones, ..search };
    if let Some(dispatches) = reduce_to_ones(&ones, &sources, output.columns, target)? {
        return Ok(dispatches);
    }
    let winners = |winner_bytes| {
        let bytes = out_len.saturating_mul(winner_bytes).next_multiple_of(4);
        Binding::scratch(1, bytes)
    };
    let narrow = Output { narrow: true, ..output };
    if output.counts_in_elements() && narrow.looks_up_packs()? {
        let search = Reduction { epilogue: Epilogue::Winner, ..search };
        if let Some(mut dispatches) = reduce_to_winners(&search, &sources, winners(op.dtype.bytes()))? {
            dispatches.append(narrow.write()?)?;
            return Ok(dispatches);
        }
    }
    let mut dispatches = reduce(&search, sources, &[winners(4)])?;
    dispatches.append(output.write()?)?;
    Ok(dispatches)
}

/// What is written in packs: all of the output or, from its beginning on, all but an end.
#[derive(Clone, Copy)]
struct Packs {
    writer: HardmaxWriter,
    /// The elements that are written at once.
    write_len: u64,
    /// Its elements.
    len: u64,
}

/// The output as blocks of `slice_len` rows of `columns` elements.
#[derive(Clone, Copy)]
struct Output<'a> {
    device: &'a Device,
    dtype: DType,
    len: u64,
    slice_len: u64,
    columns: u64,
    target: Binding,
    /// Whether winners are as wide as elements of 8 or 16 bits, and not words.
    narrow: bool,
}

impl<'a> Output<'a> {
    fn new(dtype: DType, shape: &[u64], slice: &[usize], target: Binding, device: &'a Device) -> Output<'a> {
        let columns = slice.last().map_or(1, |&last| shape[last + 1..].iter().product());
        let slice_len = slice.iter().map(|&d| shape[d]).product();
        Output { device, dtype, len: shape.iter().product(), slice_len, columns, target, narrow: false }
    }

    /// Whether elements are narrower than words, and wide enough to count those of a slice.
    fn counts_in_elements(&self) -> bool {
        let bits = 8 * self.dtype.bytes();
        bits < 32 && self.slice_len <= 1 << bits
    }

    fn winner_bytes(&self) -> u64 {
        if self.narrow { self.dtype.bytes() } else { 4 }
    }

    /// The dispatches that write once the winners are known: packs, where that pays; of what is left zeros, and a one for each winner.
    fn write(&self) -> Result<Dispatches, Error> {
        let mut dispatches = Dispatches::default();
        let packs = self.packs()?;
        // Where others write the packs that lie in one row, those in which rows end.
        let inner = packs.filter(|packs| packs.writer == HardmaxWriter::InnerPacks);
        let seams = inner.map(|inner| Packs { writer: HardmaxWriter::Seams, ..inner });
        for packs in packs.into_iter().chain(seams) {
            dispatches.push(self.write_packs(packs)?)?;
        }
        dispatches.append(self.write_ones(packs.map_or(0, |packs| packs.len))?)?;
        Ok(dispatches)
    }

    fn packs(&self) -> Result<Option<Packs>, Error> {
        for found in [Output::packed_columns, Output::ragged_columns, Output::short_rows, Output::rows] {
            if let Some(packs) = found(self)? {
                return Ok(Some(packs));
            }
        }
        Ok(None)
    }

    /// The packs that lie in one row each.
    fn packed_columns(&self) -> Result<Option<Packs>, Error> {
        let pack = self.dtype.pack_elements();
        let ragged = !self.columns.is_multiple_of(pack);
        if self.columns == 1 || ragged && !self.inner_packs_pay() || self.has_long_columns() {
            return Ok(None);
        }
        let side_by_side = self.device.packs_of_few_rows(self.rows_of_packs());
        let write_len = pack * side_by_side;
        let narrow = self.narrow;
        let writer = if ragged { HardmaxWriter::InnerPacks } else { HardmaxWriter::PackedColumns { narrow } };
        let Some(packs) = self.packs_of(writer, write_len, 1)? else { return Ok(None) };
        let (share, tasks) = self.tasks(&packs);
        // Rows and packs that are no one's are counted, too.
        let counted = tasks.saturating_mul(share * write_len).saturating_add(self.columns);
        let countable = tasks <= self.device.max_invocations && counted <= u64::from(u32::MAX) / 2;
        Ok(countable.then_some(packs))
    }

    /// Whether rows that end within packs have so many that it pays to write seams apart. Winners that are words, and wider than
    /// elements, are looked up one by one.
    fn inner_packs_pay(&self) -> bool {
        let fewest = match (self.dtype.bytes(), self.device.has_wide_loads()) {
            _ if self.device.spreads() => return false, // which wait longer for another dispatch
            (1, true) => 2,
            (1, false) | (2, true) => 8,
            (4, true) => 12,
            _ => return false,
        };
        let as_wide = self.narrow || self.dtype.bytes() == 4;
        as_wide && self.columns >= fewest * self.dtype.pack_elements()
    }

    /// Whether columns are so long that zeros, and then a one for each, are written faster than packs, of which each element's winner
    /// is looked up: a one may have to be fetched from far away. GPUs fetch 32 bytes, and write whole packs of a row side by side.
    fn has_long_columns(&self) -> bool {
        let whole = self.columns.is_multiple_of(self.dtype.pack_elements());
        let slice_bytes = self.slice_len.saturating_mul(self.dtype.bytes());
        if self.device.spreads() {
            return !whole && slice_bytes >= 256;
        }
        match whole {
            true => self.slice_len >= 24 && slice_bytes >= 96,
            false => self.slice_len >= if self.inner_packs_pay() { 24 } else { 12 },
        }
    }

    /// The rows of a pack of columns that an invocation writes.
    fn rows_of_packs(&self) -> u64 {
        self.device.share_of_rows(self.len / self.dtype.pack_elements()).min(self.slice_len)
    }

    /// Packs one after another, of one row or two.
    fn ragged_columns(&self) -> Result<Option<Packs>, Error> {
        let pack = self.dtype.pack_elements();
        match self.columns >= pack && !self.has_long_columns() {
            true => self.packs_of(HardmaxWriter::RaggedColumns { packed: self.takes_winners_in_packs() }, pack, pack),
            false => Ok(None),
        }
    }

    /// Whether pack after pack is written with winners that are taken in packs. GPUs would touch a sector for each, were they taken one
    /// by one; software, which has to put packs together, is faster so.
    fn takes_winners_in_packs(&self) -> bool {
        self.device.spreads() && self.dtype.bytes() == self.winner_bytes()
    }

    /// Whether winners as wide as elements are taken in packs.
    fn looks_up_packs(&self) -> Result<bool, Error> {
        Ok(self.packed_columns()?.is_some() || self.device.spreads() && self.ragged_columns()?.is_some())
    }

    /// Bunches of slices. Slices of several whole packs are as fast one by one.
    fn short_rows(&self) -> Result<Option<Packs>, Error> {
        let short = (2..=self.device.longest_written_slice()).contains(&self.slice_len);
        let pack = self.dtype.pack_elements();
        let several_packs = self.slice_len > pack && self.slice_len.is_multiple_of(pack);
        if self.columns > 1 || !short || several_packs {
            return Ok(None);
        }
        let (bunch, writer) = (pack * self.slice_len, HardmaxWriter::ShortRows { len: self.slice_len as u32 });
        self.packs_of(writer, bunch, bunch)
    }

    /// Slices that follow one another, where neighbours write side by side: elsewhere zeros, and then the ones, are as fast.
    fn rows(&self) -> Result<Option<Packs>, Error> {
        let pack = self.dtype.pack_elements();
        let rows = self.columns == 1 && self.device.spreads();
        if rows { self.packs_of(HardmaxWriter::Rows, pack, pack) } else { Ok(None) }
    }

    /// All of the output or, if that is enough for a dispatch of its own, as much of it as is a multiple of `unit` elements and ends
    /// where a binding may begin. Nothing if one dispatch cannot write it, or has not all winners in a binding.
    fn packs_of(&self, writer: HardmaxWriter, write_len: u64, unit: u64) -> Result<Option<Packs>, Error> {
        let bytes = self.dtype.bytes();
        let step = self.device.binding_step(&[bytes]);
        let step = unit.saturating_mul(step / gcd(step, unit));
        let len = if self.len.is_multiple_of(unit) { self.len } else { self.len / step * step };
        // Two dispatches more for what is left: a GPU waits longer for them.
        let fewest = if self.device.spreads() { FEWEST_FAR_LOADS } else { FEWEST_PACKS };
        let enough = len == self.len || len >= fewest * self.dtype.pack_elements();
        let winners = self.device.binds(self.bound_winners(writer, len));
        let counted = len.saturating_add(self.columns) < u32::MAX.into();
        let writable = len <= self.device.writable(bytes, write_len)?;
        Ok((enough && winners && counted && writable).then_some(Packs { writer, write_len, len }))
    }

    fn write_packs(&self, packs: Packs) -> Result<Dispatch, Error> {
        let Output { dtype, slice_len, columns, target, .. } = *self;
        let Packs { writer, write_len, len } = packs;
        let group = self.device.tuning.group;
        let (share, tasks) = self.tasks(&packs);
        let bytes = self.bound_winners(writer, len);
        let winners = Binding { binding: 1, slot: Slot::Scratch(1), writes: false, offset_bytes: 0, bytes };
        Ok(Dispatch {
            kernel: self.device.kernel(Program::HardmaxWrite(writer), dtype, group, &[]),
            params: Params::HardmaxWrite(HardmaxWriteParams {
                len: to_u32(len)?,
                columns: to_u32(columns)?,
                slice_len: to_u32(slice_len)?,
                share: to_u32(share)?,
                write_len: to_u32(write_len)?,
            }),
            grid: self.device.grid(tasks.div_ceil(group), group * share * write_len)?,
            bindings: vec![winners, target.part(dtype.bytes(), 0, len)],
        })
    }

    /// What an invocation writes, of rows or of all that is written at once, and the invocations that there are to do it.
    fn tasks(&self, packs: &Packs) -> (u64, u64) {
        let Packs { writer, write_len, len } = *packs;
        match writer {
            HardmaxWriter::Seams => (1, len / self.columns),
            HardmaxWriter::PackedColumns { .. } | HardmaxWriter::InnerPacks => {
                let share = self.rows_of_packs();
                let pack = self.dtype.pack_elements();
                let lines = len / self.slice_len / self.columns * (self.columns / pack).div_ceil(write_len / pack);
                (share, lines * self.slice_len.div_ceil(share))
            }
            _ => {
                let writes = len / write_len;
                let share = self.device.share(writes);
                (share, writes.div_ceil(share))
            }
        }
    }

    /// The bytes of the winners of so many elements: whole packs or, for those who take them one by one, words.
    fn bound_winners(&self, writer: HardmaxWriter, len: u64) -> u64 {
        let whole = match writer {
            HardmaxWriter::RaggedColumns { packed: false } | HardmaxWriter::Rows | HardmaxWriter::ShortRows { .. } => 4,
            HardmaxWriter::RaggedColumns { packed: true }
            | HardmaxWriter::PackedColumns { .. }
            | HardmaxWriter::InnerPacks
            | HardmaxWriter::Seams => 16,
        };
        let winners = len.div_ceil(self.columns.saturating_mul(self.slice_len)) * self.columns; // of whole blocks
        winners.saturating_mul(self.winner_bytes()).checked_next_multiple_of(whole).unwrap_or(u64::MAX)
    }

    /// Zeros from an element on, and a one for each winner there.
    fn write_ones(&self, first: u64) -> Result<Dispatches, Error> {
        let bytes = self.dtype.bytes();
        let mut dispatches = fill([0, 0], self.target.part(bytes, first, self.len - first), self.device)?;
        let mut rest = first;
        while rest < self.len {
            let end = self.len.min(rest + self.most_ones(rest)?);
            for winners in self.winners(rest..end)? {
                dispatches.push(self.ones(rest..end, winners)?)?;
            }
            rest = end;
        }
        Ok(dispatches)
    }

    /// The most elements from one on that a dispatch can count: rows from the beginning of that one's slice on, elements from that of
    /// its row on. Then columns of winners, too, are counted far enough: such as wrap belong to elements behind them.
    fn most_ones(&self, first: u64) -> Result<u64, Error> {
        let step = self.device.binding_step(&[self.dtype.bytes()]);
        let position = first / self.columns % self.slice_len;
        let rows = (u64::from(u32::MAX) - 1).saturating_sub(position);
        check_countable(self.columns.saturating_add(step))?;
        let elements = u64::from(u32::MAX) - self.columns;
        match rows.saturating_mul(self.columns).min(elements) / step * step {
            0 => {
                let limit = u64::from(u32::MAX).saturating_sub(2 * step);
                Err(Error::TooLarge { what: "elements of a slice", given: self.slice_len, limit })
            }
            most => Ok(most.min(self.device.binding_elements(self.dtype.bytes())?)),
        }
    }

    /// The winners of these elements, in parts that fit a binding each.
    fn winners(&self, elements: Range<u64>) -> Result<impl Iterator<Item = Range<u64>>, Error> {
        let (first, last) = (elements.start, elements.end - 1);
        let winner = |row: u64, column: u64| row / self.slice_len * self.columns + column;
        let (row, last_row) = (first / self.columns, last / self.columns);
        let (begin, end) = match row == last_row {
            true => (winner(row, first % self.columns), winner(row, last % self.columns) + 1),
            false => (winner(row, 0), winner(last_row, self.columns)),
        };
        let bytes = self.winner_bytes();
        let step = self.device.binding_step(&[bytes]);
        Ok(in_parts(begin / step * step..end, self.device.writable(bytes, 1)?)
            .map(move |part| part.start.max(begin)..part.end))
    }

    /// The ones of these winners in this part of the output.
    fn ones(&self, elements: Range<u64>, winners: Range<u64>) -> Result<Dispatch, Error> {
        let Output { dtype, slice_len, columns, target, .. } = *self;
        let (len, row) = (elements.end - elements.start, elements.start / columns);
        let bytes = self.winner_bytes();
        let bound = winners.start - winners.start % self.device.binding_step(&[bytes]);
        let (count, group) = (winners.end - winners.start, self.device.tuning.group);
        let share = self.device.share(count);
        let scratch = Binding { binding: 1, slot: Slot::Scratch(1), writes: false, offset_bytes: 0, bytes: 0 };
        Ok(Dispatch {
            kernel: self.device.kernel(Program::HardmaxOnes { narrow: self.narrow }, dtype, group, &[]),
            params: Params::HardmaxOnes(HardmaxOnesParams {
                len: to_u32(len)?,
                columns: to_u32(columns)?,
                slice_len: to_u32(slice_len)?,
                share: to_u32(share)?,
                column: to_u32(elements.start % columns)?,
                position: to_u32(row % slice_len)?,
                first: to_u32(winners.start - bound)?,
                end: to_u32(winners.end - bound)?,
                winner_column: to_u32(winners.start % columns)?,
                winner_block: to_u32(winners.start / columns - row / slice_len)?,
            }),
            grid: self.device.grid(count.div_ceil(share).div_ceil(group), group * share)?,
            bindings: vec![
                scratch.part(bytes, bound, winners.end - bound),
                target.part(dtype.bytes(), elements.start, len),
            ],
        })
    }
}
