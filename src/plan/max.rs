//! Max: operands broadcast together, as many of them in one dispatch as there are bindings; more continue from the
//! output.
//!
//! Where the output or an operand is larger than a binding, the output is cut into boxes of consecutive elements. An operand
//! whose elements for a box lie farther apart than a binding reaches is read window by window.

use std::ops::Range;

use super::device::{Device, stride_u32, to_u32};
use super::layout::{Extent, Source, blocks, boxed, gcd, sources};
use super::schedule::{MAX_STEPS, SHORT_ROWS_INVOCATIONS};
use super::{Binding, Dispatch, Dispatches, Plan, Slot, check_count, nan_override, output_bindings, target_part};
use crate::error::list;
use crate::shader::{
    BroadcastParams, FIRST_OPERAND, Kernel, MAX_DIMS, OperandParams, Override, Params, Program, longest_short_row,
};
use crate::{DType, Error, Limits, Max, Operation, View};

/// The most operands of one dispatch: a mask of 32 bits tells their forms.
const MAX_OPERANDS: u64 = 32;

/// The fewest output packs for which a dispatch of their own pays, when a few elements behind them need another.
const FEWEST_PACKS: u64 = 1024;

/// The fewest packs of a row that ends within one.
const FEWEST_RAGGED_PACKS: u64 = 2;

pub(crate) fn max(op: &Max, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let output = op.outputs()?.remove(0);
    let target = output_bindings(std::slice::from_ref(&output))[0];
    let label = format!("Max {} of {} to {}", op.dtype, op.inputs.len(), list(&output.shape));
    let mut plan = Plan::new(label, op.inputs.iter().map(|input| input.views().len()).sum(), &[target]);
    if target.bytes == 0 {
        return Ok(plan);
    }
    let mut operands = Vec::new();
    let mut slot = 0;
    for (n, input) in op.inputs.iter().enumerate() {
        match op.in_place == Some(n) {
            true => plan.in_place = Some(slot),
            false => operands.push(Operand::new(sources(input, slot), input.shape(), &output.shape)?),
        }
        slot += input.views().len();
    }
    if let Some(constant) = &op.constant {
        let source = Source { slot: Slot::Embedded(0), view: View::new(constant.shape())? };
        operands.push(Operand::new(vec![source], constant.shape(), &output.shape)?);
        let mut bytes = constant.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        plan.embedded.push(bytes);
    }
    let max_operands = u64::from(device.limits.max_storage_bindings).saturating_sub(1).min(MAX_OPERANDS);
    if max_operands == 0 {
        let (what, given) = ("max_storage_buffers_per_shader_stage", device.limits.max_storage_bindings.into());
        return Err(Error::DeviceTooSmall { what, given, needed: 2 });
    }
    let broadcast = Broadcast { op, shape: &output.shape, operands, len: output.len(), target, max_operands, device };
    plan.complete(broadcast.dispatches()?, device)
}

/// Operands stretched to the output's shape.
struct Broadcast<'a> {
    op: &'a Max,
    shape: &'a [u64],
    operands: Vec<Operand>,
    len: u64,
    target: Binding,
    /// The most operands of one dispatch: the output has a binding, too.
    max_operands: u64,
    device: &'a Device,
}

