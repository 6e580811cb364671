//! What bounds every operation on a device: memory's pace, and what dispatches cost that wait for one another.

use std::time::Duration;

use serde_json::{Value, json};
use wgmax::{Gpu, wgpu};

use super::median;
use crate::common::{Clock, Failure, gigabytes_per_second, submitted};

/// Larger than any cache, three times over.
const BYTES: u64 = 256 << 20;
const COPIES: usize = 3;

const RUNS: usize = 30;

/// Every invocation reads on where its neighbour does, and no answer is stored.
const READ: &str = "
@group(0) @binding(0) var<storage, read_write> packs: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let step = groups.x * 256u;
    var all = vec4<u32>(0u);
    for (var p = id.x; p < arrayLength(&packs); p += step) {
        all |= packs[p];
    }
    if (all.x == 0x12345678u) {
        packs[0] = all;
    }
}";

/// One workgroup that changes what the one before has written.
const WAIT: &str = "
@group(0) @binding(0) var<storage, read_write> packs: array<vec4<u32>>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) n: u32) {
    packs[n] = packs[n] + 1u;
}";

/// What the device is, and then a row for each: its bytes, and medians of times.
pub fn ceilings(gpu: &Gpu) -> Result<Vec<Value>, Failure> {
    let limits = gpu.device().limits();
    let bytes = BYTES.min(limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
    let buffers: Vec<wgpu::Buffer> = (0..COPIES).map(|_| buffer(gpu, bytes)).collect();
    let mut rows = vec![adapter(gpu), copy(gpu, &buffers)?];
    let groups = u32::try_from((bytes / 16 / 256 / 16).max(1))?.min(limits.max_compute_workgroups_per_dimension);
    rows.push(dispatches(gpu, "a read", READ, &buffers, groups, 1)?);
    for (count, name) in [(1, "one dispatch"), (2, "two that wait"), (3, "three that wait")] {
        rows.push(dispatches(gpu, name, WAIT, &buffers[..1], 1, count)?);
    }
    rows.iter().skip(1).for_each(print);
    Ok(rows)
}

fn adapter(gpu: &Gpu) -> Value {
    let wgpu::AdapterInfo { name, driver, driver_info, backend, device_type, .. } = gpu.info();
    json!({
        "name": "adapter",
        "adapter": name,
        "driver": format!("{driver} {driver_info}"),
        "backend": format!("{backend:?}"),
        "kind": format!("{device_type:?}"),
        "limits": format!("{:#?}", gpu.kernels().limits()),
        "features": format!("{:?}", gpu.device().features()),
    })
}

fn print(row: &Value) {
    let ms = |key: &str| row[key].as_f64().map_or("-".into(), |ms| format!("{ms:.4}"));
    let pace = row["gb_per_s"].as_f64().map_or("-".into(), |pace| format!("{pace:.1}"));
    let name = row["name"].as_str().unwrap_or("?");
    println!("{name:<20} {:>10} ms {:>10} ms on the GPU {pace:>8} GB/s", ms("median_ms"), ms("gpu_median_ms"));
}

fn row(name: &str, bytes: u64, wall: Vec<Duration>, on_gpu: Vec<Duration>) -> Value {
    let wall = median(wall);
    let on_gpu = (!on_gpu.is_empty()).then(|| median(on_gpu));
    let pace = (bytes > 0).then(|| gigabytes_per_second(bytes, on_gpu.unwrap_or(wall)));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    json!({ "name": name, "bytes": bytes, "median_ms": ms(wall), "gpu_median_ms": on_gpu.map(ms), "gb_per_s": pace })
}

/// Bytes read plus bytes written.
fn copy(gpu: &Gpu, buffers: &[wgpu::Buffer]) -> Result<Value, Failure> {
    let mut wall = Vec::new();
    for n in 0..RUNS {
        let (from, to) = (&buffers[n % COPIES], &buffers[(n + 1) % COPIES]);
        wall.push(submitted(gpu, |encoder| encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size()))?);
    }
    Ok(row("a copy", 2 * buffers[0].size(), wall, vec![]))
}

fn dispatches(
    gpu: &Gpu,
    name: &str,
    shader: &str,
    buffers: &[wgpu::Buffer],
    groups: u32,
    count: usize,
) -> Result<Value, Failure> {
    let pipeline = pipeline(gpu, shader);
    let bind_groups: Vec<_> = buffers.iter().map(|buffer| bind_group(gpu, &pipeline, buffer)).collect();
    let clock = Clock::new(gpu);
    let (mut wall, mut on_gpu) = (Vec::new(), Vec::new());
    for bind_group in bind_groups.iter().cycle().take(RUNS) {
        let record = |pass: &mut wgpu::ComputePass<'_>| {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, bind_group, &[]);
            (0..count).for_each(|_| pass.dispatch_workgroups(groups, 1, 1));
        };
        wall.push(submitted(gpu, |encoder| record(&mut encoder.begin_compute_pass(&Default::default())))?);
        on_gpu.extend(clock.as_ref().map(|clock| clock.time(gpu, record)).transpose()?);
    }
    Ok(row(name, if count == 1 && groups > 1 { buffers[0].size() } else { 0 }, wall, on_gpu))
}

fn buffer(gpu: &Gpu, size: u64) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

fn pipeline(gpu: &Gpu, shader: &str) -> wgpu::ComputePipeline {
    let device = gpu.device();
    let source = wgpu::ShaderSource::Wgsl(shader.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}

fn bind_group(gpu: &Gpu, pipeline: &wgpu::ComputePipeline, buffer: &wgpu::Buffer) -> wgpu::BindGroup {
    gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    })
}
