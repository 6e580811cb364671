//! The answers of wgmax's CPU reference, for the npm package: what a GPU's are held against.

use wasm_bindgen::prelude::*;
use wgmax::{AnyOperation, Error, InputNeed, Operation, Tensor};

/// The reference's answer: the bytes of each output. Inputs are the bytes of the tensors that the views lie in.
#[wasm_bindgen]
pub fn reference(operation: &str, inputs: Vec<js_sys::Uint8Array>) -> Result<Vec<js_sys::Uint8Array>, JsError> {
    let op: AnyOperation = serde_json::from_str(operation)?;
    let needs = op.inputs()?;
    if needs.len() != inputs.len() {
        return Err(Error::WrongCount { what: "inputs", given: inputs.len(), expected: needs.len() }.into());
    }
    let tensor = |(need, bytes): (&InputNeed, js_sys::Uint8Array)| {
        let bytes = bytes.to_vec();
        Tensor::from_bytes(need.dtype, [bytes.len() as u64 / need.dtype.bytes()], bytes)
    };
    let inputs = needs.iter().zip(inputs).map(tensor).collect::<Result<Vec<_>, _>>()?;
    let answer = op.reference(&inputs.iter().collect::<Vec<_>>())?;
    Ok(answer.iter().map(|output| output.bytes().into()).collect())
}
