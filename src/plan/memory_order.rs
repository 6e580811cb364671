//! Outputs in the order of memory: where kept dimensions lie otherwise than outputs follow one another, such as those of a picture whose
//! channels come last, all is reduced as it lies, and what is left is put in order.
//!
//! ```text
//!  over H of [C, H, W] by [1, W * C, C]    as it lies, over H of [H, W, C] -> scratch 1: [W, C]    in order -> [C, W]
//! ```

use std::slice;

use super::layout::Source;
use super::max::copy;
use super::reduce::reduce_whole;
use super::schedule::{FEWEST_FAR_LOADS, FEWEST_RAGGED_LOADS, Reduction};
use super::windows::{Window, whole_window};
use super::{Binding, Dispatches, Slot};
use crate::dtype::padded_bytes;
use crate::shader::{Access, Epilogue};
use crate::{DType, Error, NanPolicy, View};

/// The fewest elements of an output for which it is moved once more, on software and on GPUs.
const FEWEST_ELEMENTS: u64 = 4;
const FEWEST_ELEMENTS_ON_GPUS: u64 = 16;

/// The dispatches of both steps, if that pays beside elements loaded one by one in the outputs' order, as in the window `in_order`.
pub(super) fn reduce_in_memory_order(
    reduction: &Reduction,
    source: &Source,
    in_order: &Window,
    targets: &[Binding],
) -> Result<Option<Dispatches>, Error> {
    let (&[target], Some(dtype)) = (targets, reduction.output_type()) else { return Ok(None) };
    if !reduction.is_worth_moving(in_order) {
        return Ok(None);
    }
    let Some(lying) = Lying::new(&source.view, reduction.reduced)? else { return Ok(None) };
    let bytes = padded_bytes(dtype, lying.outputs.len()).unwrap_or(u64::MAX);
    let first = Reduction { reduced: &lying.reduced, out_len: lying.outputs.len(), ..*reduction };
    let source = Source { slot: source.slot, view: lying.view };
    let Some(window) = whole_window(&first, slice::from_ref(&source))? else { return Ok(None) };
    if window.schedule.access == Access::Strided {
        return Ok(None);
    }
    let scratch = Binding { binding: 3, slot: Slot::Scratch(1), writes: true, offset_bytes: 0, bytes };
    let mut dispatches = reduce_whole(&first, window, &[scratch])?;
    let left = Source { slot: scratch.slot, view: lying.in_order };
    let shape = left.view.shape().to_vec();
    dispatches.append(copy(dtype, NanPolicy::Propagate, vec![left], &shape, target, reduction.device)?)?;
    Ok(Some(dispatches))
}

impl Reduction<'_> {
    /// The type of outputs, where there is one output.
    fn output_type(&self) -> Option<DType> {
        match (self.epilogue, self.index_words) {
            (Epilogue::Value, _) => Some(self.dtype),
            (Epilogue::Index, 1) => Some(DType::U32),
            (Epilogue::Index, _) => Some(DType::U64),
            _ => None,
        }
    }

    /// Whether elements are loaded one by one, and there are many beside outputs.
    fn is_worth_moving(&self, Window { shape, schedule, .. }: &Window) -> bool {
        let (elements, loads) = match self.device.spreads() {
            true => (FEWEST_ELEMENTS_ON_GPUS, FEWEST_FAR_LOADS),
            false => (FEWEST_ELEMENTS, FEWEST_RAGGED_LOADS),
        };
        schedule.access == Access::Strided && shape.reduce_len() >= elements && self.loads(shape) >= loads
    }
}

/// A view as it lies in memory.
struct Lying {
    /// Its kept dimensions, the greatest stride first, none reversed and those that repeat elements with one index; then the reduced ones.
    view: View,
    reduced: Vec<usize>,
    /// What is left of it.
    outputs: View,
    /// The same, outputs one after another.
    in_order: View,
}

impl Lying {
    /// Nothing where the view lies as its outputs do.
    fn new(view: &View, reduced: &[usize]) -> Result<Option<Lying>, Error> {
        let (sizes, strides) = (view.shape(), view.strides());
        let mut lying = view.clone();
        let kept: Vec<usize> = (0..view.rank()).filter(|d| !reduced.contains(d)).collect();
        for &d in &kept {
            match strides[d] {
                0 => lying = lying.slice(d, 0, 1, 1)?,
                1.. => (),
                _ => lying = lying.reverse(d)?,
            }
        }
        let by_stride = |d: &usize| std::cmp::Reverse(lying.strides()[*d]);
        let mut order = kept.clone();
        order.sort_by_key(by_stride);
        if lying == *view && order == kept {
            return Ok(None);
        }
        let outputs = View::new(order.iter().map(|&d| lying.shape()[d]).collect::<Vec<_>>())?;
        let mut in_order = outputs.broadcast(&order.iter().map(|&d| sizes[d]).collect::<Vec<_>>())?;
        for (n, _) in order.iter().enumerate().filter(|&(_, &d)| strides[d] < 0) {
            in_order = in_order.reverse(n)?;
        }
        let places: Vec<usize> = kept.iter().filter_map(|d| order.iter().position(|own| own == d)).collect();
        let in_order = in_order.permute(&places)?;
        let reduced_last = kept.len()..view.rank();
        order.extend(reduced);
        Ok(Some(Lying { view: lying.permute(&order)?, reduced: reduced_last.collect(), outputs, in_order }))
    }
}
