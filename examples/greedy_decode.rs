//! Greedy decoding: from logits to the next token with its value (ArgMax, one read for both), and to its one-hot row
//! (Hardmax), for a vocabulary of 128 256 entries. Logits and answers stay on the device, as they would in an engine.
//!
//! ```text
//! cargo run --release --example greedy_decode [-- --adapter NAME]
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;

use common::{Failure, Resident, gigabytes_per_second, least_bytes};
use wgmax::half::f16;
use wgmax::{ArgMax, ArgMaxOutput, DType, Gpu, Hardmax, IndexType, Operation, Plan, Slices, Tensor, View};

const USAGE: &str = "usage: greedy_decode [--adapter NAME]";
const VOCABULARY: u64 = 128_256;
const STEPS: usize = 31;

fn main() -> ExitCode {
    let gpu = match open_from_args() {
        Ok(gpu) => gpu,
        Err(error) => return common::fail("greedy_decode", 2, &error),
    };
    if gpu.is_some() {
        println!("Times are medians of {STEPS} steps: record, submit, wait until the device is done.");
        println!("GB/s count each logit read once and each answer written once.");
    }
    for batch in [1, 64] {
        for dtype in [DType::F32, DType::F16] {
            if let Err(error) = decode(gpu.as_ref(), batch, dtype) {
                return common::fail("greedy_decode", 1, &error);
            }
        }
    }
    ExitCode::SUCCESS
}

fn open_from_args() -> Result<Option<Gpu>, Failure> {
    let mut args = pico_args::Arguments::from_env();
    let adapter: Option<String> = args.opt_value_from_str("--adapter")?;
    match args.finish().as_slice() {
        [] => common::open(adapter),
        rest => Err(format!("cannot make sense of {rest:?}; {USAGE}").into()),
    }
}

fn decode(gpu: Option<&Gpu>, batch: u64, dtype: DType) -> Result<(), Failure> {
    println!("\nlogits {batch} × {VOCABULARY}, {dtype}");
    let logits = logits(batch, dtype)?;
    let view = View::new(logits.shape())?;
    let next = ArgMax::new(dtype, view.clone())
        .axes([-1])
        .index(IndexType::U32) // what an embedding look-up on the device wants
        .output(ArgMaxOutput::ValuesAndIndices);
    let one_hot = Hardmax::new(dtype, view, Slices::Along(-1));
    let answer = run(gpu, &next, &logits)?;
    run(gpu, &one_hot, &logits)?;
    let (tokens, values) = (answer[1].to_vec::<u32>()?, to_f32(&answer[0])?);
    let shown: Vec<String> = tokens.iter().zip(values).take(3).map(|(t, v)| format!("{t} ({v:.3})")).collect();
    println!("  next tokens: {}{}", shown.join(", "), if batch > 3 { ", …" } else { "" });
    Ok(())
}

/// Times an operation on the device, where there is one, and holds it against the reference.
fn run(gpu: Option<&Gpu>, op: &impl Operation, logits: &Tensor) -> Result<Vec<Tensor>, Failure> {
    let reference = op.reference(&[logits])?;
    let Some(gpu) = gpu else {
        return Ok(reference);
    };
    let resident = Resident::new(gpu, op, &[logits])?;
    resident.step()?; // the first one also pays for what the driver puts off
    let time = median_step(&resident)?;
    let answer = resident.read()?;
    if answer != reference {
        return Err(format!("{}: the answer differs from the reference's", op.name()).into());
    }
    let ms = time.as_secs_f64() * 1e3;
    let rate = gigabytes_per_second(least_bytes(op)?, time);
    println!("  {:8} {ms:8.3} ms {rate:7.2} GB/s  bit-equal to the reference", op.name());
    print_passes(&op.plan(gpu.kernels().limits())?);
    Ok(answer)
}

fn median_step(resident: &Resident<'_>) -> Result<Duration, Failure> {
    let mut times = (0..STEPS).map(|_| resident.step()).collect::<Result<Vec<_>, _>>()?;
    times.sort_unstable();
    Ok(times[STEPS / 2])
}

fn print_passes(plan: &Plan) {
    for (n, dispatch) in plan.dispatches.iter().enumerate() {
        println!("    dispatch {}: {}, workgroups {:?}", n + 1, dispatch.kernel, dispatch.grid);
    }
}

/// Logits around 0, roughly normal with a standard deviation of 4, the same at every run. In f16 many are equal;
/// where the largest are, the first of them is the answer.
fn logits(batch: u64, dtype: DType) -> Result<Tensor, wgmax::Error> {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407); // Knuth's MMIX
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let elements = (0..batch * VOCABULARY).map(|_| 4.0 * (uniform() + uniform() + uniform() + uniform() - 2.0) * 1.73);
    let shape = [batch, VOCABULARY];
    match dtype {
        DType::F16 => Tensor::new(shape, &elements.map(f16::from_f32).collect::<Vec<_>>()),
        _ => Tensor::new(shape, &elements.collect::<Vec<f32>>()),
    }
}

fn to_f32(values: &Tensor) -> Result<Vec<f32>, wgmax::Error> {
    match values.dtype() {
        DType::F16 => Ok(values.to_vec::<f16>()?.into_iter().map(f16::to_f32).collect()),
        _ => values.to_vec(),
    }
}
