//! Max: operands broadcast together, as many of them in one dispatch as there are bindings; more continue from the
//! output.

use std::ops::Range;

use super::dims::{Window, blocks, gcd, stride_word, word};
use super::kernel::FIRST_OPERAND;
use super::params::MAX_DIMS;
use super::reduction::{Source, nan_constants};
use super::tuning::{Tuning, tuning};
use super::{
    Binding, BroadcastParams, Constant, Kernel, OperandParams, Params, Pass, Plan, Program, Slot, binding_step,
    check_binding, check_count, grid, output_bindings, target_part,
};
use crate::{DType, Error, Limits, Max, Operation, View};

/// The most operands of one dispatch: a mask of 32 bits tells their forms.
const MAX_OPERANDS: u64 = 32;

/// The most elements of a piece of the output: counters have 32 bits.
const MAX_ELEMENTS: u64 = 1 << 31;

pub(crate) fn max(op: &Max, limits: &Limits) -> Result<Plan, Error> {
    let output = op.outputs()?.remove(0);
    let target = output_bindings(std::slice::from_ref(&output))[0];
    let label = format!("Max {} of {} to {:?}", op.dtype, op.inputs.len(), output.shape);
    let mut plan = Plan::new(label, op.inputs.len(), &[target]);
    if target.bytes == 0 {
        return Ok(plan);
    }
    plan.in_place = op.in_place;
    let mut operands = Vec::new();
    for (n, view) in op.inputs.iter().enumerate().filter(|&(n, _)| op.in_place != Some(n)) {
        operands.push(Source { slot: Slot::Input(n), view: view.broadcast(&output.shape)? });
    }
    if let Some(constant) = &op.constant {
        let view = View::new(constant.shape())?.broadcast(&output.shape)?;
        operands.push(Source { slot: Slot::Constant(0), view });
        let mut bytes = constant.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        plan.constants.push(bytes);
    }
    let broadcast = Broadcast { op, shape: &output.shape, operands, len: output.len(), target };
    plan.passes = match broadcast.whole(limits) {
        Err(Error::TooLarge { .. }) => broadcast.pieces(limits)?,
        passes => passes?,
    };
    plan.complete(limits)
}

/// Operands stretched to the output's shape.
struct Broadcast<'a> {
    op: &'a Max,
    shape: &'a [u64],
    operands: Vec<Source>,
    len: u64,
    target: Binding,
}

