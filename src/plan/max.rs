//! Max: operands broadcast together, as many of them in one dispatch as there are bindings; more continue from the
//! output.

use std::ops::Range;

use super::dims::{MAX_ELEMENTS, Window, blocks, boxed, gcd, stride_word, window_elements, word};
use super::fill::{fill, filled_words};
use super::kernel::FIRST_OPERAND;
use super::params::MAX_DIMS;
use super::reduction::{MAX_STEPS, Source, nan_constants, sources};
use super::tuning::{Tuning, tuning};
use super::{
    Binding, BroadcastParams, Constant, Kernel, OperandParams, Params, Pass, Passes, Plan, Program, Slot,
    binding_elements, binding_step, check_binding, check_count, grid, output_bindings, plannable, target_part,
};
use crate::element::{Element, with_element_type};
use crate::error::list;
use crate::{DType, Error, Limits, Max, NanPolicy, Operation, View};

/// The most operands of one dispatch: a mask of 32 bits tells their forms.
const MAX_OPERANDS: u64 = 32;

/// The most operands of one dispatch on a device: the output has a binding, too.
fn most_operands(limits: &Limits) -> u64 {
    u64::from(limits.max_storage_bindings).saturating_sub(1).min(MAX_OPERANDS)
}

pub(crate) fn max(op: &Max, limits: &Limits) -> Result<Plan, Error> {
    let limits = &plannable(limits)?;
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
        let source = Source { slot: Slot::Constant(0), view: View::new(constant.shape())? };
        operands.push(Operand::new(vec![source], constant.shape(), &output.shape)?);
        let mut bytes = constant.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        plan.constants.push(bytes);
    }
    let broadcast = Broadcast { op, shape: &output.shape, operands, len: output.len(), target };
    let passes = match broadcast.whole(limits) {
        Err(Error::TooLarge { .. }) => broadcast.pieces(limits)?,
        passes => passes?,
    };
    plan.complete(passes, limits)
}

/// The element that every other is greater than, or the same as.
fn least<T: Element>(nan: NanPolicy) -> T {
    if nan == NanPolicy::Ignore { T::NAN.unwrap_or(T::LEAST) } else { T::LEAST }
}

/// Operands stretched to the output's shape.
struct Broadcast<'a> {
    op: &'a Max,
    shape: &'a [u64],
    operands: Vec<Operand>,
    len: u64,
    target: Binding,
}

