//! Runs ONNX models whose graphs are made of this crate's operators.
//!
//! ```text
//! cargo run --release --features onnx --example onnx_run -- CASE_DIR...
//!     [--backend gpu|cpu] [--adapter NAME] [--exact] [--write]
//! cargo run --release --features onnx --example onnx_run -- MODEL.onnx INPUT.npy... -o OUT.npy [-o OUT.npy]...
//!     [--backend gpu|cpu] [--adapter NAME]
//! ```
//!
//! A CASE_DIR is one of ONNX's own node tests: `model.onnx` beside `test_data_set_*/input_N.pb` and `output_N.pb`. Each
//! data set prints `pass NAME`, `FAIL NAME: …` or `error NAME: …`; the last line counts them. NaN equals NaN, and -0
//! equals +0 unless `--exact`; `--write` writes the outputs that no file gives. A case of one `ReduceMax` in the domain
//! `openvino` or `onednn` is resolved by that dialect.

mod cases;
mod dialects;
mod npy;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use wgmax::onnx::{Graph, Model};
use wgmax::{Error, Gpu, GpuOptions, Operation, Tensor};

/// Whatever ends a run or a case: a message for people.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: onnx_run CASE_DIR... [--backend gpu|cpu] [--adapter NAME] [--exact] [--write]
       onnx_run MODEL.onnx INPUT.npy... -o OUT.npy [--backend gpu|cpu] [--adapter NAME]";

#[derive(Default)]
struct Arguments {
    paths: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
    cpu: bool,
    adapter: Option<String>,
    comparison: cases::Comparison,
}

impl Arguments {
    /// Paths may be any bytes; options that are not UTF-8 are no options.
    fn parse(mut words: impl Iterator<Item = OsString>) -> Outcome<Arguments> {
        let mut arguments = Arguments::default();
        while let Some(word) = words.next() {
            let shown = word.to_string_lossy();
            let mut value = || words.next().ok_or(format!("{shown} needs a value\n{USAGE}"));
            match &*shown {
                "--backend" => match &*value()?.to_string_lossy() {
                    "gpu" => arguments.cpu = false,
                    "cpu" => arguments.cpu = true,
                    other => return Err(format!("--backend {other:?}, gpu or cpu expected").into()),
                },
                "--adapter" => arguments.adapter = Some(value()?.to_string_lossy().into()),
                "-o" => arguments.outputs.push(value()?.into()),
                "--exact" => arguments.comparison.exact = true,
                "--write" => arguments.comparison.write = true,
                option if option.starts_with('-') => return Err(format!("no option {option}\n{USAGE}").into()),
                _ => arguments.paths.push((&word).into()),
            }
        }
        if arguments.paths.is_empty() { Err(USAGE.into()) } else { Ok(arguments) }
    }
}

/// Where graphs run.
enum Backend {
    Gpu(Box<Gpu>),
    Cpu,
}

impl Backend {
    fn new(arguments: &Arguments) -> Result<Backend, Error> {
        if arguments.cpu {
            return Ok(Backend::Cpu);
        }
        let gpu = Gpu::new_blocking(&GpuOptions { adapter: arguments.adapter.clone(), ..Default::default() })?;
        eprintln!("running on {gpu}");
        Ok(Backend::Gpu(Box::new(gpu)))
    }

    fn run(&self, graph: &Graph) -> Result<Vec<Tensor>, Error> {
        match self {
            Backend::Gpu(gpu) => graph.run_blocking(gpu),
            Backend::Cpu => graph.reference(),
        }
    }

    fn run_operation(&self, operation: &dyn Operation, input: &Tensor) -> Result<Vec<Tensor>, Error> {
        match self {
            Backend::Gpu(gpu) => gpu.run_blocking(operation, &[input]),
            Backend::Cpu => operation.reference(&[input]),
        }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Outcome<ExitCode> {
    let arguments = Arguments::parse(std::env::args_os().skip(1))?;
    let is_model = arguments.paths[0].extension().is_some_and(|extension| extension == "onnx");
    let other = match is_model {
        true => arguments.comparison.exact || arguments.comparison.write,
        false => !arguments.outputs.is_empty(),
    };
    if other {
        return Err(format!("-o is for a model's arrays, --exact and --write are for cases\n{USAGE}").into());
    }
    let backend = Backend::new(&arguments)?;
    if is_model {
        return run_model(&arguments, &backend);
    }
    let passed = cases::run(&arguments.paths, &arguments.comparison, &backend);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A model on arrays of files.
fn run_model(arguments: &Arguments, backend: &Backend) -> Outcome<ExitCode> {
    let model = Model::decode(&std::fs::read(&arguments.paths[0])?)?;
    let inputs = arguments.paths[1..].iter().map(|path| npy::read(path)).collect::<Outcome<Vec<Tensor>>>()?;
    let outputs = backend.run(&model.graph(inputs)?)?;
    if outputs.len() != arguments.outputs.len() {
        return Err(format!("{} outputs, {} -o given", outputs.len(), arguments.outputs.len()).into());
    }
    arguments.outputs.iter().zip(&outputs).try_for_each(|(path, output)| npy::write(path, output))?;
    Ok(ExitCode::SUCCESS)
}
