//! Max: operands broadcast together, as many of them in one dispatch as there are bindings; more continue from the
//! output.

use super::dims::{Window, stride_word, word};
use super::kernel::FIRST_OPERAND;
use super::params::MAX_DIMS;
use super::reduction::nan_constants;
use super::tuning::{Tuning, tuning};
use super::{
    Binding, BroadcastParams, Constant, Kernel, OperandParams, Params, Pass, Plan, Program, Slot, grid, output_bindings,
};
use crate::{DType, Error, Limits, Max, Operation, View};

/// The most operands of one dispatch: a mask of 32 bits tells their forms.
const MAX_OPERANDS: u64 = 32;

pub(crate) fn max(op: &Max, limits: &Limits) -> Result<Plan, Error> {
    let output = op.outputs()?.remove(0);
    let targets = output_bindings(std::slice::from_ref(&output), limits)?;
    let label = format!("Max {} of {} to {:?}", op.dtype, op.inputs.len(), output.shape);
    let mut plan = Plan::new(label, op.inputs.len(), &targets);
    if targets[0].bytes == 0 {
        return Ok(plan);
    }
    plan.in_place = op.in_place;
    let views = operands(op, &mut plan)?;
    let rows = Rows::new(&output.shape, &views.iter().map(|(view, _)| view).collect::<Vec<_>>())?;
    let mut operands = Vec::new();
    for (n, (view, slot)) in views.iter().enumerate() {
        let operand = Operand::new(op.dtype, view, *slot, &rows, n, limits)?;
        if let Slot::Input(n) = slot {
            plan.input_bytes[*n] = operand.window.end_bytes();
        }
        operands.push(operand);
    }
    let job =
        Job { dtype: op.dtype, len: output.len(), rows, target: targets[0], nan: nan_constants(op.dtype, op.nan) };
    let most = u64::from(limits.max_storage_bindings).saturating_sub(1).min(MAX_OPERANDS) as usize;
    if most == 0 {
        return Err(Error::DeviceTooSmall {
            what: "max_storage_buffers_per_shader_stage",
            given: limits.max_storage_bindings.into(),
            needed: 2,
        });
    }
    let mut continues = op.in_place.is_some();
    if operands.is_empty() {
        plan.passes = job.passes(&[], continues, limits)?; // one input, in place: NaN is made canonical
    }
    for operands in operands.chunks(most) {
        plan.passes.extend(job.passes(operands, continues, limits)?);
        continues = true;
    }
    plan.checked(limits)
}

/// What is read: the inputs but the one written in place, and the constant, which goes into the plan.
fn operands(op: &Max, plan: &mut Plan) -> Result<Vec<(View, Slot)>, Error> {
    let shape = op.checked()?;
    let mut operands = Vec::new();
    for (n, view) in op.inputs.iter().enumerate().filter(|&(n, _)| op.in_place != Some(n)) {
        operands.push((view.broadcast(&shape)?, Slot::Input(n)));
    }
    if let Some(constant) = &op.constant {
        operands.push((View::new(constant.shape())?.broadcast(&shape)?, Slot::Constant(0)));
        let mut bytes = constant.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        plan.constants.push(bytes);
    }
    Ok(operands)
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
    fn new(dtype: DType, view: &View, slot: Slot, rows: &Rows, n: usize, limits: &Limits) -> Result<Operand, Error> {
        let Window { base, span, binding } = Window::new(dtype, view, slot, limits)?;
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
            && (whole || self.rows.sizes.len() == 1 && packs >= FEWEST_PACKS)
            && operands.iter().all(|operand| operand.has_packs(pack));
        if !packs_fit {
            return Ok(vec![self.elements(operands, continues, 0, &tuning, limits)?]);
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
        let units = self.len.div_ceil(self.dtype.lanes()) - first;
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
        let bind = |(n, operand): (usize, &Operand)| Binding { binding: FIRST_OPERAND + n as u32, ..operand.window };
        Ok(Pass {
            kernel: Kernel { program, dtype: self.dtype, constants },
            params: Params::Broadcast(BroadcastParams {
                len: word(self.len)?,
                share: word(share)?,
                row_len: word(self.rows.row_len())?,
                first: word(first)?,
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
