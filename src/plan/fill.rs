//! One element written everywhere: the maximum of nothing, and a Hardmax of slices of one element.

use std::ops::Range;

use super::dims::{blocks, word};
use super::tuning::tuning;
use super::{
    Binding, Constant, FillParams, Kernel, Params, Pass, Passes, Program, binding_elements, binding_step, grid,
    target_part,
};
use crate::element::Element;
use crate::{DType, Error, Limits};

/// A pass for each part of the output that fits a binding.
pub(super) fn fill(dtype: DType, element: [u32; 2], target: Binding, limits: &Limits) -> Result<Passes, Error> {
    let [low, high] = element;
    let tuning = tuning(limits);
    let group = tuning.group;
    let most = tuning.writable(binding_elements(4, limits)?, binding_step(&[4], limits), 1);
    let mut passes = Passes::default();
    for Range { start, end } in blocks(0..target.bytes / 4, most) {
        let words = end - start;
        let share = tuning.share(words);
        passes.push(Pass {
            kernel: Kernel::new(Program::Fill, dtype, vec![Constant::Group(group as u32)], &tuning),
            params: Params::Fill(FillParams { words: word(words)?, share: word(share)?, low, high }),
            grid: grid(words.div_ceil(share).div_ceil(group), group * share, limits)?,
            bindings: vec![target_part(target, 4, start, words)],
        })?;
    }
    Ok(passes)
}

/// The two words that an even and an odd word of an output become when it is filled with an element.
pub(super) fn filled_words<T: Element>(element: T) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes.chunks_exact_mut(size_of::<T>()).for_each(|bytes| element.write(bytes));
    bytemuck::cast(bytes)
}
