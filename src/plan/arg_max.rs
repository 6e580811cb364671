//! ArgMax: one reduction to positions, and a copy that puts them in order where elements lie otherwise; zeros, where each position is
//! that of one element.

use super::device::Device;
use super::fill::fill;
use super::layout::sources;
use super::max::copy;
use super::memory_order::reduce_in_memory_order;
use super::reduce::{reduce_whole, reduce_windows};
use super::schedule::Reduction;
use super::windows::whole_window;
use super::{Binding, Dispatches, Plan};
use crate::error::list;
use crate::shader::Epilogue;
use crate::{ArgMax, ArgMaxOutput, Error, Limits};

pub(crate) fn arg_max(op: &ArgMax, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let reduced = &op.checked()?;
    let outputs = op.output_types()?;
    let label = format!("ArgMax {} {} over {}", op.dtype, list(op.input.shape()), list(reduced));
    let out_len = outputs[0].len();
    let dispatches = |targets: &[Binding]| dispatches(op, reduced, out_len, targets, device);
    Plan::of(label, op.input.views().len(), &outputs, device, dispatches)
}

fn dispatches(
    op: &ArgMax,
    reduced: &[usize],
    out_len: u64,
    targets: &[Binding],
    device: &Device,
) -> Result<Dispatches, Error> {
    if reduced.iter().all(|&d| op.input.shape()[d] == 1) {
        return first_positions(op, targets, device);
    }
    let epilogue = match op.output {
        ArgMaxOutput::Indices => Epilogue::Index,
        ArgMaxOutput::ValuesAndIndices => Epilogue::Both,
    };
    let reduction = Reduction {
        last: op.select_last,
        index_words: op.index.dtype().bytes() / 4,
        ..Reduction::new(op.dtype, op.nan, epilogue, reduced, out_len, device)
    };
    let sources = sources(&op.input, 0);
    let Some(at_once) = whole_window(&reduction, &sources)? else {
        return reduce_windows(&reduction, sources, targets);
    };
    match reduce_in_memory_order(&reduction, &sources[0], &at_once, targets)? {
        Some(dispatches) => Ok(dispatches),
        None => reduce_whole(&reduction, at_once, targets),
    }
}

/// Each position is 0, and each maximum the element itself.
fn first_positions(op: &ArgMax, targets: &[Binding], device: &Device) -> Result<Dispatches, Error> {
    let mut dispatches = match op.output {
        ArgMaxOutput::Indices => Dispatches::default(),
        ArgMaxOutput::ValuesAndIndices => {
            copy(op.dtype, op.nan, sources(&op.input, 0), op.input.shape(), targets[0], device)?
        }
    };
    let indices = targets[targets.len() - 1];
    dispatches.append(fill([0, 0], Binding { binding: 3, ..indices }, device)?)?;
    Ok(dispatches)
}