impl Broadcast<'_> {
    fn dispatches(&self) -> Result<Dispatches, Error> {
        let mut dispatches = Dispatches::default();
        for indices in self.boxes()? {
            dispatches.append(self.one_box(&indices)?)?;
        }
        Ok(dispatches)
    }

    /// The whole output, if it and each operand fit a binding; otherwise boxes of consecutive elements that do.
    fn boxes(&self) -> Result<Vec<Vec<Range<u64>>>, Error> {
        let all: Vec<Range<u64>> = self.shape.iter().map(|&size| 0..size).collect();
        let mut fits = self.device.binds(self.target.bytes) && self.len <= self.writable();
        for operand in &self.operands {
            fits = fits && operand.fits(self.op.dtype, self.device)?;
        }
        if fits {
            return Ok(vec![all]);
        }
        let mut boxes = Vec::new();
        let window = self.device.window_elements(self.op.dtype)?; // or there is nothing to cut into
        self.cut(&all, window, &mut boxes)?;
        Ok(boxes)
    }

    /// Cuts a box of consecutive outputs along its outermost dimension, until every part fits.
    fn cut(&self, indices: &[Range<u64>], window: u64, boxes: &mut Vec<Vec<Range<u64>>>) -> Result<(), Error> {
        // Each box takes as many dispatches as it takes to bind every operand.
        let rounds = self.operands.len().div_ceil(self.max_operands as usize).max(1);
        check_count((boxes.len() + 1) * rounds)?;
        let Some(d) = indices.iter().position(|range| range.end - range.start > 1) else {
            boxes.push(indices.to_vec());
            return Ok(());
        };
        let mut part = indices.to_vec();
        let Range { start: mut at, end } = indices[d];
        while at < end {
            part[d] = at..end;
            let most = self.max_indices(d, &part, window);
            part[d] = at..end.min(at.saturating_add(most.max(1)));
            match most {
                0 => self.cut(&part, window, boxes)?,
                _ => boxes.push(part.clone()),
            }
            check_count(boxes.len() * rounds)?;
            at = part[d].end;
        }
        Ok(())
    }

    /// How many indices of a box's outermost dimension fit, with all of the inner ones; 0 where one does not.
    fn max_indices(&self, d: usize, indices: &[Range<u64>], window: u64) -> u64 {
        let inner: u64 = indices[d + 1..].iter().map(|range| range.end - range.start).product();
        let fit = |operand: &Operand| operand.max_indices(d, indices, window);
        let most = self.operands.iter().map(fit).min().unwrap_or(u64::MAX).min(window.min(self.writable()) / inner);
        // Parts that begin with a whole pack can go pack by pack.
        let step = self.device.binding_step(&[self.op.dtype.bytes()]);
        let step = step / gcd(step, inner);
        let len = indices[d].end - indices[d].start;
        if most < len && most > step { most - most % step } else { most }
    }

    /// The most elements that invocations can write without looping for too long, even in rows of two.
    fn writable(&self) -> u64 {
        let operands = (self.operands.len() as u64).min(self.max_operands);
        let row = Turns::of_row(operands, self.shape.len() as u64);
        let share = Turns::of_elements(self.op.dtype, row).max_writes(2);
        self.device.max_invocations.saturating_mul(share)
    }

    /// The dispatches that write one box.
    fn one_box(&self, indices: &[Range<u64>]) -> Result<Dispatches, Error> {
        let (dtype, device, in_place) = (self.op.dtype, self.device, self.op.in_place.is_some());
        let (bytes, lanes) = (dtype.bytes(), dtype.lanes());
        let shape: Vec<u64> = indices.iter().map(|range| range.end - range.start).collect();
        let first = indices.iter().zip(self.shape).fold(0, |first, (range, size)| first * size + range.start);
        let len = shape.iter().product::<u64>();
        let begin = first % device.binding_step(&[bytes]);
        // Later boxes write what follows in the last unit, unless it holds something already.
        let units = (begin + len).next_multiple_of(lanes);
        let end = if in_place && first + len < self.len { begin + len } else { units };
        let sources = self.operands.iter().map(|operand| operand.source(indices)).collect::<Result<Vec<_>, _>>()?;
        let own = OutputBox {
            dtype,
            device,
            len,
            rows: Rows::new(&shape, &sources)?,
            target: Binding { binding: 1, ..target_part(self.target, bytes, first - begin, begin + len) },
            begin,
            end,
            keeps: !begin.is_multiple_of(lanes) || end < units,
            nan: nan_override(dtype, self.op.nan),
        };
        let mut dispatches = Dispatches::default();
        let mut continues = in_place;
        for reads in own.rounds(&sources)?.iter().flat_map(|round| round.chunks(self.max_operands as usize)) {
            dispatches.append(own.dispatches(reads, continues)?)?;
            continues = true;
        }
        match dispatches.0.is_empty() {
            true => own.dispatches(&[], continues), // one input, in place: NaN is made canonical
            false => Ok(dispatches),
        }
    }
}

/// An input stretched to the output's shape, in parts along one dimension of it.
struct Operand {
    dimension: usize,
    /// Where each part begins, ascending.
    parts: Vec<(u64, Source)>,
}

