//! One element written everywhere: the maximum of nothing, a Hardmax of slices of one element, records of nothing seen.

use std::ops::Range;

use super::device::{Device, to_u32};
use super::layout::blocks;
use super::{Binding, Dispatch, Dispatches, target_part};
use crate::element::Element;
use crate::shader::{FillParams, Kernel, Override, Params, Program};
use crate::{DType, Error};

/// A dispatch for each part of the output that fits a binding.
pub(super) fn fill(dtype: DType, element: [u32; 2], target: Binding, device: &Device) -> Result<Dispatches, Error> {
    let [low, high] = element;
    let group = device.tuning.group;
    let mut dispatches = Dispatches::default();
    for Range { start, end } in blocks(0..target.bytes / 4, device.writable(4, 1)?) {
        let words = end - start;
        let share = device.share(words);
        dispatches.push(Dispatch {
            kernel: Kernel::new(Program::Fill, dtype, vec![Override::Group(group as u32)], false),
            params: Params::Fill(FillParams { words: to_u32(words)?, share: to_u32(share)?, low, high }),
            grid: device.grid(words.div_ceil(share).div_ceil(group), group * share)?,
            bindings: vec![target_part(target, 4, start, words)],
        })?;
    }
    Ok(dispatches)
}

/// The two words that an even and an odd word of an output become when it is filled with an element.
pub(super) fn filled_words<T: Element>(element: T) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes.chunks_exact_mut(size_of::<T>()).for_each(|bytes| element.write(bytes));
    bytemuck::cast(bytes)
}