impl Broadcast<'_> {
    /// The passes, if the output and each operand fit a binding.
    fn whole(&self, limits: &Limits) -> Result<Vec<Pass>, Error> {
        check_binding("bytes of an output", self.target.bytes, limits)?;
        let piece = Piece { begin: 0, end: self.len, keeps: false };
        self.passes(self.shape, &self.operands, self.target, self.len, piece, limits)
    }

    /// The passes for boxes of consecutive outputs whose elements fit a binding, on both sides.
    fn pieces(&self, limits: &Limits) -> Result<Vec<Pass>, Error> {
        let mut boxes = Vec::new();
        self.cut(&self.shape.iter().map(|&size| 0..size).collect::<Vec<_>>(), limits, &mut boxes)?;
        let step = binding_step(&[self.op.dtype.bytes()], limits);
        let mut passes = Vec::new();
        for indices in boxes {
            let shape: Vec<u64> = indices.iter().map(|range| range.end - range.start).collect();
            let operands =
                self.operands.iter().map(|operand| part(operand, &indices)).collect::<Result<Vec<_>, _>>()?;
            let (first, len) = (self.first(&indices), shape.iter().product::<u64>());
            let begin = first % step;
            let target = target_part(self.target, self.op.dtype.bytes(), first - begin, begin + len);
            let is_last = first + len == self.len;
            let end = if is_last { (begin + len).next_multiple_of(self.op.dtype.lanes()) } else { begin + len };
            let piece = Piece { begin, end, keeps: true };
            passes.extend(self.passes(&shape, &operands, target, len, piece, limits)?);
            check_count(passes.len())?;
        }
        Ok(passes)
    }

    /// The passes of one piece: as many operands in each as there are bindings.
    fn passes(
        &self,
        shape: &[u64],
        operands: &[Source],
        target: Binding,
        len: u64,
        piece: Piece,
        limits: &Limits,
    ) -> Result<Vec<Pass>, Error> {
        let dtype = self.op.dtype;
        let rows = Rows::new(shape, &operands.iter().map(|source| &source.view).collect::<Vec<_>>())?;
        let operand = |(n, source): (usize, &Source)| Operand::new(dtype, source, &rows, n, limits);
        let operands = operands.iter().enumerate().map(operand).collect::<Result<Vec<_>, Error>>()?;
        let job = Job { dtype, len, rows, target, piece, nan: nan_constants(dtype, self.op.nan) };
        let most = u64::from(limits.max_storage_bindings).saturating_sub(1).min(MAX_OPERANDS) as usize;
        if most == 0 {
            return Err(Error::DeviceTooSmall {
                what: "max_storage_buffers_per_shader_stage",
                given: limits.max_storage_bindings.into(),
                needed: 2,
            });
        }
        let mut continues = self.op.in_place.is_some();
        if operands.is_empty() {
            return job.passes(&[], continues, limits); // one input, in place: NaN is made canonical
        }
        let mut passes = Vec::new();
        for operands in operands.chunks(most) {
            passes.extend(job.passes(operands, continues, limits)?);
            continues = true;
        }
        Ok(passes)
    }

    /// Cuts a box of consecutive outputs along its outermost dimension, until every part fits.
    fn cut(&self, indices: &[Range<u64>], limits: &Limits, boxes: &mut Vec<Vec<Range<u64>>>) -> Result<(), Error> {
        let lens: Vec<u64> = indices.iter().map(|range| range.end - range.start).collect();
        let Some(d) = lens.iter().position(|&len| len > 1) else {
            boxes.push(indices.to_vec());
            return check_count(boxes.len());
        };
        let inner: u64 = lens[d + 1..].iter().product();
        let most = self.most_indices(d, &lens, inner, limits);
        if most >= lens[d] {
            boxes.push(indices.to_vec());
            return check_count(boxes.len());
        }
        for range in blocks(indices[d].clone(), most.max(1)) {
            let mut part = indices.to_vec();
            part[d] = range;
            match most {
                0 => self.cut(&part, limits, boxes)?,
                _ => boxes.push(part),
            }
            check_count(boxes.len())?;
        }
        Ok(())
    }

    /// How many indices of a dimension fit, with all of the inner ones; 0 where one does not.
    fn most_indices(&self, d: usize, lens: &[u64], inner: u64, limits: &Limits) -> u64 {
        // A window begins up to an alignment, or a pack, before its first element.
        let slack = limits.binding_alignment_bytes.max(16) + 16;
        let elements = limits.max_binding_bytes.saturating_sub(slack) / self.op.dtype.bytes();
        let share = 1024; // what an invocation can write without looping for too long
        let elements = elements.min(MAX_ELEMENTS).min(tuning(limits).most_invocations * share);
        let fit = |operand: &Source| {
            let strides = operand.view.strides();
            let reach = |e: usize| strides[e].unsigned_abs().saturating_mul(lens[e] - 1);
            let others = (d + 1..lens.len()).map(reach).fold(1, u64::saturating_add);
            match (elements.checked_sub(others), strides[d].unsigned_abs()) {
                (None, _) => 0,
                (Some(_), 0) => u64::MAX,
                (Some(left), stride) => left / stride + 1,
            }
        };
        let most = self.operands.iter().map(fit).min().unwrap_or(u64::MAX).min(elements / inner);
        // Parts that begin with a whole pack can go pack by pack.
        let step = binding_step(&[self.op.dtype.bytes()], limits);
        let step = step / gcd(step, inner);
        if most < lens[d] && most > step { most - most % step } else { most }
    }

    fn first(&self, indices: &[Range<u64>]) -> u64 {
        indices.iter().zip(self.shape).fold(0, |first, (range, size)| first * size + range.start)
    }
}

