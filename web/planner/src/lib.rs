//! What the npm package asks of wgmax: plans, the types of operations, and the reference's answers. JSON in, JSON out.

use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wgmax::plan::PortablePlan;
use wgmax::{AnyOperation, InputNeed, Limits, Operation, TensorType};

/// What an operation reads and writes.
#[derive(Serialize)]
struct Signature {
    inputs: Vec<InputNeed>,
    outputs: Vec<TensorType>,
}

/// The portable plan of an operation for a device's limits.
#[wasm_bindgen]
pub fn plan(operation: &str, limits: &str) -> Result<String, JsError> {
    let plan = operation_of(operation)?.plan(&read::<Limits>(limits)?)?;
    write(&PortablePlan::from(&plan))
}

/// The inputs and outputs of an operation.
#[wasm_bindgen]
pub fn signature(operation: &str) -> Result<String, JsError> {
    let op = operation_of(operation)?;
    write(&Signature { inputs: op.inputs()?, outputs: op.outputs()? })
}

fn operation_of(json: &str) -> Result<AnyOperation, JsError> {
    read(json)
}

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, JsError> {
    serde_json::from_str(json).map_err(|error| {
        let text = error.to_string();
        // Where in the text says nothing to someone who wrote no text.
        JsError::new(text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message))
    })
}

fn write(data: &impl Serialize) -> Result<String, JsError> {
    Ok(serde_json::to_string(data)?)
}
