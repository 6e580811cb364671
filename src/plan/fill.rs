//! One element written everywhere: the maximum of nothing, a Hardmax of slices of one element, records of nothing seen.

use std::ops::Range;

use super::device::{Device, FEWEST_PACKS, to_u32};
use super::layout::blocks;
use super::{Binding, Dispatch, Dispatches, target_part};
use crate::element::Element;
use crate::shader::{FillParams, Kernel, Override, Params, Program};
use crate::{DType, Error};

/// A dispatch for each part of the output that fits a binding: of whole packs, and of the words that are left.
pub(super) fn fill(dtype: DType, element: [u32; 2], target: Binding, device: &Device) -> Result<Dispatches, Error> {
    let (words, packs) = (target.bytes / 4, target.bytes / 16);
    let in_packs = target.bytes.is_multiple_of(16) || packs >= FEWEST_PACKS;
    let packs = if in_packs { packs } else { 0 };
    let mut dispatches = Dispatches::default();
    for (program, bytes, range) in
        [(Program::Fill { packs: true }, 16, 0..packs), (Program::Fill { packs: false }, 4, packs * 4..words)]
    {
        for part in blocks(range, device.writable(bytes, 1)?) {
            dispatches.push(fill_part(program, dtype, element, (target, bytes, part), device)?)?;
        }
    }
    Ok(dispatches)
}

/// Fills a range of a target's packs or words, which are bound from where a binding may begin.
fn fill_part(
    program: Program,
    dtype: DType,
    [low, high]: [u32; 2],
    (target, bytes, Range { start, end }): (Binding, u64, Range<u64>),
    device: &Device,
) -> Result<Dispatch, Error> {
    let (first, group) = (start % device.binding_step(&[bytes]), device.tuning.group);
    let share = device.share(end - start);
    let len = first + end - start;
    Ok(Dispatch {
        kernel: Kernel::new(program, dtype, vec![Override::Group(group as u32)], device.tuning.int64),
        params: Params::Fill(FillParams { first: to_u32(first)?, len: to_u32(len)?, share: to_u32(share)?, low, high }),
        grid: device.grid((end - start).div_ceil(share).div_ceil(group), group * share)?,
        bindings: vec![target_part(target, bytes, start - first, len)],
    })
}

/// The two words that an even and an odd word of an output become when it is filled with an element.
pub(super) fn filled_words<T: Element>(element: T) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes.chunks_exact_mut(size_of::<T>()).for_each(|bytes| element.write(bytes));
    bytemuck::cast(bytes)
}
