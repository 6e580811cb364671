//! ReduceMax: one reduction to values, or the maximum of nothing written everywhere.

use std::ops::Range;

use super::dims::{blocks, word};
use super::reduction::{Reduction, nan_constants, sources};
use super::tuning::tuning;
use super::{
    Binding, Constant, FillParams, Kernel, Operator, Params, Pass, Plan, Program, Store, binding_step, check_count,
    grid, output_bindings, target_part,
};
use crate::element::{Element, with_element_type};
use crate::{EmptyMax, Error, Limits, Operation, ReduceMax};

pub(crate) fn reduce_max(op: &ReduceMax, limits: &Limits) -> Result<Plan, Error> {
    let reduced = op.checked()?;
    let outputs = op.outputs()?;
    let targets = output_bindings(&outputs);
    let mut plan = Plan::new(
        format!("ReduceMax {} {:?} over {reduced:?}", op.dtype, op.input.shape()),
        op.input.views().len(),
        &targets,
    );
    if targets[0].bytes == 0 {
        return Ok(plan);
    }
    if op.input.is_empty() {
        plan.passes = fill(op, targets[0], limits)?;
        return plan.complete(limits);
    }
    let reduction = Reduction {
        dtype: op.dtype,
        sources: sources(&op.input, 0),
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

/// The maximum of nothing, everywhere: a pass for each part of the output that fits a binding.
fn fill(op: &ReduceMax, target: Binding, limits: &Limits) -> Result<Vec<Pass>, Error> {
    let [low, high] = with_element_type!(op.dtype, T => element_words::<T>(op.empty));
    let group = tuning(limits).group;
    let step = binding_step(&[4], limits);
    let most = (limits.max_binding_bytes / 4).min(1 << 31) / step * step;
    if most == 0 {
        let (given, needed) = (limits.max_binding_bytes, step * 4);
        return Err(Error::DeviceTooSmall { what: "max_storage_buffer_binding_size", given, needed });
    }
    let mut passes = Vec::new();
    for Range { start, end } in blocks(0..target.bytes / 4, most) {
        let words = end - start;
        passes.push(Pass {
            kernel: Kernel { program: Program::Fill, dtype: op.dtype, constants: vec![Constant::Group(group as u32)] },
            params: Params::Fill(FillParams { words: word(words)?, low, high }),
            grid: grid(words.div_ceil(group), group, limits)?,
            bindings: vec![target_part(target, 4, start, words)],
        });
        check_count(passes.len())?;
    }
    Ok(passes)
}

/// The two words that an even and an odd word of an output become when it is filled.
fn element_words<T: Element>(empty: EmptyMax) -> [u32; 2] {
    let element = if empty == EmptyMax::LowestFinite { T::LOWEST_FINITE } else { T::LEAST };
    let mut bytes = [0; 8];
    bytes.chunks_exact_mut(size_of::<T>()).for_each(|bytes| element.write(bytes));
    bytemuck::cast(bytes)
}
