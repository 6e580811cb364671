//! What the npm package asks of wgmax: plans, and the types of what operations read and write.
//!
//! Operations come as numbers (`web/src/encoded.ts` writes them), because reading JSON would double this module.

mod words;

use serde::Serialize;
use wasm_bindgen::prelude::*;
use wgmax::plan::PortablePlan;
use wgmax::{InputNeed, Operation, TensorType};

use words::Words;

/// What an operation reads and writes.
#[derive(Serialize)]
struct Signature {
    inputs: Vec<InputNeed>,
    outputs: Vec<TensorType>,
}

/// The portable plan of an operation for a device's limits, as JSON.
#[wasm_bindgen]
pub fn plan(operation: &[i64], limits: &[i64]) -> Result<String, JsError> {
    let plan = Words::new(operation).operation()?.plan(&Words::new(limits).limits()?)?;
    Ok(json(&PortablePlan::from(&plan)))
}

/// The inputs and outputs of an operation, as JSON.
#[wasm_bindgen]
pub fn signature(operation: &[i64]) -> Result<String, JsError> {
    let op = Words::new(operation).operation()?;
    Ok(json(&Signature { inputs: op.inputs()?, outputs: op.outputs()? }))
}

/// It fails only for maps whose keys are no text, and there are none.
fn json(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_default()
}
