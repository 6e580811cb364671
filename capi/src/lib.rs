//! The planner of wgmax behind a C ABI: operations and limits as JSON in, plans as JSON out. There is no wgpu in it, and no
//! GPU: a host executes the plan on whatever WebGPU it has.
//!
//! `include/wgmax.h` is written from `src/abi.rs`.

mod abi;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wgmax::plan::PortablePlan;
use wgmax::{AnyOperation, InputNeed, Limits, Operation, TensorType};

/// What an operation reads and writes.
#[derive(Serialize)]
struct Signature {
    inputs: Vec<InputNeed>,
    outputs: Vec<TensorType>,
}

/// The portable plan of an operation, as JSON.
fn plan(operation: &str, limits: Option<&str>) -> Result<String, String> {
    let operation: AnyOperation = read("operation", operation)?;
    let limits: Limits = limits.map_or(Ok(Limits::default()), |limits| read("limits", limits))?;
    let plan = operation.plan(&limits).map_err(|error| error.to_string())?;
    write(&PortablePlan::from(&plan))
}

/// The inputs and outputs of an operation, as JSON.
fn signature(operation: &str) -> Result<String, String> {
    let operation: AnyOperation = read("operation", operation)?;
    let inputs = operation.inputs().map_err(|error| error.to_string())?;
    let outputs = operation.outputs().map_err(|error| error.to_string())?;
    write(&Signature { inputs, outputs })
}

fn read<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| format!("{what}: {error}"))
}

fn write(data: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(data).map_err(|error| error.to_string())
}
