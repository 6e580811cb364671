//! The workloads of `workloads.json`, shapes of real models, on one adapter: median time of record + submit + wait with
//! the data on the device, beside the pace of memory measured in the same run.
//!
//! ```text
//! cargo bench --bench workloads -- [--workloads FILE] [--adapter NAME] [--only NAME]... [--scale F] [--seconds S]
//!                                  [--json FILE]
//! ```
//!
//! `bytes` are the fewest: each input read once, each output written once. The limit is what the same number of bytes
//! takes at memory's pace: on a CPU adapter a read by all cores with vector instructions, on a GPU a device copy (bytes
//! read plus bytes written).

#[path = "../examples/common/mod.rs"]
mod common;

use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use common::{Failure, Resident, gigabytes_per_second, least_bytes};
use serde_json::{Value, json};
use wgmax::{ArgMax, DType, Gpu, Hardmax, Max, Operation, ReduceMax, Slices, Tensor, View, wgpu};

struct Options {
    workloads: PathBuf,
    adapter: Option<String>,
    only: Vec<String>,
    scale: f64,
    seconds: f64,
    json: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    let list: Vec<Value> = serde_json::from_slice(&fs::read(&options.workloads)?)?;
    let Some(gpu) = common::open(options.adapter.clone())? else {
        return Err("there is nothing to time without an adapter".into());
    };
    let mut json = options.json.as_ref().map(fs::File::create).transpose()?;
    println!(
        "{:<20} {:>10} {:>9} {:>10} {:>8} {:>8} {:>6}",
        "name", "dispatches", "MB", "median ms", "GB/s", "limit", "ratio"
    );
    let picked = |work: &&Value| options.only.is_empty() || options.only.iter().any(|name| work["name"] == **name);
    for work in list.iter().filter(picked) {
        let name = work["name"].as_str().unwrap_or("?");
        eprint!("{name} …\r"); // this can take a while
        let row = time(&gpu, work, &options).map_err(|error| format!("{name}: {error}"))?;
        println!(
            "{name:<20} {:>10} {:>9.2} {:>10.3} {:>8.2} {:>8.2} {:>6.2}",
            row["dispatches"].as_u64().unwrap_or(0),
            row["bytes"].as_f64().unwrap_or(0.0) / 1e6,
            row["median_ms"].as_f64().unwrap_or(0.0),
            row["gb_per_s"].as_f64().unwrap_or(0.0),
            row["limit_gb_per_s"].as_f64().unwrap_or(0.0),
            row["ratio"].as_f64().unwrap_or(0.0),
        );
        if let Some(file) = &mut json {
            writeln!(file, "{row}")?;
        }
    }
    Ok(())
}

fn options() -> Result<Options, Failure> {
    let mut args = pico_args::Arguments::from_env();
    args.contains("--bench"); // cargo says so
    let options = Options {
        workloads: args.opt_value_from_str("--workloads")?.unwrap_or_else(|| "benches/workloads.json".into()),
        adapter: args.opt_value_from_str("--adapter")?,
        only: args.values_from_str("--only")?,
        scale: args.opt_value_from_str("--scale")?.unwrap_or(1.0),
        seconds: args.opt_value_from_str("--seconds")?.unwrap_or(1.0),
        json: args.opt_value_from_str("--json")?,
    };
    match args.finish().as_slice() {
        [] => Ok(options),
        rest => Err(format!("cannot make sense of {rest:?}").into()),
    }
}

fn time(gpu: &Gpu, work: &Value, options: &Options) -> Result<Value, Failure> {
    let dtype = dtype(&work["dtype"])?;
    let shapes = shapes(work, options.scale)?;
    let op = operation(work, dtype, &shapes)?;
    let inputs: Vec<Tensor> = shapes.iter().map(|shape| data(dtype, shape)).collect::<Result<_, _>>()?;
    let resident = Resident::new(gpu, &*op, &inputs.iter().collect::<Vec<_>>())?;
    let bytes = least_bytes(&*op)?;
    let limit = Limit::new(gpu, bytes);
    resident.step()?; // the first run pays for what is made lazily
    let (mut times, mut limits) = (Vec::new(), Vec::new());
    let begin = Instant::now();
    while times.len() < 5 || (begin.elapsed().as_secs_f64() < options.seconds && times.len() < 500) {
        times.push(resident.step()?);
        limits.push(limit.step(gpu)?); // interleaved: the machine's pace drifts
    }
    let (median, limit) = (median(times), median(limits));
    Ok(json!({
        "name": work["name"],
        "op": work["op"],
        "dtype": work["dtype"],
        "shapes": shapes,
        "adapter": gpu.info().name,
        "dispatches": op.plan(gpu.kernels().limits())?.passes.len(),
        "bytes": bytes,
        "median_ms": median.as_secs_f64() * 1e3,
        "gb_per_s": gigabytes_per_second(bytes, median),
        "limit_gb_per_s": gigabytes_per_second(bytes, limit),
        "ratio": limit.as_secs_f64() / median.as_secs_f64(),
    }))
}

