//! One element written everywhere: the maximum of nothing, a Hardmax of slices of one element, the zeros of others, records of
//! nothing seen.

use std::ops::Range;

use super::boxes::in_parts;
use super::device::{Device, FEWEST_PACKS, to_u32};
use super::{Binding, Dispatch, Dispatches};
use crate::element::Element;
use crate::shader::{FillParams, Override, Params, Program};
use crate::{DType, Error};

/// A dispatch for each part of the output that fits a binding: of whole packs, and of the words that are left. These are bound
/// from where a binding may begin. The element is given as words, whatever its type.
pub(super) fn fill(element: [u32; 2], target: Binding, device: &Device) -> Result<Dispatches, Error> {
    let [low, high] = element;
    let group = device.tuning.group;
    let in_packs = target.bytes.is_multiple_of(16) || target.bytes / 16 >= FEWEST_PACKS;
    let whole = if in_packs { target.bytes / 16 } else { 0 };
    let mut dispatches = Dispatches::default();
    for (packs, bytes, range) in [(true, 16, 0..whole), (false, 4, whole * 4..target.bytes / 4)] {
        for Range { start, end } in in_parts(range, device.writable(bytes, 1)?) {
            let first = start % device.binding_step(&[bytes]);
            let (count, len) = (end - start, first + end - start);
            let share = device.share(count);
            let zeros = (packs && element == [0, 0]).then_some(Override::Zeros);
            dispatches.push(Dispatch {
                kernel: device.kernel(Program::Fill { packs }, DType::U32, group, &[zeros]),
                params: Params::Fill(FillParams {
                    first: to_u32(first)?,
                    len: to_u32(len)?,
                    share: to_u32(share)?,
                    low,
                    high,
                }),
                grid: device.grid(count.div_ceil(share).div_ceil(group), group * share)?,
                bindings: vec![target.part(bytes, start - first, len)],
            })?;
        }
    }
    Ok(dispatches)
}

/// The two words that an even and an odd word of an output become when it is filled with an element.
pub(super) fn filled_words<T: Element>(element: T) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes.chunks_exact_mut(size_of::<T>()).for_each(|bytes| element.write(bytes));
    bytemuck::cast(bytes)
}