impl Operand {
    fn new(sources: Vec<Source>, own: &[u64], shape: &[u64]) -> Result<Operand, Error> {
        // A scalar is repeated along the last dimension, as along all.
        let dimension = shape.len().saturating_sub(own.len().max(1));
        let mut begin = 0;
        let mut parts = Vec::with_capacity(sources.len());
        for Source { slot, view } in sources {
            let mut stretched = shape.to_vec();
            let len = view.shape().first().copied().unwrap_or(1);
            if own.first().is_some_and(|&size| size != 1) {
                stretched[dimension] = len;
            }
            parts.push((begin, Source { slot, view: view.broadcast(&stretched)? }));
            begin += len;
        }
        Ok(Operand { dimension, parts })
    }

    /// The part with an index of the dimension, and where it begins.
    fn part(&self, index: u64) -> &(u64, Source) {
        &self.parts[self.parts.partition_point(|&(begin, _)| begin <= index) - 1]
    }

    /// Whether all of it lies in one part and in one window.
    fn fits(&self, dtype: DType, device: &Device) -> Result<bool, Error> {
        Ok(self.parts.len() == 1 && Extent::new(dtype, &self.parts[0].1.view, device)?.fits(device))
    }

    /// Where the part with an index of the dimension ends.
    fn part_end(&self, index: u64) -> u64 {
        let (begin, source) = self.part(index);
        begin + source.view.shape().get(self.dimension).unwrap_or(&1)
    }

    /// The elements for a box of the output, which lie in one part.
    fn source(&self, indices: &[Range<u64>]) -> Result<Source, Error> {
        let mut own = indices.to_vec();
        let (begin, Source { slot, view }) = self.part(own.get(self.dimension).map_or(0, |range| range.start));
        if let Some(range) = own.get_mut(self.dimension) {
            *range = range.start - begin..range.end - begin;
        }
        Ok(Source { slot: *slot, view: boxed(view, &own)? })
    }

    /// How many indices of a box's outermost dimension lie in one part and, if one does, in a window of so many elements.
    fn max_indices(&self, d: usize, indices: &[Range<u64>], elements: u64) -> u64 {
        let own = &indices[self.dimension];
        let part_end = self.part_end(own.start);
        let in_part = match d == self.dimension {
            true => part_end - own.start,
            false if own.end > part_end => return 0,
            false => u64::MAX,
        };
        let strides = self.part(own.start).1.view.strides();
        let reach = |e: usize| strides[e].unsigned_abs().saturating_mul(indices[e].end - indices[e].start - 1);
        let others = (d + 1..indices.len()).map(reach).fold(1, u64::saturating_add);
        let in_window = match (elements.checked_sub(others), strides[d].unsigned_abs()) {
            (None, _) | (Some(_), 0) => u64::MAX, // lies across the output: it is read window by window
            (Some(left), stride) => left / stride + 1,
        };
        in_window.min(in_part)
    }
}

/// The output's dimensions, collapsed as far as every operand allows; innermost first.
struct Rows {
    sizes: Vec<u64>,
    /// For each operand.
    strides: Vec<Vec<i64>>,
}

impl Rows {
    fn new(shape: &[u64], sources: &[Source]) -> Result<Rows, Error> {
        let views: Vec<&View> = sources.iter().map(|source| &source.view).collect();
        let mut sizes: Vec<u64> = Vec::new();
        let mut strides: Vec<Vec<i64>> = vec![Vec::new(); views.len()];
        for d in (0..shape.len()).rev().filter(|&d| shape[d] != 1) {
            let runs_on = |(view, own): (&&View, &Vec<i64>)| match (own.last(), sizes.last()) {
                (Some(&stride), Some(&size)) => stride.checked_mul(size as i64) == Some(view.strides()[d]),
                _ => false,
            };
            match sizes.last().is_some() && views.iter().zip(&strides).all(runs_on) {
                true => *sizes.last_mut().unwrap_or(&mut 0) *= shape[d],
                false => {
                    sizes.push(shape[d]);
                    strides.iter_mut().zip(&views).for_each(|(own, view)| own.push(view.strides()[d]));
                }
            }
        }
        if sizes.is_empty() {
            sizes.push(1);
            strides.iter_mut().for_each(|own| own.push(0));
        }
        if sizes.len() > MAX_DIMS + 1 {
            let (given, limit) = (sizes.len() as u64, MAX_DIMS as u64 + 1);
            return Err(Error::TooLarge { what: "dimensions that do not collapse", given, limit });
        }
        Ok(Rows { sizes, strides })
    }

    fn row_len(&self) -> u64 {
        self.sizes[0]
    }

