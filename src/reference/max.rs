use std::borrow::Cow;

use super::{Elements, canonical, gathered, greater};
use crate::element::{Element, to_bytes, with_element_type};
use crate::{Error, Max, Operation, Tensor, View};

pub(crate) fn max(op: &Max, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
    let output = op.outputs()?.remove(0);
    let mut operands: Vec<(View, Cow<[u8]>)> = Vec::new();
    let mut inputs = inputs;
    for input in &op.inputs {
        let (own, rest) = inputs.split_at(input.views().len());
        let (view, bytes) = gathered(op.dtype, input, own)?;
        operands.push((view.broadcast(&output.shape)?, bytes));
        inputs = rest;
    }
    if let Some(constant) = &op.constant {
        operands.push((View::new(constant.shape())?.broadcast(&output.shape)?, constant.bytes().into()));
    }
    let bytes = with_element_type!(op.dtype, T => maxima::<T>(op, &operands));
    Ok(vec![Tensor::from_bytes(output.dtype, output.shape, bytes)?])
}

fn maxima<T: Element>(op: &Max, operands: &[(View, Cow<[u8]>)]) -> Vec<u8> {
    let mut maxima: Vec<T> = Vec::new();
    for (view, bytes) in operands {
        let elements = Elements { bytes, view };
        let own = elements.slice_starts(&[]).map(|address| elements.get::<T>(address));
        maxima = match maxima.is_empty() {
            true => own.collect(),
            false => maxima.iter().zip(own).map(|(&a, b)| greater(a, b, op.nan)).collect(),
        };
    }
    to_bytes(&maxima.into_iter().map(canonical).collect::<Vec<T>>())
}
