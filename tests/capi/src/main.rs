//! Writes the cases that every route takes as a file: each a line of JSON, and behind it the bytes of its inputs and of
//! the outputs expected.
//!
//! The line has the case's name, the operation, the kind of adapter to plan for, and how many bytes each input and each
//! output has.

#[path = "../../common/mod.rs"]
mod common;

use std::fs::File;
use std::io::{BufWriter, Write};

use common::cases;
use serde_json::json;
use wgmax::{Operation, Tensor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("the file to write expected")?;
    let mut file = BufWriter::new(File::create(path)?);
    for (case, adapter) in cases::sample() {
        let inputs = case.inputs();
        let expected = case.op.reference(&inputs.iter().collect::<Vec<_>>())?;
        let sizes = |tensors: &[Tensor]| tensors.iter().map(|own| own.bytes().len()).collect::<Vec<_>>();
        let line = json!({
            "name": format!("{} as for a {adapter:?}", case.name),
            "operation": case.op,
            "adapter": adapter,
            "inputs": sizes(&inputs),
            "expected": sizes(&expected),
        });
        writeln!(file, "{line}")?;
        for tensor in inputs.iter().chain(&expected) {
            file.write_all(tensor.bytes())?;
        }
    }
    Ok(file.flush()?)
}
