//! Hardmax: an ArgMax leaves the winners in scratch, and what remains is to write ones and zeros. Teams of invocations that find
//! the winners of slices, or merge what is known of them, write the slices themselves.

use std::ops::Range;

use super::device::{Device, FEWEST_PACKS, check_countable, to_u32};
use super::fill::{fill, filled_words};
use super::layout::{blocks, gcd, sources};
use super::reduce::{reduce, reduce_to_ones, reduce_to_winners};
use super::schedule::Reduction;
use super::{Binding, Dispatch, Dispatches, Plan, Slot, output_bindings, target_part};
use crate::element::{Element, with_element_type};
use crate::error::list;
use crate::shader::{Epilogue, HardmaxWriteParams, HardmaxWriter, Kernel, Operator, Override, Params, Program, Stores};
use crate::{DType, Error, Hardmax, Limits, Operation};

pub(crate) fn hardmax(op: &Hardmax, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let slice = &op.checked()?;
    let target = output_bindings(&op.outputs()?)[0];
    let label = format!("Hardmax {} {} over {}", op.dtype, list(op.input.shape()), list(slice));
    let plan = Plan::new(label, op.input.views().len(), &[target]);
    if target.bytes == 0 {
        return Ok(plan);
    }
    let output = Output::new(op.dtype, op.input.shape(), slice, target, device);
    if output.slice_len == 1 {
        let one = with_element_type!(op.dtype, T => filled_words(T::ONE)); // every element is the maximum of its slice
        return plan.complete(fill(one, target, device)?, device);
    }
    let out_len = output.len / output.slice_len;
    let search = Reduction {
        dtype: op.dtype,
        operator: Operator::ArgMax,
        epilogue: Epilogue::Index,
        reduced: slice,
        nan: op.nan,
        last: false,
        index_words: 1,
        slice_len: output.slice_len,
        out_len,
        device,
    };
    let sources = sources(&op.input, 0);
    let ones = Reduction { epilogue: Epilogue::Ones, ..search };
    if let Some(dispatches) = reduce_to_ones(&ones, &sources, output.columns, target)? {
        return plan.complete(dispatches, device);
    }
    let winners = |winner_bytes| {
        let bytes = out_len.saturating_mul(winner_bytes).next_multiple_of(4);
        Binding { binding: 3, slot: Slot::Scratch(1), writes: true, offset_bytes: 0, bytes }
    };
    let narrow = Output { narrow: true, ..output };
    if output.counts_in_elements() && narrow.packed_columns(0)?.is_some() {
        let search = Reduction { epilogue: Epilogue::Winner, ..search };
        if let Some(mut dispatches) = reduce_to_winners(&search, &sources, winners(op.dtype.bytes()))? {
            dispatches.append(narrow.write()?)?;
            return plan.complete(dispatches, device);
        }
    }
    let mut dispatches = reduce(&search, sources, &[winners(4)])?;
    dispatches.append(output.write()?)?;
    plan.complete(dispatches, device)
}

/// A part of the output, and what writes it.
#[derive(Clone, Copy)]
struct WrittenPart {
    writer: HardmaxWriter,
    /// The elements that are written at once.
    write_len: u64,
    /// The elements of the part.
    len: u64,
    /// The elements of a line.
    line: u64,
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

    /// The dispatches that write once the winners are known: one where output and winners fit a binding each, and the output
    /// is whole packs.
    fn write(&self) -> Result<Dispatches, Error> {
        let mut dispatches = Dispatches::default();
        let mut first = 0;
        while first < self.len {
            let part = self.next_part(first)?;
            for part in [Some(part), self.seams(&part)].into_iter().flatten() {
                let windows = self.winners(first, &part);
                for n in 0..windows.len() {
                    dispatches.push(self.write_part(first, part, &windows, n)?)?;
                }
            }
            first += part.len;
        }
        Ok(dispatches)
    }

