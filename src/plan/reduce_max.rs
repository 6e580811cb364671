//! ReduceMax: one reduction to values, or two; the maximum of nothing written everywhere; or the input itself, where each maximum is
//! one of one element.

use super::device::Device;
use super::fill::{fill, filled_words};
use super::layout::sources;
use super::max::copy;
use super::reduce::reduce;
use super::schedule::Reduction;
use super::stages::reduce_in_stages;
use super::{Plan, output_bindings};
use crate::element::{Element, with_element_type};
use crate::error::list;
use crate::shader::{Epilogue, Operator};
use crate::{EmptyMax, Error, Limits, Operation, ReduceMax};

pub(crate) fn reduce_max(op: &ReduceMax, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let reduced = &op.checked()?;
    let outputs = op.outputs()?;
    let targets = output_bindings(&outputs);
    let label = format!("ReduceMax {} {} over {}", op.dtype, list(op.input.shape()), list(reduced));
    let plan = Plan::new(label, op.input.views().len(), &targets);
    if targets[0].bytes == 0 {
        return Ok(plan);
    }
    if op.input.is_empty() {
        let element = with_element_type!(op.dtype, T => filled_words(nothing::<T>(op.empty)));
        return plan.complete(fill(op.dtype, element, targets[0], device)?, device);
    }
    if reduced.iter().all(|&d| op.input.shape()[d] == 1)
        && let Some(dispatches) = copy(op.dtype, op.nan, &op.input, targets[0], device)?
    {
        return plan.complete(dispatches, device);
    }
    let reduction = Reduction {
        dtype: op.dtype,
        operator: Operator::ReduceMax,
        epilogue: Epilogue::Value,
        reduced,
        nan: op.nan,
        last: false,
        index_words: 0,
        slice_len: 1,
        out_len: outputs[0].len(),
        device,
    };
    let sources = sources(&op.input, 0);
    if let [source] = &sources[..]
        && let Some(dispatches) = reduce_in_stages(&reduction, source, &targets)?
    {
        return plan.complete(dispatches, device);
    }
    plan.complete(reduce(&reduction, sources, &targets)?, device)
}

fn nothing<T: Element>(empty: EmptyMax) -> T {
    if empty == EmptyMax::LowestFinite { T::LOWEST_FINITE } else { T::LEAST }
}
