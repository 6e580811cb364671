//! ReduceMax: one reduction to values, or the maximum of nothing written everywhere.

use super::dims::word;
use super::reduction::{Reduction, nan_constants};
use super::tuning::tuning;
use super::{
    Binding, Constant, FillParams, Kernel, Operator, Params, Pass, Plan, Program, Store, grid, output_bindings,
};
use crate::element::{Element, with_element_type};
use crate::{EmptyMax, Error, Limits, Operation, ReduceMax};

pub(crate) fn reduce_max(op: &ReduceMax, limits: &Limits) -> Result<Plan, Error> {
    let reduced = op.checked()?;
    let outputs = op.outputs()?;
    let targets = output_bindings(&outputs, limits)?;
    let mut plan = Plan::new(format!("ReduceMax {} {:?} over {reduced:?}", op.dtype, op.input.shape()), 1, &targets);
    if targets[0].bytes == 0 {
        return Ok(plan);
    }
    if op.input.is_empty() {
        plan.passes.push(fill(op, targets, limits)?);
        return plan.checked(limits);
    }
    let reduction = Reduction {
        dtype: op.dtype,
        view: &op.input,
        reduced: &reduced,
        operator: Operator::ReduceMax,
        store: Store::Value,
        targets,
        constants: nan_constants(op.dtype, op.nan),
        index_words: None,
        out_len: outputs[0].len(),
    };
    reduction.complete(plan, limits)
}

/// The maximum of nothing, everywhere.
fn fill(op: &ReduceMax, targets: Vec<Binding>, limits: &Limits) -> Result<Pass, Error> {
    let [low, high] = with_element_type!(op.dtype, T => element_words::<T>(op.empty));
    let words = targets[0].bytes / 4;
    let group = tuning(limits).group;
    Ok(Pass {
        kernel: Kernel { program: Program::Fill, dtype: op.dtype, constants: vec![Constant::Group(group as u32)] },
        params: Params::Fill(FillParams { words: word(words)?, low, high }),
        grid: grid(words.div_ceil(group), group, limits)?,
        bindings: targets,
    })
}

/// The two words that an even and an odd word of an output become when it is filled.
fn element_words<T: Element>(empty: EmptyMax) -> [u32; 2] {
    let element = if empty == EmptyMax::LowestFinite { T::LOWEST_FINITE } else { T::LEAST };
    let mut bytes = [0; 8];
    bytes.chunks_exact_mut(size_of::<T>()).for_each(|bytes| element.write(bytes));
    bytemuck::cast(bytes)
}
