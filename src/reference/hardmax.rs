use super::arg_max::first_maximum;
use super::{Walk, element, gathered};
use crate::element::{Element, with_element_type};
use crate::tensor::{ANSWER, room};
use crate::{Error, Hardmax, Tensor, View};

pub(crate) fn hardmax(op: &Hardmax, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
    let (view, input) = gathered(op.dtype, &op.input, inputs)?;
    let slice = op.checked()?;
    let output = op.output_types()?.remove(0);
    let len = output.bytes().unwrap_or(0);
    let mut zeros: Vec<u8> = room(ANSWER, len)?;
    zeros.resize(len as usize, 0);
    if zeros.is_empty() {
        return Ok(vec![Tensor::from_bytes(output.dtype, output.shape, zeros)?]); // though slices may be long
    }
    let bytes = with_element_type!(op.dtype, T => one_hot::<T>(op, &view, &input, &slice, zeros)?);
    Ok(vec![Tensor::from_bytes(output.dtype, output.shape, bytes)?])
}

fn one_hot<T: Element>(
    op: &Hardmax,
    view: &View,
    bytes: &[u8],
    slice: &[usize],
    mut output: Vec<u8>,
) -> Result<Vec<u8>, Error> {
    let written = View::new(view.shape())?;
    let offsets = Walk::along(view, slice);
    for (start, one_start) in Walk::starts(view, slice).zip(Walk::starts(&written, slice)) {
        let along = offsets.clone().map(|offset| element::<T>(bytes, start + offset));
        if let Some((position, _)) = first_maximum(along, op.nan, false)
            && let Some(offset) = Walk::along(&written, slice).nth(position as usize)
        {
            let at = (one_start + offset) as usize * size_of::<T>();
            T::ONE.write(&mut output[at..at + size_of::<T>()]);
        }
    }
    Ok(output)
}