    /// Whether an operand of these strides around the row is one stretch of elements.
    fn follow_one_another(&self, strides: &[i32]) -> bool {
        let mut len = 1;
        self.sizes.iter().zip(strides).all(|(size, &stride)| {
            len *= size;
            i64::from(stride) == len as i64
        })
    }

    /// Whether rows end within packs.
    fn are_ragged(&self, pack: u64) -> bool {
        self.sizes.len() > 1 && !self.row_len().is_multiple_of(pack)
    }
}

/// What one dispatch reads of an operand: what is bound, and where its elements are in it.
struct Read {
    window: Binding,
    params: OperandParams,
    /// Elements that the binding holds.
    span: u64,
    /// Whether there are elements that it does not hold.
    partial: bool,
}

impl Read {
    /// All that is bound of an operand, in one dispatch after another.
    fn windows(dtype: DType, source: &Source, strides: &[i64], device: &Device) -> Result<Vec<Read>, Error> {
        let Source { slot, view } = source;
        let extent = Extent::new(dtype, view, device)?;
        let Extent { base, span, .. } = extent;
        let whole = extent.binding(dtype, *slot);
        if extent.fits(device) {
            return Ok(vec![Read::new(whole, base, span, false, view, strides)?]);
        }
        let most = device.binding_elements(dtype.bytes())?;
        check_count(usize::try_from(span / most).unwrap_or(usize::MAX))?;
        let read = |part: Range<u64>| {
            let len = part.end - part.start;
            let window = target_part(whole, dtype.bytes(), part.start, len);
            Read::new(window, base + part.start, len, true, view, strides)
        };
        blocks(0..span, most).map(read).collect()
    }

    fn new(window: Binding, base: u64, span: u64, partial: bool, view: &View, strides: &[i64]) -> Result<Read, Error> {
        to_u32(span + 64)?; // a pack may begin at the last element
        Ok(Read {
            window,
            params: OperandParams {
                // Of a part the first element may lie before: addresses are modulo 2^32.
                start: view.offset().wrapping_sub(base) as u32,
                row_stride: stride_u32(strides[0])?,
                strides: strides[1..].iter().map(|&stride| stride_u32(stride)).collect::<Result<_, _>>()?,
            },
            span,
            partial,
        })
    }

    /// How the kernel of packs reads it, if it can.
    fn in_packs(&self, rows: &Rows, pack: u64) -> Option<Form> {
        let along_row = self.repeats_along_row()?;
        // Where rows end within packs, those of an operand of its own layout do so elsewhere.
        let aligned = match rows.row_len().is_multiple_of(pack) {
            true => multiples(&self.params.strides, pack),
            false => rows.follow_one_another(&self.params.strides),
        };
        Some(Form { along_row, row_after_row: false, shifted: !(along_row || aligned && self.begins_with_pack(pack)) })
    }

    /// How the kernel of short rows reads it, if it can: as one stretch, or one element after another, or the same again.
    fn in_short_rows(&self, len: u64, pack: u64) -> Option<Form> {
        let along_row = self.repeats_along_row()?;
        let (&next_row, around) = self.params.strides.split_first()?;
        let row_after_row = next_row == 0;
        let in_one_piece = row_after_row || i64::from(next_row) == if along_row { 1 } else { len as i64 };
        let aligned = multiples(around, pack) && self.begins_with_pack(pack);
        in_one_piece.then_some(Form { along_row, row_after_row, shifted: !row_after_row && !aligned })
    }

    /// Whether a row has one element of it; nothing where it is neither that nor a stretch of them.
    fn repeats_along_row(&self) -> Option<bool> {
        (!self.partial && matches!(self.params.row_stride, 0 | 1)).then_some(self.params.row_stride == 0)
    }

    fn begins_with_pack(&self, pack: u64) -> bool {
        self.span >= pack && u64::from(self.params.start).is_multiple_of(pack)
    }
}

fn multiples(strides: &[i32], pack: u64) -> bool {
    strides.iter().all(|stride| u64::from(stride.unsigned_abs()).is_multiple_of(pack))
}

/// How whole packs of an operand are read.
#[derive(Clone, Copy)]
struct Form {
    /// There is one element for all of a row.
    along_row: bool,
    /// There are the same elements in row after row.
    row_after_row: bool,
    /// Packs begin anywhere in the binding.
    shifted: bool,
}

/// A bit for each operand of which this is so.
fn mask(forms: &[Form], is_so: impl Fn(&Form) -> bool) -> u32 {
    forms.iter().enumerate().fold(0, |mask, (n, form)| mask | u32::from(is_so(form)) << n)
}