fn dtype(name: &Value) -> Result<DType, Failure> {
    Ok(match name.as_str() {
        Some("float32") => DType::F32,
        Some("float16") => DType::F16,
        Some("bfloat16") => DType::Bf16,
        Some("float64") => DType::F64,
        Some("int64") => DType::I64,
        Some("uint8") => DType::U8,
        _ => return Err(format!("unknown dtype {name}").into()),
    })
}

/// The shapes, their outermost dimensions multiplied by the scale where they are more than 1.
fn shapes(work: &Value, scale: f64) -> Result<Vec<Vec<u64>>, Failure> {
    let mut shapes: Vec<Vec<u64>> = serde_json::from_value(work["shapes"].clone())?;
    for shape in &mut shapes {
        if let Some(outermost) = shape.first_mut().filter(|size| **size > 1) {
            *outermost = ((*outermost as f64 * scale) as u64).max(1);
        }
    }
    Ok(shapes)
}

fn operation(work: &Value, dtype: DType, shapes: &[Vec<u64>]) -> Result<Box<dyn Operation>, Failure> {
    let mut views = shapes.iter().map(|shape| View::new(shape.clone())).collect::<Result<Vec<_>, _>>()?;
    let axis = work["axis"].as_i64().unwrap_or(-1);
    Ok(match work["op"].as_str() {
        Some("ReduceMax") => {
            let axes: Vec<i64> = serde_json::from_value(work["axes"].clone())?;
            Box::new(ReduceMax::new(dtype, views.remove(0)).axes(axes))
        }
        Some("ArgMax") => Box::new(ArgMax::new(dtype, views.remove(0)).axes([axis])),
        Some("Hardmax") => Box::new(Hardmax::new(dtype, views.remove(0), Slices::Along(axis))),
        Some("Max") => Box::new(Max::new(dtype, views)),
        _ => return Err(format!("unknown operator {}", work["op"]).into()),
    })
}

/// Random elements: floats in the range of 1 to 2 and their negatives, any integers.
fn data(dtype: DType, shape: &[u64]) -> Result<Tensor, wgmax::Error> {
    let len: u64 = shape.iter().product();
    let size = dtype.bytes() as usize;
    let mut state = 1_u64;
    let mut bytes = Vec::with_capacity(len as usize * size);
    for _ in 0..len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = state ^ (state >> 33);
        let bits = match dtype {
            DType::F32 => word & 0x807f_ffff | 0x3f80_0000,
            DType::F16 => word & 0x83ff | 0x3c00,
            DType::Bf16 => word & 0x807f | 0x3f80,
            DType::F64 => word & 0x800f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000,
            _ => word,
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    Tensor::from_bytes(dtype, shape, bytes)
}

/// Memory's pace for a number of bytes.
enum Limit {
    /// The cores read them.
    Read(Vec<u64>),
    /// The device copies half of them: each is read and written.
    Copy(wgpu::Buffer, wgpu::Buffer),
}

impl Limit {
    fn new(gpu: &Gpu, bytes: u64) -> Limit {
        if gpu.info().device_type == wgpu::DeviceType::Cpu {
            return Limit::Read(vec![1; bytes.div_ceil(8) as usize]);
        }
        let buffer = |usage| {
            let size = (bytes / 2).next_multiple_of(4).max(4);
            gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        Limit::Copy(buffer(wgpu::BufferUsages::COPY_SRC), buffer(wgpu::BufferUsages::COPY_DST))
    }

    fn step(&self, gpu: &Gpu) -> Result<Duration, Failure> {
        let begin = Instant::now();
        match self {
            Limit::Read(words) => {
                let cores = thread::available_parallelism()?.get();
                thread::scope(|scope| {
                    for part in words.chunks(words.len().div_ceil(cores)) {
                        scope.spawn(move || black_box(part.iter().fold(0, |a, b| a | b)));
                    }
                });
            }
            Limit::Copy(from, to) => {
                let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
                gpu.queue().submit([encoder.finish()]);
                gpu.device().poll(wgpu::PollType::wait_indefinitely())?;
            }
        }
        Ok(begin.elapsed())
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