impl Broadcast<'_> {
    /// The passes, if the output and each operand fit a binding.
    fn whole(&self, limits: &Limits) -> Result<Passes, Error> {
        check_binding("bytes of an output", self.target.bytes, limits)?;
        let piece = Piece { begin: 0, end: self.len, keeps: false };
        let indices: Vec<Range<u64>> = self.shape.iter().map(|&size| 0..size).collect();
        let sources = self.sources(&indices)?;
        let rows = Rows::new(self.shape, &sources)?;
        let read = |(n, source): (usize, &Source)| Read::new(self.op.dtype, source, &rows, n, limits);
        let reads = sources.iter().enumerate().map(read).collect::<Result<Vec<_>, Error>>()?;
        self.job(self.len, rows, self.target, piece).rounds(&[reads], self.op.in_place.is_some(), limits)
    }

    /// The passes for boxes of consecutive outputs that fit a binding. Their elements of an operand mostly do too; where an
    /// operand lies across the output, larger boxes and a walk through each one's elements may need fewer passes.
    fn pieces(&self, limits: &Limits) -> Result<Passes, Error> {
        let window = window_elements(self.op.dtype, limits)?; // or there is nothing to cut into
        let boxes = self.cut_into_boxes(window, limits);
        let fitting = boxes.and_then(|boxes| self.box_passes(&boxes, self.op.in_place.is_some(), limits));
        let walked = self.walk_passes(limits);
        match (fitting, walked) {
            (Ok(fitting), Ok(walked)) if walked.0.len() < fitting.0.len() => Ok(walked),
            (Err(_), Ok(walked)) => Ok(walked),
            (fitting, _) => fitting,
        }
    }

    /// The same, with operands that may need several bindings for a box: what a dispatch does not see stays as it is.
    fn walk_passes(&self, limits: &Limits) -> Result<Passes, Error> {
        let boxes = self.cut_into_boxes(MAX_ELEMENTS, limits)?;
        let mut passes = match self.op.in_place {
            Some(_) => Passes::default(),
            None => {
                let least = with_element_type!(self.op.dtype, T => filled_words(least::<T>(self.op.nan)));
                fill(self.op.dtype, least, self.target, limits)?
            }
        };
        passes.append(self.box_passes(&boxes, true, limits)?)?;
        Ok(passes)
    }

    fn box_passes(&self, boxes: &[Vec<Range<u64>>], continues: bool, limits: &Limits) -> Result<Passes, Error> {
        let mut passes = Passes::default();
        for indices in boxes {
            passes.append(self.one_box(indices, continues, limits)?)?;
        }
        Ok(passes)
    }

    /// The passes that write one box.
    fn one_box(&self, indices: &[Range<u64>], continues: bool, limits: &Limits) -> Result<Passes, Error> {
        let (bytes, lanes) = (self.op.dtype.bytes(), self.op.dtype.lanes());
        let shape: Vec<u64> = indices.iter().map(|range| range.end - range.start).collect();
        let (first, len) = (self.first(indices), shape.iter().product::<u64>());
        let begin = first % binding_step(&[bytes], limits);
        let target = target_part(self.target, bytes, first - begin, begin + len);
        // Later boxes write what follows in the last unit, unless it holds something already.
        let units = (begin + len).next_multiple_of(lanes);
        let holds_more = continues && first + len < self.len;
        let end = if holds_more { begin + len } else { units };
        let keeps = !begin.is_multiple_of(lanes) || end < units;
        let sources = self.sources(indices)?;
        let rows = Rows::new(&shape, &sources)?;
        let rounds = self.walks(&rows, &sources, limits)?;
        self.job(len, rows, target, Piece { begin, end, keeps }).rounds(&rounds, continues, limits)
    }

    fn job(&self, len: u64, rows: Rows, target: Binding, piece: Piece) -> Job {
        Job { dtype: self.op.dtype, len, rows, target, piece, nan: nan_constants(self.op.dtype, self.op.nan) }
    }

    /// The first part of every operand, then the second of those that have one, and so on.
    fn walks(&self, rows: &Rows, sources: &[Source], limits: &Limits) -> Result<Vec<Vec<Read>>, Error> {
        let mut rounds: Vec<Vec<Read>> = Vec::new();
        for (n, source) in sources.iter().enumerate() {
            for (round, read) in Read::walk(self.op.dtype, source, rows, n, limits)?.into_iter().enumerate() {
                match rounds.get_mut(round) {
                    Some(reads) => reads.push(read),
                    None => rounds.push(vec![read]),
                }
            }
        }
        Ok(rounds)
    }

    fn cut_into_boxes(&self, operand_elements: u64, limits: &Limits) -> Result<Vec<Vec<Range<u64>>>, Error> {
        let mut boxes = Vec::new();
        let all: Vec<Range<u64>> = self.shape.iter().map(|&size| 0..size).collect();
        self.cut(&all, operand_elements, limits, &mut boxes)?;
        Ok(boxes)
    }

    /// Cuts a box of consecutive outputs along its outermost dimension, until every part fits.
    fn cut(
        &self,
        indices: &[Range<u64>],
        operand_elements: u64,
        limits: &Limits,
        boxes: &mut Vec<Vec<Range<u64>>>,
    ) -> Result<(), Error> {
        let lens: Vec<u64> = indices.iter().map(|range| range.end - range.start).collect();
        let Some(d) = lens.iter().position(|&len| len > 1) else {
            boxes.push(indices.to_vec());
            return self.check_boxes(boxes.len(), limits);
        };
        let mut part = indices.to_vec();
        let Range { start: mut at, end } = indices[d];
        while at < end {
            part[d] = at..end;
            let most = self.most_indices(d, &part, operand_elements, limits);
            part[d] = at..end.min(at.saturating_add(most.max(1)));
            match most {
                0 => self.cut(&part, operand_elements, limits, boxes)?,
                _ => boxes.push(part.clone()),
            }
            self.check_boxes(boxes.len(), limits)?;
            at = part[d].end;
        }
        Ok(())
    }

    /// Each box takes as many dispatches as it takes to bind every operand.
    fn check_boxes(&self, boxes: usize, limits: &Limits) -> Result<(), Error> {
        check_count(boxes * self.operands.len().div_ceil(most_operands(limits).max(1) as usize).max(1))
    }

    /// How many indices of a box's outermost dimension fit, with all of the inner ones; 0 where one does not.
    fn most_indices(&self, d: usize, indices: &[Range<u64>], operand_elements: u64, limits: &Limits) -> u64 {
        let lens: Vec<u64> = indices.iter().map(|range| range.end - range.start).collect();
        let inner: u64 = lens[d + 1..].iter().product();
        let elements = self.piece_elements(limits);
        let fit = |operand: &Operand| operand.most_indices(d, indices, operand_elements);
        let most = self.operands.iter().map(fit).min().unwrap_or(u64::MAX).min(elements / inner);
        // Parts that begin with a whole pack can go pack by pack.
        let step = binding_step(&[self.op.dtype.bytes()], limits);
        let step = step / gcd(step, inner);
        if most < lens[d] && most > step { most - most % step } else { most }
    }

    /// The most elements of a piece: those that invocations can write without looping for too long, even in rows of two.
    fn piece_elements(&self, limits: &Limits) -> u64 {
        let operands = (self.operands.len() as u64).min(most_operands(limits));
        let row = Turns::of_row(operands, self.shape.len() as u64);
        let share = Turns::of_unit(self.op.dtype).most_writes(2, row);
        let writable = tuning(limits).most_invocations.saturating_mul(share);
        window_elements(self.op.dtype, limits).unwrap_or(0).min(writable)
    }

    fn sources(&self, indices: &[Range<u64>]) -> Result<Vec<Source>, Error> {
        self.operands.iter().map(|operand| operand.source(indices)).collect()
    }

    fn first(&self, indices: &[Range<u64>]) -> u64 {
        indices.iter().zip(self.shape).fold(0, |first, (range, size)| first * size + range.start)
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

    /// Where the part with an index of the dimension ends.
    fn part_end(&self, index: u64) -> u64 {
        let (begin, source) = self.part(index);
        begin + source.view.shape().get(self.dimension).unwrap_or(&1)
    }

    /// The elements for a box of the output, if they lie in one part.
    fn source(&self, indices: &[Range<u64>]) -> Result<Source, Error> {
        let (begin, Source { slot, view }) = match indices.get(self.dimension) {
            Some(range) if range.end > self.part_end(range.start) => {
                let given = self.parts.len() as u64;
                return Err(Error::TooLarge {
                    what: "buffers of one operand that one dispatch reads",
                    given,
                    limit: 1,
                });
            }
            Some(range) => self.part(range.start),
            None => &self.parts[0],
        };
        let mut own = indices.to_vec();
        if let Some(range) = own.get_mut(self.dimension) {
            *range = range.start - begin..range.end - begin;
        }
        Ok(Source { slot: *slot, view: boxed(view, &own)? })
    }

    /// How many indices of a box's outermost dimension lie in one part, and within so many elements.
    fn most_indices(&self, d: usize, indices: &[Range<u64>], elements: u64) -> u64 {
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
        let fit = match (elements.checked_sub(others), strides[d].unsigned_abs()) {
            (None, _) => 0,
            (Some(_), 0) => u64::MAX,
            (Some(left), stride) => left / stride + 1,
        };
        fit.min(in_part)
    }
}

