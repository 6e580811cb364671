//! ReduceMax: one reduction to values, or the maximum of nothing written everywhere.

use super::fill::{fill, filled_words};
use super::reduction::{Reduction, nan_constants, sources};
use super::{Operator, Plan, Store, output_bindings, plannable};
use crate::element::{Element, with_element_type};
use crate::error::list;
use crate::{EmptyMax, Error, Limits, Operation, ReduceMax};

pub(crate) fn reduce_max(op: &ReduceMax, limits: &Limits) -> Result<Plan, Error> {
    let limits = plannable(limits)?;
    let reduced = op.checked()?;
    let outputs = op.outputs()?;
    let targets = output_bindings(&outputs);
    let plan = Plan::new(
        format!("ReduceMax {} {} over {}", op.dtype, list(op.input.shape()), list(&reduced)),
        op.input.views().len(),
        &targets,
    );
    if targets[0].bytes == 0 {
        return Ok(plan);
    }
    if op.input.is_empty() {
        let element = with_element_type!(op.dtype, T => filled_words(nothing::<T>(op.empty)));
        return plan.complete(fill(op.dtype, element, targets[0], &limits)?, &limits);
    }
    let reduction = Reduction {
        dtype: op.dtype,
        reduced: &reduced,
        operator: Operator::ReduceMax,
        store: Store::Value,
        targets,
        constants: nan_constants(op.dtype, op.nan),
        index_words: None,
        out_len: outputs[0].len(),
    };
    plan.complete(reduction.passes(&sources(&op.input, 0), &limits)?, &limits)
}

fn nothing<T: Element>(empty: EmptyMax) -> T {
    if empty == EmptyMax::LowestFinite { T::LOWEST_FINITE } else { T::LEAST }
}