/// An operand's elements for a box of the output.
fn part(operand: &Source, indices: &[Range<u64>]) -> Result<Source, Error> {
    let mut view = operand.view.clone();
    for (d, range) in indices.iter().enumerate() {
        view = view.slice(d, range.start, range.end - range.start, 1)?;
    }
    Ok(Source { slot: operand.slot, view })
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
    fn new(shape: &[u64], views: &[&View]) -> Result<Rows, Error> {
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
                    strides.iter_mut().zip(views).for_each(|(own, view)| own.push(view.strides()[d]));
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

/// One operand: what is bound, and where its elements are in it.
#[derive(Clone)]
struct Operand {
    window: Binding,
    params: OperandParams,
    /// Elements that the binding holds.
    span: u64,
}

impl Operand {
    fn new(dtype: DType, source: &Source, rows: &Rows, n: usize, limits: &Limits) -> Result<Operand, Error> {
        let Source { slot, view } = source;
        let Window { base, span, binding } = Window::new(dtype, view, *slot, limits)?;
        word(span + 64)?; // a pack may begin at the last element
        let strides = &rows.strides[n];
        Ok(Operand {
            window: binding,
            params: OperandParams {
                start: word(view.offset() - base)?,
                row_stride: stride_word(strides[0])?,
                strides: strides[1..].iter().map(|&stride| stride_word(stride)).collect::<Result<_, _>>()?,
            },
            span,
        })
    }

    fn is_splat(&self) -> bool {
        self.params.row_stride == 0
    }

    /// Whether a row can be read in whole packs.
    fn has_packs(&self, pack: u64) -> bool {
        let aligned = |stride: &i32| u64::from(stride.unsigned_abs()).is_multiple_of(pack);
        self.is_splat()
            || self.params.row_stride == 1
                && self.span >= pack
                && u64::from(self.params.start).is_multiple_of(pack)
                && self.params.strides.iter().all(aligned)
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
    fn passes(&self, operands: &[Operand], continues: bool, limits: &Limits) -> Result<Vec<Pass>, Error> {
        let tuning = tuning(limits);
        let pack = self.dtype.pack_elements();
        let packs = self.len / pack;
        let whole = self.rows.row_len().is_multiple_of(pack);
        let packs_fit = packs > 0
            && self.piece.begin == 0
            && (whole || self.rows.sizes.len() == 1 && packs >= FEWEST_PACKS)
            && operands.iter().all(|operand| operand.has_packs(pack));
        if !packs_fit {
            let first = self.piece.begin / self.dtype.lanes();
            return Ok(vec![self.elements(operands, continues, first, &tuning, limits)?]);
        }
        let mut passes = vec![self.packs(operands, continues, packs, &tuning, limits)?];
        if !whole {
            let first = packs * pack / self.dtype.lanes();
            passes.push(self.elements(operands, continues, first, &tuning, limits)?);
        }
        Ok(passes)
    }

    fn packs(
        &self,
        operands: &[Operand],
        continues: bool,
        packs: u64,
        tuning: &Tuning,
        limits: &Limits,
    ) -> Result<Pass, Error> {
        let splats = operands.iter().enumerate().filter(|(_, o)| o.is_splat()).fold(0, |mask, (n, _)| mask | 1 << n);
        let program = Program::MaxPacks { operands: operands.len() as u32, splats };
        self.pass(program, operands, continues, 0, packs, tuning, limits)
    }

    /// Output units from `first` on.
    fn elements(
        &self,
        operands: &[Operand],
        continues: bool,
        first: u64,
        tuning: &Tuning,
        limits: &Limits,
    ) -> Result<Pass, Error> {
        let program = Program::MaxElements { operands: operands.len() as u32 };
        let units = (self.piece.begin + self.len).div_ceil(self.dtype.lanes()) - first;
        self.pass(program, operands, continues, first, units, tuning, limits)
    }

    #[allow(clippy::too_many_arguments)] // the two callers above differ in the first five
    fn pass(
        &self,
        program: Program,
        operands: &[Operand],
        continues: bool,
        first: u64,
        writes: u64,
        tuning: &Tuning,
        limits: &Limits,
    ) -> Result<Pass, Error> {
        let share = tuning.share(writes);
        let invocations = writes.div_ceil(share);
        let pack = self.dtype.pack_elements();
        let mut constants = vec![Constant::Group(tuning.group as u32)];
        constants.extend(&self.nan);
        constants.extend(continues.then_some(Constant::Continues));
        let keeps = self.piece.keeps && matches!(program, Program::MaxElements { .. });
        constants.extend(keeps.then_some(Constant::Keeps));
        let bind = |(n, operand): (usize, &Operand)| Binding { binding: FIRST_OPERAND + n as u32, ..operand.window };
        Ok(Pass {
            kernel: Kernel { program, dtype: self.dtype, constants },
            params: Params::Broadcast(BroadcastParams {
                len: word(self.len)?,
                share: word(share)?,
                row_len: word(self.rows.row_len())?,
                first: word(first)?,
                begin: word(self.piece.begin)?,
                end: word(self.piece.end)?,
                sizes: self.rows.sizes[1..].iter().map(|&size| word(size)).collect::<Result<_, _>>()?,
                operands: operands.iter().map(|operand| operand.params.clone()).collect(),
            }),
            grid: grid(invocations.div_ceil(tuning.group), tuning.group * share * pack, limits)?,
            bindings: [Binding { binding: 1, ..self.target }]
                .into_iter()
                .chain(operands.iter().enumerate().map(bind))
                .collect(),
        })
    }
}
