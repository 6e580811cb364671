//! What an operation costs the host: planning, preparing with warm pipelines, binding, recording (beside the bare wgpu
//! calls that it makes), one tiny operation from call to answer, and the first use of each operator.
//!
//! ```text
//! cargo bench --bench host -- [--workloads FILE] [--adapter NAME] [--json FILE]
//! ```
//!
//! First uses are timed before anything else. A driver may keep compiled shaders on disk; Mesa's is told not to by
//! `MESA_SHADER_CACHE_DISABLE=true`.

#[path = "../examples/common/mod.rs"]
mod common;
mod table;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use common::{Failure, Resident, whole};
use serde_json::{Value, json};
use table::{WORKLOADS, data, dtype, median, operation, shapes};
use wgmax::plan::{Dispatch, Kernel, Slot};
use wgmax::{DType, Gpu, Kernels, Operation, Plan, ReduceMax, Slots, Tensor, View, wgpu};

fn main() -> Result<(), Failure> {
    let mut args = pico_args::Arguments::from_env();
    args.contains("--bench"); // cargo says so
    let path: PathBuf = args.opt_value_from_str("--workloads")?.unwrap_or_else(|| WORKLOADS.into());
    let adapter: Option<String> = args.opt_value_from_str("--adapter")?;
    let json: Option<PathBuf> = args.opt_value_from_str("--json")?;
    if let [first, ..] = args.finish().as_slice() {
        return Err(format!("cannot make sense of {first:?}").into());
    }
    let list: Vec<Value> = serde_json::from_slice(&fs::read(path)?)?;
    let gpu = common::needed(adapter)?;
    let mut json = json.map(fs::File::create).transpose()?;
    let mut report = |row: Value| -> Result<(), Failure> {
        if let Some(file) = &mut json {
            writeln!(file, "{row}")?;
        }
        Ok(())
    };
    let ops = list.iter().map(named_operation).collect::<Result<Vec<_>, _>>()?;
    first_use_table(&gpu, &list, &ops, &mut report)?;
    println!();
    host_time_table(&gpu, &ops, &mut report)?;
    println!();
    latency_table(&gpu, &mut report)
}

type Named = (String, Box<dyn Operation>);

fn first_use_table(
    gpu: &Gpu,
    list: &[Value],
    ops: &[Named],
    report: &mut impl FnMut(Value) -> Result<(), Failure>,
) -> Result<(), Failure> {
    println!(
        "{:<12} {:>10} {:>10} {:>16} {:>16}",
        "first use of", "workloads", "pipelines", "median first ms", "all of them ms"
    );
    for operator in ["ReduceMax", "ArgMax", "Hardmax", "Max"] {
        let own: Vec<&dyn Operation> =
            list.iter().zip(ops).filter(|(work, _)| work["op"] == operator).map(|(_, (_, op))| &**op).collect();
        if own.is_empty() {
            continue;
        }
        let uses = first_uses(gpu, &own)?;
        let (count, pipelines) = (own.len(), uses.pipelines);
        let (each, all) = (milliseconds(uses.each), milliseconds(uses.all));
        println!("{operator:<12} {count:>10} {pipelines:>10} {each:>16.1} {all:>16.1}");
        report(
            json!({"first_use": operator, "workloads": count, "pipelines": pipelines, "each_ms": each, "all_ms": all}),
        )?;
    }
    Ok(())
}

fn host_time_table(
    gpu: &Gpu,
    ops: &[Named],
    report: &mut impl FnMut(Value) -> Result<(), Failure>,
) -> Result<(), Failure> {
    println!(
        "{:<20} {:>8} {:>11} {:>8} {:>10} {:>12} {:>8}",
        "name", "plan µs", "prepare µs", "bind µs", "record µs", "bare wgpu µs", "more µs"
    );
    for (name, op) in ops {
        let row = host_times(gpu, &**op).map_err(|error| format!("{name}: {error}"))?;
        let HostTimes { plan, prepare, bind, record, bare } = row;
        let more = record - bare;
        println!("{name:<20} {plan:>8.2} {prepare:>11.2} {bind:>8.2} {record:>10.2} {bare:>12.2} {more:>8.2}");
        report(
            json!({"name": name, "plan_us": plan, "prepare_us": prepare, "bind_us": bind, "record_us": record, "bare_us": bare}),
        )?;
    }
    Ok(())
}