    /// The same part's packs in which rows end, where others write those between.
    fn seams(&self, packs: &WrittenPart) -> Option<WrittenPart> {
        let ends_within = !self.columns.is_multiple_of(self.dtype.pack_elements());
        let of_packs = packs.writer == self.columns_writer(Stores::Packs);
        (of_packs && ends_within).then_some(WrittenPart { writer: self.columns_writer(Stores::Seams), ..*packs })
    }

    fn columns_writer(&self, stores: Stores) -> HardmaxWriter {
        HardmaxWriter::Columns { stores, narrow: self.narrow }
    }

    /// The part that begins with an element.
    fn next_part(&self, first: u64) -> Result<WrittenPart, Error> {
        for found in [Output::packed_columns, Output::short_rows, Output::lines] {
            if let Some(part) = found(self, first)? {
                return Ok(part);
            }
        }
        let (lanes, pack) = (self.dtype.lanes(), self.dtype.pack_elements());
        let step = self.device.binding_step(&[self.dtype.bytes()]);
        if self.columns >= pack {
            let part = self.part(first, HardmaxWriter::RaggedColumns, pack, step)?;
            if self.pays_in_one(first, &part) {
                return Ok(part);
            }
        }
        let long = self.slice_len > self.device.longest_written_slice();
        if self.columns == 1 && (long || self.slice_len.is_multiple_of(pack)) {
            let part = self.part(first, HardmaxWriter::Rows { packs: true }, pack, step)?;
            if self.pays(first, &part) {
                return Ok(part);
            }
        }
        let writer = match self.columns {
            1 => HardmaxWriter::Rows { packs: false },
            _ => self.columns_writer(Stores::Results),
        };
        self.part(first, writer, lanes, 1)
    }