/// A program of Max, and the elements that it writes at once.
#[derive(Clone, Copy)]
struct Writer {
    program: Program,
    write_len: u64,
}

/// The loop iterations of an invocation.
struct Turns {
    /// Elements that are written at once.
    write_len: u64,
    /// The turns that this takes.
    each: u64,
    /// The turns that it takes to begin a row.
    row: u64,
}

impl Turns {
    /// Of finding where a row begins in each operand.
    fn of_row(operands: u64, dimensions: u64) -> u64 {
        1 + operands + dimensions * (1 + operands)
    }

    /// Of single elements in rows that may begin and end within a unit, each of which may have something to be kept. lavapipe
    /// walks through the loops of a branch once, also where no invocation takes it.
    fn of_elements(dtype: DType, row: u64) -> Turns {
        Turns { write_len: dtype.lanes(), each: 1, row: row + 4 * dtype.lanes() }
    }

    /// The writes of an invocation that stay below [`MAX_STEPS`], where rows have so many elements. The first and the last
    /// row may be begun for little.
    fn max_writes(&self, row_len: u64) -> u64 {
        let left = MAX_STEPS - 2 * (self.row + self.each);
        (left * row_len / (self.each * row_len + self.write_len * self.row)).max(1)
    }
}

/// A box of the output, within its binding.
struct OutputBox<'a> {
    dtype: DType,
    device: &'a Device,
    len: u64,
    rows: Rows,
    target: Binding,
    /// The first element.
    begin: u64,
    /// The first element after it that is kept as it is.
    end: u64,
    /// Whether there are elements around it to be kept.
    keeps: bool,
    nan: Option<Override>,
}

