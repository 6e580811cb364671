//! ReduceMax: one reduction to values, or two, or one and a copy that puts them in order; the maximum of nothing written everywhere;
//! the input itself, where each maximum is one of one element; or, of few elements, a Max.

use super::device::Device;
use super::fill::{fill, filled_words};
use super::layout::{LARGEST_USUAL_BLOCK, sources};
use super::max::{copy, max_of_few};
use super::memory_order::reduce_in_memory_order;
use super::reduce::{reduce_whole, reduce_windows};
use super::schedule::{FEWEST_LOADS, Reduction};
use super::stages::reduce_in_stages;
use super::windows::{Window, whole_window};
use super::{Binding, Dispatches, Plan};
use crate::element::{Element, with_element_type};
use crate::error::list;
use crate::shader::{Access, Epilogue};
use crate::{DType, EmptyMax, Error, Limits, ReduceMax, View};

/// The most elements of a maximum that are taken as operands of a Max.
const MOST_OPERANDS: u64 = 8;

pub(crate) fn reduce_max(op: &ReduceMax, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let reduced = &op.checked()?;
    let outputs = op.output_types()?;
    let label = format!("ReduceMax {} {} over {}", op.dtype, list(op.input.shape()), list(reduced));
    let out_len = outputs[0].len();
    let dispatches = |targets: &[Binding]| dispatches(op, reduced, out_len, targets, device);
    Plan::of(label, op.input.views().len(), &outputs, device, dispatches)
}

fn dispatches(
    op: &ReduceMax,
    reduced: &[usize],
    out_len: u64,
    targets: &[Binding],
    device: &Device,
) -> Result<Dispatches, Error> {
    if op.input.is_empty() {
        return fill(words_of_nothing(op.dtype, op.empty), targets[0], device);
    }
    let sources = sources(&op.input, 0);
    if reduced.iter().all(|&d| op.input.shape()[d] == 1) {
        return copy(op.dtype, op.nan, sources, op.input.shape(), targets[0], device);
    }
    let reduction = Reduction::new(op.dtype, op.nan, Epilogue::Value, reduced, out_len, device);
    let Some(at_once) = whole_window(&reduction, &sources)? else {
        return reduce_windows(&reduction, sources, targets);
    };
    if reduction.are_few(&sources[0].view, &at_once)
        && let Some(dispatches) = max_of_few(op.dtype, op.nan, &sources[0], reduced, targets[0], device)?
    {
        return Ok(dispatches);
    }
    if let Some(dispatches) = reduce_in_memory_order(&reduction, &sources[0], &at_once, targets)? {
        return Ok(dispatches);
    }
    if let Some(dispatches) = reduce_in_stages(&reduction, &sources[0], &at_once, targets)? {
        return Ok(dispatches);
    }
    reduce_whole(&reduction, at_once, targets)
}

impl Reduction<'_> {
    /// Whether columns of so few elements are reduced that a Max is faster, which does less once for each pack. On software: GPUs hide that.
    /// Small blocks are faster in bunches, and packs that begin anywhere take longer to compile.
    fn are_few(&self, view: &View, Window { shape, schedule, .. }: &Window) -> bool {
        let rows = self.reduced.iter().map(|&d| view.shape()[d]).fold(1, u64::saturating_mul);
        let columns = shape.columns().unwrap_or(1);
        let in_columns = matches!(schedule.access, Access::Columns | Access::Strided);
        let pays = shape.columns_are_whole(self.dtype.pack_elements()) || self.loads(shape) >= FEWEST_LOADS;
        !self.device.spreads() && rows <= MOST_OPERANDS && in_columns && rows * columns > LARGEST_USUAL_BLOCK && pays
    }
}

/// What an output of the maximum of nothing is filled with.
pub(super) fn words_of_nothing(dtype: DType, empty: EmptyMax) -> [u32; 2] {
    with_element_type!(dtype, T => filled_words(if empty == EmptyMax::LowestFinite { T::LOWEST_FINITE } else { T::LEAST }))
}