    /// The packs that lie in one row each, if one dispatch can write them all.
    fn packed_columns(&self, first: u64) -> Result<Option<WrittenPart>, Error> {
        let pack = self.dtype.pack_elements();
        let ragged = !self.columns.is_multiple_of(pack);
        if self.columns == 1 || ragged && !self.inner_packs_pay() {
            return Ok(None);
        }
        let writer = self.columns_writer(Stores::Packs);
        let mut part = self.part(first, writer, pack, if ragged { 1 } else { pack })?;
        part.write_len = pack * self.device.packs_of_few_rows(self.rows_of_packs());
        part.line = part.write_len;
        let (share, tasks) = self.tasks(&part);
        // Rows and packs that are no one's are counted, too.
        let counted = tasks.saturating_mul(share * part.line).saturating_add(self.columns);
        let countable = tasks <= self.device.max_invocations && counted <= u64::from(u32::MAX) / 2;
        let all = part.len == self.len && self.winners(first, &part).len() == 1;
        Ok((all && countable).then_some(part))
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

    /// The rows of a pack of columns that an invocation writes.
    fn rows_of_packs(&self) -> u64 {
        let row_bytes = self.columns.saturating_mul(self.dtype.bytes());
        self.device.share_of_rows(self.len / self.dtype.pack_elements(), row_bytes).min(self.slice_len)
    }

    /// Lines of whole packs, if 32 bits count their rows and no pack has elements of more than two blocks. They are for rows
    /// shorter than a pack, and for small elements in slices so long that looking for their winners once pays for it that an
    /// invocation does not write what lies side by side.
    fn lines(&self, first: u64) -> Result<Option<WrittenPart>, Error> {
        let (columns, slice_len, pack) = (self.columns, self.slice_len, self.dtype.pack_elements());
        let period = pack / gcd(columns, pack); // rows that are whole packs
        let long = slice_len >= 64.max(8 * period) && self.dtype.bytes() <= 2 && period > 1;
        if columns == 1 || !(long || columns < pack) {
            return Ok(None);
        }
        let step = self.device.binding_step(&[self.dtype.bytes()]);
        let mut part = self.part(first, HardmaxWriter::Lines, pack, step)?;
        let of_many_packs = (32 * pack).div_ceil(columns).min(slice_len / 12);
        let line_rows = of_many_packs.div_ceil(period).max(1) * period;
        part.line = columns * line_rows;
        let of_two_blocks = slice_len > (pack - 1).div_ceil(columns);
        let rows = first / columns % slice_len + part.len.div_ceil(columns) + line_rows + slice_len;
        let elements = part.len + part.line + columns + pack;
        let countable = rows.max(elements) <= u32::MAX.into();
        let writable = part.line / pack <= self.device.max_invocations;
        let pays = self.pays_in_one(first, &part);
        Ok((of_two_blocks && countable && writable && pays).then_some(part))
    }

    /// Bunches of slices, where one begins with the element, and all winners are in one window. Slices of several whole packs
    /// are as fast one by one.
    fn short_rows(&self, first: u64) -> Result<Option<WrittenPart>, Error> {
        let short = (2..=self.device.longest_written_slice()).contains(&self.slice_len);
        let pack = self.dtype.pack_elements();
        let several_packs = self.slice_len > pack && self.slice_len.is_multiple_of(pack);
        if self.columns > 1 || !short || several_packs || !first.is_multiple_of(pack * self.slice_len) {
            return Ok(None);
        }
        let (bunch, step) = (pack * self.slice_len, self.device.binding_step(&[self.dtype.bytes()]));
        let writer = HardmaxWriter::ShortRows { len: self.slice_len as u32 };
        let part = self.part(first, writer, bunch, bunch.saturating_mul(step / gcd(step, bunch)))?;
        Ok(self.pays_in_one(first, &part).then_some(part))
    }

    /// As much from one element on as a dispatch can write; if that is not all, steps after which the next can begin.
    fn part(&self, first: u64, writer: HardmaxWriter, write_len: u64, step: u64) -> Result<WrittenPart, Error> {
        let most = self.most(first, write_len)?;
        let all = first + most == self.len && (step == 1 || most.is_multiple_of(write_len));
        Ok(WrittenPart { writer, write_len, len: if all { most } else { most / step * step }, line: self.columns })
    }

    /// Whether it does without another dispatch for what is left, or writes enough for two.
    fn pays(&self, first: u64, part: &WrittenPart) -> bool {
        let enough = FEWEST_PACKS * self.dtype.pack_elements();
        part.len > 0 && (first + part.len == self.len || part.len >= enough)
    }

    /// The same, and whether all winners that it takes are in one window.
    fn pays_in_one(&self, first: u64, part: &WrittenPart) -> bool {
        self.pays(first, part) && self.winners(first, part).len() == 1
    }

    /// The most elements from one on that a dispatch can write, so many at a time.
    fn most(&self, first: u64, write_len: u64) -> Result<u64, Error> {
        let bytes = self.dtype.bytes();
        let (writable, step) = (self.device.writable(bytes, write_len)?, self.device.binding_step(&[bytes]));
        let countable = self.countable(first) / step * step;
        if countable == 0 {
            let limit = u64::from(u32::MAX).saturating_sub(2 * step);
            return Err(Error::TooLarge { what: "elements of a slice", given: self.slice_len, limit });
        }
        Ok(writable.min(countable).min(self.len - first))
    }

    /// Writes some of the output, as far as the winners of the n-th of these windows are concerned.
    fn write_part(&self, first: u64, part: WrittenPart, windows: &[Binding], n: usize) -> Result<Dispatch, Error> {
        let Output { dtype, slice_len, columns, target, .. } = *self;
        let WrittenPart { writer, write_len, len, line } = part;
        let winners = windows[n];
        let row = first / columns;
        let (block, position) = (row / slice_len, row % slice_len);
        check_countable(len + columns)?; // the shader counts on from the first column
        let ragged_rows = writer == HardmaxWriter::Rows { packs: true } && !slice_len.is_multiple_of(write_len);
        let ragged = ragged_rows || self.seams(&part).is_some();
        let int64 = self.device.tuning.int64 && !ragged_rows; // words of packs are written by themselves
        let group = self.device.tuning.group;
        let overrides = [
            Some(Override::Group(group as u32)),
            (windows.len() > 1).then_some(Override::BoundsChecked),
            (n > 0).then_some(Override::Accumulate),
            ragged.then_some(Override::Ragged),
        ];
        let (share, tasks) = self.tasks(&part);
        Ok(Dispatch {
            kernel: Kernel::new(Program::HardmaxWrite(writer), dtype, overrides.into_iter().flatten().collect(), int64),
            params: Params::HardmaxWrite(HardmaxWriteParams {
                len: to_u32(len)?,
                columns: to_u32(columns)?,
                slice_len: to_u32(slice_len)?,
                share: to_u32(share)?,
                line: to_u32(line)?,
                column: to_u32(first % columns)?,
                position: to_u32(position)?,
                // Counted from the first block's first winner on, which may lie before the window or after its begin.
                first_winner: (winners.offset_bytes / self.winner_bytes()).wrapping_sub(block * columns) as u32,
                winners: to_u32(winners.bytes / self.winner_bytes())?,
            }),
            grid: self.device.grid(tasks.div_ceil(group), group * share * write_len)?,
            bindings: vec![winners, target_part(target, dtype.bytes(), first, len)],
        })
    }

    /// What an invocation writes, of rows, of lines or of all that is written at once, and the invocations that there are to do it.
    fn tasks(&self, part: &WrittenPart) -> (u64, u64) {
        let WrittenPart { writer, write_len, len, line } = *part;
        let writes = len.div_ceil(write_len);
        match writer {
            HardmaxWriter::Columns { stores: Stores::Packs, .. } => {
                let share = self.rows_of_packs();
                let pack = self.dtype.pack_elements();
                let lines = len / self.slice_len / self.columns * (self.columns / pack).div_ceil(line / pack);
                (share, lines * self.slice_len.div_ceil(share))
            }
            HardmaxWriter::Columns { stores: Stores::Seams, .. } => (1, len / self.columns),
            HardmaxWriter::Lines => {
                let (lines, packs) = (len.div_ceil(line), line / write_len);
                let needed = lines.div_ceil(self.device.max_invocations / packs);
                let share =
                    self.device.share_of_rows(writes, line.saturating_mul(self.dtype.bytes())).min(lines).max(needed);
                (share, lines.div_ceil(share) * packs)
            }
            _ => {
                let share = self.device.share(writes);
                (share, writes.div_ceil(share))
            }
        }
    }

    /// How many elements from one on a dispatch can write: it counts rows from the beginning of that one's slice on, in
    /// 32 bits.
    fn countable(&self, first: u64) -> u64 {
        let position = first / self.columns % self.slice_len;
        (u64::from(u32::MAX) - 1 - position).saturating_mul(self.columns)
    }

    /// The winners that a part needs, as windows of scratch 1.
    fn winners(&self, first: u64, part: &WrittenPart) -> Vec<Binding> {
        let last = first + part.len - 1;
        let winner = |row: u64, column: u64| row / self.slice_len * self.columns + column;
        let (row, last_row) = (first / self.columns, last / self.columns);
        let (begin, end) = match row == last_row {
            true => (winner(row, first % self.columns), winner(row, last % self.columns) + 1),
            false => (winner(row, 0), winner(last_row, self.columns)),
        };
        let bytes = self.winner_bytes();
        let step = self.device.binding_step(&[bytes]);
        let most = (self.device.limits.max_binding_bytes / bytes / step).max(1) * step;
        let begin = begin / step * step;
        let in_packs = self.narrow || part.writer == self.columns_writer(Stores::Packs);
        let unit = if in_packs { 16 } else { 4 };
        let window = |Range { start, end }: Range<u64>| Binding {
            binding: 1,
            slot: Slot::Scratch(1),
            writes: false,
            offset_bytes: start * bytes,
            bytes: ((end - start) * bytes).next_multiple_of(unit),
        };
        blocks(begin..end, most).map(window).collect()
    }
}
