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

/// docs/operations.md: each of its examples is what it says.
#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, to_value};

    use super::*;

    fn examples() -> Vec<Value> {
        let blocks = include_str!("../../docs/operations.md").split("```json\n").skip(1);
        blocks.map(|block| serde_json::from_str(block.split("```").next().unwrap()).unwrap()).collect()
    }

    #[test]
    fn documented_operations_have_plans_and_name_every_field() {
        let mut complete = BTreeSet::new();
        for example in examples() {
            let text = example.to_string();
            let Ok(operation) = read::<AnyOperation>("operation", &text) else { continue };
            plan(&text, None).unwrap_or_else(|error| panic!("{text}: {error}"));
            if to_value(&operation).unwrap() == example {
                complete.insert(operation.name());
            }
        }
        assert_eq!(Vec::from_iter(complete), ["ArgMax", "Hardmax", "Max", "ReduceMax"]);
    }

    #[test]
    fn every_type_is_documented() {
        let text = include_str!("../../docs/operations.md");
        assert!(wgmax::DType::ALL.iter().all(|dtype| text.contains(&format!("`{dtype}`"))));
    }

    #[test]
    fn documented_limits_are_the_defaults() {
        assert!(examples().contains(&to_value(Limits::default()).unwrap()));
    }

    #[test]
    fn the_documented_signature_is_that_of_max() {
        let max = examples().into_iter().find(|example| example.get("Max").is_some()).unwrap();
        let signature: Value = serde_json::from_str(&signature(&max.to_string()).unwrap()).unwrap();
        assert!(examples().contains(&signature), "{signature}");
    }

    #[test]
    fn every_documented_block_is_one_of_these() {
        let known = |example: &Value| {
            let text = example.to_string();
            read::<AnyOperation>("operation", &text).is_ok()
                || read::<Limits>("limits", &text).is_ok()
                || example.get("outputs").is_some()
        };
        assert_eq!(examples().iter().filter(|example| !known(example)).collect::<Vec<_>>(), Vec::<&Value>::new());
        assert_eq!(examples().len(), 7);
    }
}
