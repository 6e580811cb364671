//! ArgMax: one reduction to positions.

use super::device::Device;
use super::layout::sources;
use super::reduce::reduce;
use super::schedule::Reduction;
use super::{Plan, output_bindings};
use crate::error::list;
use crate::shader::{Epilogue, Operator};
use crate::{ArgMax, ArgMaxOutput, Error, Limits, Operation};

pub(crate) fn arg_max(op: &ArgMax, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let reduced = &op.checked()?;
    let outputs = op.outputs()?;
    let targets = output_bindings(&outputs);
    let label = format!("ArgMax {} {} over {}", op.dtype, list(op.input.shape()), list(reduced));
    let plan = Plan::new(label, op.input.views().len(), &targets);
    if outputs[0].len() == 0 {
        return Ok(plan);
    }
    let reduction = Reduction {
        dtype: op.dtype,
        operator: Operator::ArgMax,
        epilogue: match op.output {
            ArgMaxOutput::Indices => Epilogue::Index,
            ArgMaxOutput::ValuesAndIndices => Epilogue::Both,
        },
        reduced,
        nan: op.nan,
        last: op.select_last,
        index_words: op.index.dtype().bytes() / 4,
        out_len: outputs[0].len(),
        device,
    };
    plan.complete(reduce(&reduction, sources(&op.input, 0), &targets)?, device)
}