impl OutputBox<'_> {
    /// The first window of every operand, then the second of those that have one, and so on.
    fn rounds(&self, sources: &[Source]) -> Result<Vec<Vec<Read>>, Error> {
        let mut rounds: Vec<Vec<Read>> = Vec::new();
        for (source, strides) in sources.iter().zip(&self.rows.strides) {
            for (round, read) in Read::windows(self.dtype, source, strides, self.device)?.into_iter().enumerate() {
                match rounds.get_mut(round) {
                    Some(reads) => reads.push(read),
                    None => rounds.push(vec![read]),
                }
            }
        }
        Ok(rounds)
    }

    /// Whole packs, where every operand can be read so; what remains element by element.
    fn dispatches(&self, reads: &[Read], continues: bool) -> Result<Dispatches, Error> {
        let lanes = self.dtype.lanes();
        let units = (self.begin + self.len).div_ceil(lanes);
        let elements = |first| {
            let program = Program::MaxElements { operands: reads.len() as u32 };
            self.dispatch(Writer { program, write_len: lanes }, reads, continues, first..units)
        };
        let Some(bulk) = self.bulk(reads) else {
            return Ok(Dispatches(vec![elements(self.begin / lanes)?]));
        };
        let writes = self.len / bulk.write_len;
        let mut dispatches = Dispatches(vec![self.dispatch(bulk, reads, continues, 0..writes)?]);
        if !self.len.is_multiple_of(bulk.write_len) {
            dispatches.push(elements(writes * bulk.write_len / lanes)?)?;
        }
        Ok(dispatches)
    }

    /// How whole packs are written, if that is possible and worth it.
    fn bulk(&self, reads: &[Read]) -> Option<Writer> {
        let pack = self.dtype.pack_elements();
        self.short_rows(reads).or_else(|| self.packs(reads)).filter(|bulk| {
            let writes = self.len / bulk.write_len;
            let pays = self.len.is_multiple_of(bulk.write_len) || writes * bulk.write_len >= FEWEST_PACKS * pack;
            self.begin == 0 && writes > 0 && pays
        })
    }

    fn packs(&self, reads: &[Read]) -> Option<Writer> {
        let pack = self.dtype.pack_elements();
        if self.rows.are_ragged(pack) && self.rows.row_len() < FEWEST_RAGGED_PACKS * pack {
            return None;
        }
        let forms = reads.iter().map(|read| read.in_packs(&self.rows, pack)).collect::<Option<Vec<_>>>()?;
        let (splats, shifted) = (mask(&forms, |form| form.along_row), mask(&forms, |form| form.shifted));
        let program = Program::MaxPacks { operands: reads.len() as u32, splats, shifted };
        Some(Writer { program, write_len: pack })
    }

    /// Bunches of rows, where they lie in one piece, and there are enough to keep the device busy.
    fn short_rows(&self, reads: &[Read]) -> Option<Writer> {
        let pack = self.dtype.pack_elements();
        let (len, &rows) = (self.rows.row_len(), self.rows.sizes.get(1)?);
        let in_one_piece = rows.is_multiple_of(pack) || self.rows.sizes.len() == 2;
        let busy = self.len / (pack * len) * SHORT_ROWS_INVOCATIONS >= self.device.tuning.busy_invocations;
        if !(2..=longest_short_row(self.dtype)).contains(&len) || !in_one_piece || !busy {
            return None;
        }
        let forms = reads.iter().map(|read| read.in_short_rows(len, pack)).collect::<Option<Vec<_>>>()?;
        let program = Program::MaxShortRows {
            operands: reads.len() as u32,
            len: len as u32,
            of_rows: mask(&forms, |form| form.along_row),
            of_columns: mask(&forms, |form| form.row_after_row),
            shifted: mask(&forms, |form| form.shifted),
        };
        Some(Writer { program, write_len: pack * len })
    }

    /// Writes these packs, or output units.
    fn dispatch(&self, writer: Writer, reads: &[Read], continues: bool, writes: Range<u64>) -> Result<Dispatch, Error> {
        let (device, group) = (self.device, self.device.tuning.group);
        let count = writes.end - writes.start;
        let share = self.share(writer, reads.len() as u64, count)?;
        let Writer { program, write_len } = writer;
        let ragged = matches!(program, Program::MaxPacks { .. }) && self.rows.are_ragged(write_len);
        let overrides = [
            Some(Override::Group(group as u32)),
            self.nan,
            continues.then_some(Override::Accumulate),
            (self.keeps && !program.takes_packs()).then_some(Override::PreserveEdges),
            ragged.then_some(Override::Ragged),
            reads.iter().any(|read| read.partial).then_some(Override::BoundsChecked),
        ];
        let operand = |(n, read): (usize, &Read)| Binding { binding: FIRST_OPERAND + n as u32, ..read.window };
        Ok(Dispatch {
            kernel: Kernel::new(program, self.dtype, overrides.into_iter().flatten().collect(), device.tuning.int64),
            params: Params::Broadcast(BroadcastParams {
                len: to_u32(self.len)?,
                share: to_u32(share)?,
                row_len: to_u32(self.rows.row_len())?,
                first: to_u32(writes.start)?,
                begin: to_u32(self.begin)?,
                end: to_u32(self.end)?,
                sizes: self.rows.sizes[1..].iter().map(|&size| to_u32(size)).collect::<Result<_, _>>()?,
                operands: reads.iter().map(|read| read.params.clone()).collect(),
            }),
            grid: device.grid(
                count.div_ceil(share).div_ceil(group),
                group * share * write_len.max(self.dtype.pack_elements()),
            )?,
            bindings: [self.target].into_iter().chain(reads.iter().enumerate().map(operand)).collect(),
        })
    }

    /// The packs, bunches or output units that an invocation writes: several, unless finding a row's addresses takes too long.
    fn share(&self, writer: Writer, operands: u64, writes: u64) -> Result<u64, Error> {
        let (turns, stretch) = self.turns(writer, operands);
        let (limit, needed) = (turns.max_writes(stretch), self.device.needed_share(writes));
        if needed > limit {
            return Err(Error::TooLarge { what: "writes of one invocation", given: needed, limit });
        }
        Ok(self.device.share(writes).min(limit))
    }

    /// What an invocation takes, and the elements for which it finds the addresses once.
    fn turns(&self, Writer { program, write_len }: Writer, operands: u64) -> (Turns, u64) {
        let (sizes, lanes) = (&self.rows.sizes, self.dtype.lanes());
        let row = Turns::of_row(operands, sizes.len() as u64 - 1);
        match program {
            // A row that ends within a pack needs the next one's beginning, too.
            Program::MaxPacks { .. } => (Turns { write_len, each: lanes, row: 2 * row }, sizes[0]),
            Program::MaxShortRows { len, .. } => {
                (Turns { write_len, each: u64::from(len) * lanes, row }, sizes[0] * sizes[1])
            }
            _ => (Turns::of_elements(self.dtype, row), sizes[0]),
        }
    }
}
