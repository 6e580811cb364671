//! ArgMax: one reduction to positions.

use super::reduction::{Reduction, nan_constants, sources};
use super::{Constant, Operator, Plan, Store, output_bindings, plannable};
use crate::error::list;
use crate::{ArgMax, ArgMaxOutput, Error, Limits, Operation};

pub(crate) fn arg_max(op: &ArgMax, limits: &Limits) -> Result<Plan, Error> {
    let limits = plannable(limits)?;
    let reduced = op.checked()?;
    let outputs = op.outputs()?;
    let targets = output_bindings(&outputs);
    let plan = Plan::new(
        format!("ArgMax {} {} over {}", op.dtype, list(op.input.shape()), list(&reduced)),
        op.input.views().len(),
        &targets,
    );
    if outputs[0].len() == 0 {
        return Ok(plan);
    }
    let mut constants = nan_constants(op.dtype, op.nan);
    if op.select_last {
        constants.push(Constant::Last);
    }
    let reduction = Reduction {
        dtype: op.dtype,
        reduced: &reduced,
        operator: Operator::ArgMax,
        store: match op.output {
            ArgMaxOutput::Indices => Store::Index,
            ArgMaxOutput::ValuesAndIndices => Store::Both,
        },
        targets,
        constants,
        index_words: Some((op.index.dtype().bytes() / 4) as u32),
        out_len: outputs[0].len(),
    };
    plan.complete(reduction.passes(&sources(&op.input, 0), &limits)?, &limits)
}
