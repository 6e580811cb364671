//! What the npm package asks of wgmax: plans, and the types of what operations read and write.
//!
//! Operations come as numbers (`web/src/encoded.ts` writes them), because reading JSON would double this module.

mod calibrator;
mod words;

pub use calibrator::Calibrator;
use lol_alloc::{FreeListAllocator, LockedAllocator};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wgmax::plan::PortablePlan;
use wgmax::{AdapterKind, InputNeed, Limits, Operation, TensorType, Tuning, TuningField};

use words::{Words, operation};

/// The standard library's would be a twentieth of this module. Ordinary plans take as long with this one.
#[global_allocator]
static ALLOCATOR: LockedAllocator<FreeListAllocator> = LockedAllocator::new(FreeListAllocator::new());

/// What an operation reads and writes.
#[derive(Serialize)]
struct Signature {
    inputs: Vec<InputNeed>,
    outputs: Vec<TensorType>,
}

/// The portable plan of an operation for a device's limits, as JSON.
#[wasm_bindgen]
pub fn plan(words: &[i64], constant: &[u8], limits: &[i64]) -> Result<String, JsError> {
    let plan = operation(words, constant)?.plan(&read_limits(limits)?)?;
    Ok(json(&PortablePlan::from(&plan)))
}

/// The inputs and outputs of an operation, as JSON.
#[wasm_bindgen]
pub fn signature(words: &[i64], constant: &[u8]) -> Result<String, JsError> {
    let op = operation(words, constant)?;
    Ok(json(&Signature { inputs: op.inputs()?, outputs: op.outputs()? }))
}

fn read_limits(words: &[i64]) -> Result<Limits, JsError> {
    let mut words = Words::new(words);
    let adapter = words.choice(&AdapterKind::ALL);
    let limits = Limits {
        adapter,
        max_binding_bytes: words.size(),
        binding_alignment_bytes: words.size(),
        max_storage_bindings: limit(&mut words),
        max_group_invocations: limit(&mut words),
        max_group_memory_bytes: limit(&mut words),
        max_groups: limit(&mut words),
        int64: false, // WebGPU has none
        shared_buffers: words.flag(),
        tuning: words.list().map(|numbers| tuning(adapter, &numbers)),
    };
    words.end()?;
    Ok(limits)
}

/// The numbers in the order of their list. What is missing is that of the adapter.
fn tuning(adapter: AdapterKind, numbers: &[i64]) -> Tuning {
    let mut tuning = Tuning { int64: false, ..Tuning::of(adapter) };
    for (TuningField { get_mut, .. }, &number) in Tuning::FIELDS.iter().zip(numbers) {
        *get_mut(&mut tuning) = number as u64; // one below 0 is out of range
    }
    tuning
}

/// A device may have more of it than 32 bits count.
fn limit(words: &mut Words) -> u32 {
    words.size().min(u32::MAX.into()) as u32
}

/// It fails only for maps whose keys are no text, and there are none.
fn json(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_default()
}
