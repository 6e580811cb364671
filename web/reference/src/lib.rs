//! The answers of wgmax's CPU reference, for the npm package: what a GPU's are held against.

#[path = "../../planner/src/words.rs"]
mod words;

use wasm_bindgen::prelude::*;
use wgmax::{Error, InputNeed, Operation, Tensor};

/// The reference's answer: the bytes of each output. Inputs are the bytes of the tensors that the views lie in.
#[wasm_bindgen]
pub fn reference(
    words: &[i64],
    constant: &[u8],
    inputs: Vec<js_sys::Uint8Array>,
) -> Result<Vec<js_sys::Uint8Array>, JsError> {
    let op = words::operation(words, constant)?;
    let needs = op.inputs()?;
    if needs.len() != inputs.len() {
        return Err(Error::WrongCount { what: "inputs", given: inputs.len(), expected: needs.len() }.into());
    }
    let inputs = needs.iter().zip(&inputs).map(|(need, bytes)| tensor(need, bytes)).collect::<Result<Vec<_>, _>>()?;
    let answer = op.reference(&inputs.iter().collect::<Vec<_>>())?;
    Ok(answer.iter().map(|output| output.bytes().into()).collect())
}

/// JavaScript may have arrays that this module's memory does not hold.
fn tensor(need: &InputNeed, input: &js_sys::Uint8Array) -> Result<Tensor, JsError> {
    let len = input.length() as usize / need.dtype.bytes() as usize * need.dtype.bytes() as usize;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(len)
        .map_err(|_| JsError::new(&format!("an input of {len} bytes is too large for the reference")))?;
    bytes.resize(len, 0);
    input.subarray(0, len as u32).copy_to(&mut bytes);
    Ok(Tensor::from_bytes(need.dtype, [len as u64 / need.dtype.bytes()], bytes)?)
}