/// What a piece of the output is, within its binding.
#[derive(Clone, Copy)]
struct Piece {
    /// The first element.
    begin: u64,
    /// The first element after it that is kept as it is.
    end: u64,
    /// Whether there are elements around it to be kept.
    keeps: bool,
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
}

/// What one dispatch reads of an operand: what is bound, and where its elements are in it.
#[derive(Clone)]
struct Read {
    window: Binding,
    params: OperandParams,
    /// Elements that the binding holds.
    span: u64,
    /// Whether there are elements that it does not hold.
    partial: bool,
}

impl Read {
    fn new(dtype: DType, source: &Source, rows: &Rows, n: usize, limits: &Limits) -> Result<Read, Error> {
        let Source { slot, view } = source;
        let Window { base, span, binding } = Window::new(dtype, view, *slot, limits)?;
        Read::of(binding, base, span, false, view, &rows.strides[n])
    }

    /// All that is bound of an operand, in one dispatch after another.
    fn walk(dtype: DType, source: &Source, rows: &Rows, n: usize, limits: &Limits) -> Result<Vec<Read>, Error> {
        match Read::new(dtype, source, rows, n, limits) {
            Err(Error::TooLarge { .. }) => {}
            read => return Ok(vec![read?]),
        }
        let Source { slot, view } = source;
        view.buffer_bytes(dtype)?; // no byte of the view is past what 64 bits count
        let (low, high) = view.extent();
        let most = binding_elements(dtype.bytes(), limits)?;
        let whole = Binding { binding: FIRST_OPERAND, slot: *slot, writes: false, offset_bytes: 0, bytes: 0 };
        let first = low - low % binding_step(&[dtype.bytes()], limits);
        let read = |part: Range<u64>| {
            let span = part.end - part.start;
            let window = target_part(whole, dtype.bytes(), part.start, span);
            Read::of(window, part.start, span, true, view, &rows.strides[n])
        };
        check_count(((high - first) / most).try_into().unwrap_or(usize::MAX))?;
        blocks(first..high + 1, most).map(read).collect()
    }