fn latency_table(gpu: &Gpu, report: &mut impl FnMut(Value) -> Result<(), Failure>) -> Result<(), Failure> {
    println!("from call to answer, each with new buffers: upload, record, submit, wait, read back");
    for (shape, dtype) in [([8, 16], DType::F32), ([48, 64 * 3], DType::U8)] {
        let (resident, whole) = latency(gpu, dtype, shape)?;
        println!("ReduceMax {dtype} {shape:?}: {whole:.1} µs; record, submit and wait alone: {resident:.1} µs");
        report(json!({"latency": format!("{dtype} {shape:?}"), "whole_us": whole, "resident_us": resident}))?;
    }
    Ok(())
}

fn named_operation(work: &Value) -> Result<Named, Failure> {
    let op = operation(work, dtype(&work["dtype"])?, &shapes(work, 1.0)?)?;
    Ok((work["name"].as_str().unwrap_or("?").into(), op))
}

struct FirstUses {
    pipelines: usize,
    each: Duration,
    all: Duration,
}

/// Prepares each operation with nothing compiled yet, and all of them one after another.
fn first_uses(gpu: &Gpu, ops: &[&dyn Operation]) -> Result<FirstUses, Failure> {
    let plans = ops.iter().map(|op| op.plan(gpu.kernels().limits())).collect::<Result<Vec<_>, _>>()?;
    let distinct: HashSet<&Kernel> = plans.iter().flat_map(|plan| &plan.dispatches).map(|pass| &pass.kernel).collect();
    let shared = Kernels::new(gpu.device());
    let begin = Instant::now();
    for plan in &plans {
        shared.prepare_blocking(plan)?;
    }
    let all = begin.elapsed();
    let mut each = Vec::new();
    for plan in &plans {
        let fresh = Kernels::new(gpu.device());
        let begin = Instant::now();
        fresh.prepare_blocking(plan)?;
        each.push(begin.elapsed());
    }
    assert_eq!(shared.pipeline_count(), distinct.len());
    Ok(FirstUses { pipelines: distinct.len(), each: median(each), all })
}

/// Medians in microseconds.
struct HostTimes {
    plan: f64,
    prepare: f64,
    bind: f64,
    record: f64,
    bare: f64,
}

fn host_times(gpu: &Gpu, op: &dyn Operation) -> Result<HostTimes, Failure> {
    let kernels = gpu.kernels();
    let plan = op.plan(kernels.limits())?;
    let prepared = kernels.prepare_blocking(&plan)?;
    let buffers = Buffers::new(gpu, &plan);
    let (inputs, outputs, scratch) = (whole(&buffers.inputs), whole(&buffers.outputs), whole(&buffers.scratch));
    let slots = Slots { inputs: &inputs, outputs: &outputs, scratch: &scratch };
    let bound = prepared.bind(&slots)?;
    let bare = Bare::new(gpu, &plan, &buffers);
    let [mut record, mut plain] = [Vec::new(), Vec::new()];
    for _ in 0..REPETITIONS {
        record.push(recording(gpu, |encoder| bound.record(encoder)));
        plain.push(recording(gpu, |encoder| bare.record(encoder)));
    }
    let times = HostTimes {
        plan: repeated(|| op.plan(kernels.limits()))?,
        prepare: repeated(|| kernels.prepare_blocking(&plan))?,
        bind: repeated(|| prepared.bind(&slots))?,
        record: microseconds(median(record)),
        bare: microseconds(median(plain)),
    };
    gpu.device().poll(wgpu::PollType::wait_indefinitely())?;
    Ok(times)
}

const REPETITIONS: usize = 201;

fn repeated<T>(mut step: impl FnMut() -> Result<T, wgmax::Error>) -> Result<f64, Failure> {
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let begin = Instant::now();
        let made = black_box(step()?);
        times.push(begin.elapsed());
        drop(made); // not the making's cost
    }
    Ok(microseconds(median(times)))
}

