//! A plain read of the device's memory: no operation takes less time for as many bytes.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use wgmax::{Gpu, wgpu};

use super::median;
use crate::common::{Clock, Failure, submitted};

/// Larger than any cache, several times over.
const BUFFER_BYTES: u64 = 512 << 20;
/// The most places of the buffer that are read in turns.
const MOST_PLACES: u64 = 64;
const GROUP: u64 = 256;
/// The packs that an invocation reads: which number is fastest differs from device to device.
const PACKS_OF_INVOCATION: [u64; 3] = [1, 4, 16];
/// The runs by which they are compared.
const TRIALS: usize = 9;

/// Every invocation reads on where its neighbour does, and no answer is stored.
const SHADER: &str = "
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

/// A read of so many bytes, each time from a place that no cache holds.
pub struct Read<'a> {
    gpu: &'a Gpu,
    pipeline: wgpu::ComputePipeline,
    places: Vec<wgpu::BindGroup>,
    groups: u32,
    clock: Option<Clock>,
    turn: usize,
    /// Less than was asked for where one binding does not hold as much.
    pub bytes: u64,
}

impl<'a> Read<'a> {
    pub fn new(gpu: &'a Gpu, bytes: u64) -> Result<Read<'a>, Failure> {
        let limits = gpu.device().limits();
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) / 256 * 256;
        let bytes = bytes.next_multiple_of(256).clamp(256, most);
        let buffer = buffer(gpu, BUFFER_BYTES.clamp(bytes, most));
        let pipeline = pipeline(gpu, SHADER);
        let count = (buffer.size() / bytes).min(MOST_PLACES);
        let step = buffer.size() / count / 256 * 256;
        let slice = |n| buffer.slice(n * step..n * step + bytes);
        let places = (0..count).map(|n| bind_group(gpu, &pipeline, slice(n))).collect();
        let mut read = Read { gpu, pipeline, places, groups: 1, clock: Clock::new(gpu), turn: 0, bytes };
        read.choose_groups(limits.max_compute_workgroups_per_dimension)?;
        Ok(read)
    }

    fn choose_groups(&mut self, most: u32) -> Result<(), Failure> {
        let mut tried = Vec::new();
        for packs in PACKS_OF_INVOCATION {
            self.groups = u32::try_from((self.bytes / 16).div_ceil(GROUP * packs))?.min(most);
            let times = (0..TRIALS).map(|_| self.step()).collect::<Result<_, _>>()?;
            tried.push((median(times), self.groups));
        }
        self.groups = tried.into_iter().min().map_or(1, |(_, groups)| groups);
        Ok(())
    }

    /// By the device's clock, if it has one.
    pub fn step(&mut self) -> Result<Duration, Failure> {
        self.turn += 1;
        match &self.clock {
            Some(clock) => clock.time(self.gpu, |pass| self.record(pass)),
            None => self.submitted(),
        }
    }

    /// Submitted and waited for.
    pub fn wall_step(&mut self) -> Result<Duration, Failure> {
        self.turn += 1;
        self.submitted()
    }

    /// Reads without a pause for so long.
    pub fn work(&mut self, time: Duration) -> Result<(), Failure> {
        let reads = (BUFFER_BYTES / self.bytes).clamp(1, MOST_PLACES);
        let begin = Instant::now();
        while begin.elapsed() < time {
            submitted(self.gpu, |encoder| {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                for _ in 0..reads {
                    self.turn += 1;
                    self.record(&mut pass);
                }
            })?;
        }
        Ok(())
    }

    pub fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    fn submitted(&self) -> Result<Duration, Failure> {
        submitted(self.gpu, |encoder| self.record(&mut encoder.begin_compute_pass(&Default::default())))
    }

    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.places[self.turn % self.places.len()], &[]);
        pass.dispatch_workgroups(self.groups, 1, 1);
    }
}

pub fn buffer(gpu: &Gpu, size: u64) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

pub fn pipeline(gpu: &Gpu, shader: &str) -> wgpu::ComputePipeline {
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

pub fn bind_group(gpu: &Gpu, pipeline: &wgpu::ComputePipeline, slice: wgpu::BufferSlice<'_>) -> wgpu::BindGroup {
    let size = NonZeroU64::new(slice.size());
    let binding = wgpu::BufferBinding { buffer: slice.buffer(), offset: slice.offset(), size };
    gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(binding) }],
    })
}
