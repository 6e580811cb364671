//! ONNX's node-test layout: a folder for each case, a folder in it for each data set.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use wgmax::half::{bf16, f16};
use wgmax::onnx::proto;
use wgmax::{DType, Tensor};

use crate::dialects::Program;
use crate::{Backend, Outcome};

/// How outputs are held against the expected ones.
#[derive(Default)]
pub struct Comparison {
    /// -0 differs from +0.
    pub exact: bool,
    /// Outputs that no file gives are written.
    pub write: bool,
}

/// What became of a data set.
enum Verdict {
    Pass,
    Fail(String),
}

/// Runs every data set of these cases and prints a line for each; whether all of them passed.
pub fn run(cases: &[PathBuf], comparison: &Comparison, backend: &Backend) -> bool {
    let (mut passed, mut failed, mut errors) = (0, 0, 0);
    let mut report = std::io::stdout().lock();
    for case in cases {
        for (name, outcome) in run_case(case, comparison, backend) {
            let line = match outcome {
                Ok(Verdict::Pass) => {
                    passed += 1;
                    format!("pass {name}")
                }
                Ok(Verdict::Fail(difference)) => {
                    failed += 1;
                    format!("FAIL {name}: {difference}")
                }
                Err(error) => {
                    errors += 1;
                    format!("error {name}: {}", error.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
                }
            };
            let _ = writeln!(report, "{line}"); // a reader that went away needs no more lines
        }
    }
    let _ = writeln!(report, "{passed} passed, {failed} failed, {errors} errors");
    failed + errors == 0
}

fn run_case(case: &Path, comparison: &Comparison, backend: &Backend) -> Vec<(String, Outcome<Verdict>)> {
    let name =
        case.canonicalize().unwrap_or(case.into()).file_name().map_or(String::new(), |n| n.display().to_string());
    let sets = match data_sets(case) {
        Ok(sets) => sets,
        Err(error) => return vec![(name, Err(error))],
    };
    let program = fs::read(case.join("model.onnx"))
        .map_err(|error| format!("model.onnx: {error}"))
        .and_then(|bytes| Program::decode(&bytes).map_err(|error| error.to_string()));
    let run = |set: PathBuf| {
        let name = format!("{name}/{}", set.file_name().unwrap_or_default().display());
        let outcome = match &program {
            Ok(program) => run_data_set(program, &set, comparison, backend),
            Err(error) => Err(error.as_str().into()),
        };
        (name, outcome)
    };
    sets.into_iter().map(run).collect()
}

/// The folders `test_data_set_N`, in order.
fn data_sets(case: &Path) -> Outcome<Vec<PathBuf>> {
    let mut sets = Vec::new();
    for entry in fs::read_dir(case).map_err(|error| format!("{}: {error}", case.display()))? {
        let path = entry?.path();
        if let Some(n) = path.file_name().and_then(|n| n.to_str()?.strip_prefix("test_data_set_")) {
            sets.push((n.parse().unwrap_or(u64::MAX), path));
        }
    }
    sets.sort();
    if sets.is_empty() {
        Err("no folder test_data_set_*".into())
    } else {
        Ok(sets.into_iter().map(|(_, p)| p).collect())
    }
}

fn run_data_set(program: &Program, set: &Path, comparison: &Comparison, backend: &Backend) -> Outcome<Verdict> {
    let inputs = (0..).map(|n| set.join(format!("input_{n}.pb"))).take_while(|path| path.exists());
    let inputs = inputs.map(|path| read_tensor(&path)).collect::<Outcome<Vec<Tensor>>>()?;
    let outputs = program.run(inputs, backend)?;
    for (n, got) in outputs.iter().enumerate() {
        let path = set.join(format!("output_{n}.pb"));
        if path.exists() {
            if let Some(difference) = first_difference(got, &read_tensor(&path)?, comparison.exact) {
                return Ok(Verdict::Fail(format!("output {n}: {difference}")));
            }
        } else if comparison.write {
            fs::write(path, proto::encode(&proto::TensorProto::from(got)))?;
        } else {
            return Err(format!("output_{n}.pb does not exist").into());
        }
    }
    Ok(Verdict::Pass)
}

fn read_tensor(path: &Path) -> Outcome<Tensor> {
    let at = |error: String| format!("{}: {error}", path.file_name().unwrap_or_default().display());
    let bytes = fs::read(path).map_err(|error| at(error.to_string()))?;
    let message = proto::decode::<proto::TensorProto>(&bytes).map_err(|error| at(error.to_string()))?;
    Ok(Tensor::try_from(&message).map_err(|error| at(error.to_string()))?)
}

fn first_difference(got: &Tensor, expected: &Tensor, exact: bool) -> Option<String> {
    let (got_type, expected_type) = (got.tensor_type(), expected.tensor_type());
    if got_type != expected_type {
        let show = |t: &wgmax::TensorType| format!("{} {:?}", t.dtype, t.shape);
        return Some(format!("got {}, expected {}", show(got_type), show(expected_type)));
    }
    let size = got.dtype().bytes() as usize;
    let mut pairs = got.bytes().chunks(size).zip(expected.bytes().chunks(size)).enumerate();
    let (index, (got, expected)) = pairs.find(|(_, (got, expected))| !equal(got_type.dtype, got, expected, exact))?;
    let show = |bytes: &[u8]| {
        let hex: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        format!("{} (0x{hex})", decimal(got_type.dtype, bytes))
    };
    Some(format!("index {index}: got {}, expected {}", show(got), show(expected)))
}

fn equal(dtype: DType, got: &[u8], expected: &[u8], exact: bool) -> bool {
    if got == expected || !dtype.is_float() {
        return got == expected;
    }
    let (got, expected) = (float(dtype, got), float(dtype, expected));
    got.is_nan() && expected.is_nan() || got == 0.0 && expected == 0.0 && !exact
}

/// A float of any width.
fn float(dtype: DType, bytes: &[u8]) -> f64 {
    match (dtype, bytes) {
        (DType::F16, &[a, b]) => f16::from_le_bytes([a, b]).into(),
        (DType::Bf16, &[a, b]) => bf16::from_le_bytes([a, b]).into(),
        (DType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
        (_, bytes) => f64::from_le_bytes(bytes.try_into().unwrap_or_default()),
    }
}

fn decimal(dtype: DType, bytes: &[u8]) -> String {
    if dtype.is_float() {
        return float(dtype, bytes).to_string();
    }
    let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    let negative = signed && bytes.last().is_some_and(|byte| byte >> 7 == 1);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(wide).to_string()
}