    fn of(window: Binding, base: u64, span: u64, partial: bool, view: &View, strides: &[i64]) -> Result<Read, Error> {
        word(span + 64)?; // a pack may begin at the last element
        Ok(Read {
            window,
            params: OperandParams {
                // Of a part the first element may lie before: addresses are modulo 2^32.
                start: view.offset().wrapping_sub(base) as u32,
                row_stride: stride_word(strides[0])?,
                strides: strides[1..].iter().map(|&stride| stride_word(stride)).collect::<Result<_, _>>()?,
            },
            span,
            partial,
        })
    }

    fn is_splat(&self) -> bool {
        self.params.row_stride == 0
    }

    /// Whether a row can be read in whole packs.
    fn has_packs(&self, pack: u64) -> bool {
        let aligned = |stride: &i32| u64::from(stride.unsigned_abs()).is_multiple_of(pack);
        !self.partial
            && (self.is_splat()
                || self.params.row_stride == 1
                    && self.span >= pack
                    && u64::from(self.params.start).is_multiple_of(pack)
                    && self.params.strides.iter().all(aligned))
    }
}

/// The loop iterations of an invocation.
struct Turns {
    /// Elements that are written at once.
    write_len: u64,
    /// The turns that this takes.
    each: u64,
}

impl Turns {
    fn of_pack(dtype: DType) -> Turns {
        Turns { write_len: dtype.pack_elements(), each: dtype.lanes() }
    }

    fn of_unit(dtype: DType) -> Turns {
        Turns { write_len: dtype.lanes(), each: 1 + dtype.lanes() }
    }

    /// Of finding where a row begins in each operand.
    fn of_row(operands: u64, dimensions: u64) -> u64 {
        1 + operands + dimensions * (1 + operands)
    }

    /// The writes of an invocation that stay below [`MAX_STEPS`], where rows have so many elements and each takes so many
    /// turns. The first and the last row may be begun for little.
    fn most_writes(&self, row_len: u64, row_turns: u64) -> u64 {
        let left = MAX_STEPS - 2 * (row_turns + self.each);
        (left * row_len / (self.each * row_len + self.write_len * row_turns)).max(1)
    }
}

/// What all dispatches of a plan have in common.
struct Job {
    dtype: DType,
    len: u64,
    rows: Rows,
    target: Binding,
    piece: Piece,
    nan: Vec<Constant>,
}

/// The fewest output packs for which a dispatch of their own pays, when a few elements behind them need another.
const FEWEST_PACKS: u64 = 1024;

impl Job {
    /// As many operands in each dispatch as there are bindings.
    fn rounds(&self, rounds: &[Vec<Read>], mut continues: bool, limits: &Limits) -> Result<Passes, Error> {
        let most = most_operands(limits) as usize;
        if most == 0 {
            return Err(Error::DeviceTooSmall {
                what: "max_storage_buffers_per_shader_stage",
                given: limits.max_storage_bindings.into(),
                needed: 2,
            });
        }
        let mut passes = Passes::default();
        for reads in rounds.iter().flat_map(|round| round.chunks(most)) {
            passes.append(self.passes(reads, continues, limits)?)?;
            continues = true;
        }
        match passes.0.is_empty() {
            true => self.passes(&[], continues, limits), // one input, in place: NaN is made canonical
            false => Ok(passes),
        }
    }

