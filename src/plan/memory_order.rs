//! Outputs in the order of memory: where kept dimensions lie otherwise than outputs follow one another, such as those of a picture whose
//! channels come last, all is reduced as it lies, and what is left is put in order. Of one output, and of a tensor in one window.
//!
//! ```text
//!  over H of [C, H, W] by [1, W * C, C]    as it lies, over H of [H, W, C] -> scratch 1: [W, C]    in order -> [C, W]
//! ```

use std::slice;

use super::layout::{Source, by_stride};
use super::max::copy;
use super::reduce::reduce_whole;
use super::schedule::{FEWEST_FAR_LOADS, FEWEST_LOADS, Reduction};
use super::windows::{Window, whole_window};
use super::{Binding, Dispatches};
use crate::dtype::padded_bytes;
use crate::shader::{Access, Epilogue};
use crate::{DType, Error, NanPolicy, View};

/// The fewest bytes read for each that is left, and moved once more.
const FEWEST_READ: u64 = 4;
const FEWEST_READ_ON_GPUS: u64 = 16;

/// The dispatches of both steps, if that pays beside elements loaded one by one in the outputs' order, as in the window `in_order`.
pub(super) fn reduce_in_memory_order(
    reduction: &Reduction,
    source: &Source,
    in_order: &Window,
    targets: &[Binding],
) -> Result<Option<Dispatches>, Error> {
    let Some(dtype) = reduction.output_type().filter(|&dtype| reduction.is_worth_moving(in_order, dtype)) else {
        return Ok(None);
    };
    let Some(lying) = Lying::new(&source.view, reduction.reduced)? else { return Ok(None) };
    let first = Reduction { reduced: &lying.reduced, out_len: lying.left, ..*reduction };
    let source = Source { slot: source.slot, view: lying.view };
    let Some(window) = whole_window(&first, slice::from_ref(&source))? else { return Ok(None) };
    if window.schedule.access == Access::Strided {
        return Ok(None);
    }
    let scratch = Binding::scratch(1, padded_bytes(dtype, lying.left).unwrap_or(u64::MAX));
    let mut dispatches = reduce_whole(&first, window, &[scratch])?;
    let shape = lying.in_order.shape().to_vec();
    let left = Source { slot: scratch.slot, view: lying.in_order };
    dispatches.append(copy(dtype, NanPolicy::Propagate, vec![left], &shape, targets[0], reduction.device)?)?;
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

    /// Whether elements are loaded one by one, though there is room for packs, and there are many beside outputs of that type.
    fn is_worth_moving(&self, Window { shape, schedule, .. }: &Window, output: DType) -> bool {
        let (read, loads) = match self.device.spreads() {
            true => (FEWEST_READ_ON_GPUS, FEWEST_FAR_LOADS),
            false => (FEWEST_READ, FEWEST_LOADS),
        };
        schedule.access == Access::Strided
            && self.device.binds_packs()
            && shape.reduce_len().saturating_mul(self.dtype.bytes()) >= read * output.bytes()
            && self.loads(shape) >= loads
    }
}

/// A view as it lies in memory.
struct Lying {
    /// Its kept dimensions, the greatest stride first, none reversed and those that repeat elements with one index; then the reduced ones.
    view: View,
    reduced: Vec<usize>,
    /// How many outputs that leaves.
    left: u64,
    /// These as outputs follow one another.
    in_order: View,
}

impl Lying {
    /// Nothing where the view lies as its outputs do.
    fn new(view: &View, reduced: &[usize]) -> Result<Option<Lying>, Error> {
        let (sizes, strides) = (view.shape(), view.strides());
        let kept: Vec<usize> = (0..view.rank()).filter(|d| !reduced.contains(d)).collect();
        let mut order = by_stride(kept.clone(), |&d| strides[d]);
        if order == kept && kept.iter().all(|&d| strides[d] > 0) {
            return Ok(None);
        }
        let (mut offset, mut left, mut left_offset) = (view.offset(), 1, 0);
        let (mut lying_sizes, mut left_strides) = (sizes.to_vec(), vec![0; view.rank()]);
        for &d in order.iter().rev() {
            left_strides[d] = left as i64 * strides[d].signum();
            match strides[d] {
                0 => lying_sizes[d] = 1, // of what is repeated there is one
                1.. => (),
                stride => {
                    offset = offset.wrapping_add_signed(stride * (sizes[d] as i64 - 1)); // stays within the view's extent
                    left_offset += left * (sizes[d] - 1);
                }
            }
            left *= lying_sizes[d];
        }
        let shape: Vec<u64> = kept.iter().map(|&d| sizes[d]).collect();
        let left_strides: Vec<i64> = kept.iter().map(|&d| left_strides[d]).collect();
        let in_order = View::strided(shape, left_strides, left_offset)?;
        let lying_strides = order.iter().map(|&d| strides[d].abs()).chain(reduced.iter().map(|&d| strides[d]));
        let lying_strides: Vec<i64> = lying_strides.collect();
        order.extend(reduced);
        let lying_sizes: Vec<u64> = order.iter().map(|&d| lying_sizes[d]).collect();
        let view = View::strided(lying_sizes, lying_strides, offset)?;
        Ok(Some(Lying { reduced: (kept.len()..view.rank()).collect(), view, left, in_order }))
    }
}
