use super::{Walk, bytes_of, canonical, element, gathered, greater};
use crate::element::{Element, with_element_type};
use crate::{EmptyMax, Error, ReduceMax, Tensor, View};

pub(crate) fn reduce_max(op: &ReduceMax, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
    let (view, input) = gathered(op.dtype, &op.input, inputs)?;
    let reduced = op.checked()?;
    let output = op.output_types()?.remove(0);
    let bytes = with_element_type!(op.dtype, T => maxima::<T>(op, &view, &input, &reduced, output.len())?);
    Ok(vec![Tensor::from_bytes(output.dtype, output.shape, bytes)?])
}

fn maxima<T: Element>(
    op: &ReduceMax,
    view: &View,
    bytes: &[u8],
    reduced: &[usize],
    len: u64,
) -> Result<Vec<u8>, Error> {
    let nothing = if op.empty == EmptyMax::LowestFinite { T::LOWEST_FINITE } else { T::LEAST };
    let offsets = Walk::along(view, reduced);
    let maximum = |start: i64| {
        let slice = offsets.clone().map(|offset| element::<T>(bytes, start + offset));
        canonical(slice.reduce(|a, b| greater(a, b, op.nan)).unwrap_or(nothing))
    };
    bytes_of(len, Walk::starts(view, reduced).map(maximum))
}