    fn passes(&self, reads: &[Read], continues: bool, limits: &Limits) -> Result<Passes, Error> {
        let tuning = tuning(limits);
        let pack = self.dtype.pack_elements();
        let packs = self.len / pack;
        let whole = self.rows.row_len().is_multiple_of(pack);
        let packs_fit = self.piece.begin == 0
            && (whole || self.rows.sizes.len() == 1 && packs >= FEWEST_PACKS)
            && reads.iter().all(|read| read.has_packs(pack));
        if !packs_fit {
            let first = self.piece.begin / self.dtype.lanes();
            return Ok(Passes(vec![self.elements(reads, continues, first, &tuning, limits)?]));
        }
        let mut passes = Passes(vec![self.packs(reads, continues, packs, &tuning, limits)?]);
        if !whole {
            let first = packs * pack / self.dtype.lanes();
            passes.push(self.elements(reads, continues, first, &tuning, limits)?)?;
        }
        Ok(passes)
    }

    fn packs(
        &self,
        reads: &[Read],
        continues: bool,
        packs: u64,
        tuning: &Tuning,
        limits: &Limits,
    ) -> Result<Pass, Error> {
        let splats = reads.iter().enumerate().filter(|(_, o)| o.is_splat()).fold(0, |mask, (n, _)| mask | 1 << n);
        let program = Program::MaxPacks { operands: reads.len() as u32, splats };
        self.pass(program, reads, continues, 0, packs, tuning, limits)
    }

    /// Output units from `first` on.
    fn elements(
        &self,
        reads: &[Read],
        continues: bool,
        first: u64,
        tuning: &Tuning,
        limits: &Limits,
    ) -> Result<Pass, Error> {
        let program = Program::MaxElements { operands: reads.len() as u32 };
        let units = (self.piece.begin + self.len).div_ceil(self.dtype.lanes()) - first;
        self.pass(program, reads, continues, first, units, tuning, limits)
    }

    /// The packs, or output units, that an invocation writes: several, unless finding a row's addresses takes too long.
    fn share(&self, program: Program, operands: u64, writes: u64, tuning: &Tuning) -> Result<u64, Error> {
        let unit = match program {
            Program::MaxPacks { .. } => Turns::of_pack(self.dtype),
            _ => Turns::of_unit(self.dtype),
        };
        let row = Turns::of_row(operands, self.rows.sizes.len() as u64 - 1);
        let (limit, needed) = (unit.most_writes(self.rows.row_len(), row), tuning.needed_share(writes));
        if needed > limit {
            return Err(Error::TooLarge { what: "writes of one invocation", given: needed, limit });
        }
        Ok(tuning.share(writes).min(limit))
    }

    #[allow(clippy::too_many_arguments)] // the two callers above differ in the first five
    fn pass(
        &self,
        program: Program,
        reads: &[Read],
        continues: bool,
        first: u64,
        writes: u64,
        tuning: &Tuning,
        limits: &Limits,
    ) -> Result<Pass, Error> {
        let share = self.share(program, reads.len() as u64, writes, tuning)?;
        let invocations = writes.div_ceil(share);
        let pack = self.dtype.pack_elements();
        let mut constants = vec![Constant::Group(tuning.group as u32)];
        constants.extend(&self.nan);
        constants.extend(continues.then_some(Constant::Continues));
        let keeps = self.piece.keeps && matches!(program, Program::MaxElements { .. });
        constants.extend(keeps.then_some(Constant::Keeps));
        constants.extend(reads.iter().any(|read| read.partial).then_some(Constant::Guarded));
        let bind = |(n, read): (usize, &Read)| Binding { binding: FIRST_OPERAND + n as u32, ..read.window };
        Ok(Pass {
            kernel: Kernel::new(program, self.dtype, constants, tuning),
            params: Params::Broadcast(BroadcastParams {
                len: word(self.len)?,
                share: word(share)?,
                row_len: word(self.rows.row_len())?,
                first: word(first)?,
                begin: word(self.piece.begin)?,
                end: word(self.piece.end)?,
                sizes: self.rows.sizes[1..].iter().map(|&size| word(size)).collect::<Result<_, _>>()?,
                operands: reads.iter().map(|read| read.params.clone()).collect(),
            }),
            grid: grid(invocations.div_ceil(tuning.group), tuning.group * share * pack, limits)?,
            bindings: [Binding { binding: 1, ..self.target }]
                .into_iter()
                .chain(reads.iter().enumerate().map(bind))
                .collect(),
        })
    }
}
