use std::borrow::Cow;

use super::{Walk, bytes_of, canonical, element, gathered, greater};
use crate::element::{Element, with_element_type};
use crate::tensor::{ANSWER, room};
use crate::{Error, Max, Tensor, View};

pub(crate) fn max(op: &Max, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
    let output = op.output_types()?.remove(0);
    let mut operands: Vec<(View, Cow<[u8]>)> = Vec::new();
    let slots = op.first_slots();
    for (n, input) in op.inputs.iter().enumerate() {
        let own = &inputs[slots[n]..][..input.views().len()];
        let (view, bytes) = gathered(op.dtype, input, own)?;
        operands.push((view.broadcast(&output.shape)?, bytes));
    }
    if let Some(constant) = &op.constant {
        operands.push((View::new(constant.shape())?.broadcast(&output.shape)?, constant.bytes().into()));
    }
    let bytes = with_element_type!(op.dtype, T => maxima::<T>(op, &operands, output.len())?);
    Ok(vec![Tensor::from_bytes(output.dtype, output.shape, bytes)?])
}

fn maxima<T: Element>(op: &Max, operands: &[(View, Cow<[u8]>)], len: u64) -> Result<Vec<u8>, Error> {
    let mut maxima: Vec<T> = room(ANSWER, len)?;
    for (view, bytes) in operands {
        let own = Walk::starts(view, &[]).map(|address| element::<T>(bytes, address));
        match maxima.is_empty() {
            true => maxima.extend(own),
            false => maxima.iter_mut().zip(own).for_each(|(a, b)| *a = greater(*a, b, op.nan)),
        }
    }
    bytes_of(len, maxima.into_iter().map(canonical))
}