fn recording(gpu: &Gpu, record: impl Fn(&mut wgpu::CommandEncoder)) -> Duration {
    let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let begin = Instant::now();
    record(&mut encoder);
    begin.elapsed()
}

/// Uninitialised buffers of the sizes that a plan asks for.
struct Buffers {
    inputs: Vec<wgpu::Buffer>,
    outputs: Vec<wgpu::Buffer>,
    scratch: Vec<wgpu::Buffer>,
}

impl Buffers {
    fn new(gpu: &Gpu, plan: &Plan) -> Buffers {
        let buffer = |&bytes: &u64| {
            let (size, usage) = (bytes.max(4), wgpu::BufferUsages::STORAGE);
            gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let buffers = |bytes: &[u64]| bytes.iter().map(buffer).collect();
        Buffers {
            inputs: buffers(&plan.input_bytes),
            outputs: buffers(&plan.output_bytes),
            scratch: buffers(&plan.scratch_bytes),
        }
    }

    fn get(&self, slot: Slot) -> &wgpu::Buffer {
        match slot {
            Slot::Input(n) => &self.inputs[n],
            Slot::Output(n) => &self.outputs[n],
            Slot::Scratch(n) => &self.scratch[n],
            Slot::Embedded(_) => unreachable!("no workload has a constant"),
        }
    }
}

/// A plan's dispatches as one would write them with wgpu alone.
struct Bare(Vec<(wgpu::ComputePipeline, wgpu::BindGroup, [u32; 3])>);

impl Bare {
    fn new(gpu: &Gpu, plan: &Plan, buffers: &Buffers) -> Bare {
        Bare(plan.dispatches.iter().map(|pass| bare_pass(gpu, pass, buffers)).collect())
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for (pipeline, group, [x, y, z]) in &self.0 {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(*x, *y, *z);
        }
    }
}

fn bare_pass(gpu: &Gpu, pass: &Dispatch, buffers: &Buffers) -> (wgpu::ComputePipeline, wgpu::BindGroup, [u32; 3]) {
    let device = gpu.device();
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let storage =
        |b: &wgmax::plan::Binding| entry(b.binding, wgpu::BufferBindingType::Storage { read_only: !b.writes });
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
    entries.extend(pass.bindings.iter().map(storage));
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let params = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: pass.params.to_bytes().len() as u64,
        usage: wgpu::BufferUsages::UNIFORM,
        mapped_at_creation: false,
    });
    let mut resources = vec![wgpu::BindGroupEntry { binding: 0, resource: params.as_entire_binding() }];
    resources.extend(pass.bindings.iter().map(|b| {
        let (buffer, size) = (buffers.get(b.slot), NonZeroU64::new(b.bytes));
        let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: b.offset_bytes, size });
        wgpu::BindGroupEntry { binding: b.binding, resource }
    }));
    let group =
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &resources });
    let constants: Vec<(&str, f64)> = pass.kernel.constants().map(|(name, value)| (name, value.into())).collect();
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        })),
        module: &device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(Cow::Owned(pass.kernel.wgsl())),
        }),
        entry_point: Some(Kernel::ENTRY_POINT),
        compilation_options: wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() },
        cache: None,
    });
    (pipeline, group, pass.grid)
}

/// Median microseconds of a maximum over the last axis: of its recorded dispatch alone, and from the host's tensor to
/// the host's tensor.
fn latency(gpu: &Gpu, dtype: DType, shape: [u64; 2]) -> Result<(f64, f64), Failure> {
    let op = ReduceMax::new(dtype, View::new(shape)?).axes([-1]);
    let input: Tensor = data(dtype, &shape)?;
    let resident = Resident::new(gpu, &op, &[&input])?;
    let (mut alone, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        alone.push(resident.step()?);
        let begin = Instant::now();
        black_box(gpu.run_blocking(&op, &[&input])?);
        whole.push(begin.elapsed());
    }
    Ok((microseconds(median(alone)), microseconds(median(whole))))
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
