//! What bounds every operation on a device: memory's pace, and what dispatches cost that wait for one another.

use std::time::Duration;

use serde_json::{Value, json};
use wgmax::{Gpu, wgpu};

use super::median;
use super::read::{Read, bind_group, buffer, pipeline};
use crate::common::{Clock, Failure, gigabytes_per_second, submitted};

/// Larger than any cache, three times over.
const BYTES: u64 = 256 << 20;
const COPIES: usize = 3;

const RUNS: usize = 30;

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
    for (mib, name) in [(256, "a read"), (64, "a read of 64 MiB"), (16, "a read of 16 MiB")] {
        rows.push(read(gpu, name, mib << 20)?);
    }
    for (count, name) in [(1, "one dispatch"), (2, "two that wait"), (3, "three that wait")] {
        rows.push(waiting(gpu, name, &buffers[0], count)?);
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

/// What no cache holds.
fn read(gpu: &Gpu, name: &str, bytes: u64) -> Result<Value, Failure> {
    let mut read = Read::new(gpu, bytes)?;
    let wall = (0..RUNS).map(|_| read.wall_step()).collect::<Result<_, _>>()?;
    let on_gpu = (0..RUNS).map(|_| read.step()).collect::<Result<_, _>>()?;
    Ok(row(name, read.bytes, wall, if read.has_clock() { on_gpu } else { vec![] }))
}

/// Dispatches of which each changes what the one before has written.
fn waiting(gpu: &Gpu, name: &str, buffer: &wgpu::Buffer, count: usize) -> Result<Value, Failure> {
    let pipeline = pipeline(gpu, WAIT);
    let bind_group = bind_group(gpu, &pipeline, buffer.slice(..));
    let record = |pass: &mut wgpu::ComputePass<'_>| {
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bind_group, &[]);
        (0..count).for_each(|_| pass.dispatch_workgroups(1, 1, 1));
    };
    let clock = Clock::new(gpu);
    let (mut wall, mut on_gpu) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        wall.push(submitted(gpu, |encoder| record(&mut encoder.begin_compute_pass(&Default::default())))?);
        on_gpu.extend(clock.as_ref().map(|clock| clock.time(gpu, record)).transpose()?);
    }
    Ok(row(name, 0, wall, on_gpu))
}
