//! What a rank computes on.

use std::fmt;

use wgmax::shard::{Partials, Shard};
use wgmax::{Error, Gpu, Tensor, wgpu};

use crate::Ranks;

/// The device of a rank: the ranks of one host take its GPUs in turn. Where there is no adapter it is the CPU reference.
pub struct Device(Option<Gpu>);

impl Device {
    /// # Errors
    /// [`Error::Gpu`] if an adapter gives no device.
    pub fn open(ranks: &Ranks) -> Result<Device, Error> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        // Hardware before software, and no adapter twice by another backend.
        let is_software = |adapter: &wgpu::Adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu;
        adapters.sort_by_key(is_software);
        let Some((software, backend)) = adapters.first().map(|first| (is_software(first), first.get_info().backend))
        else {
            return Ok(Device(None));
        };
        adapters.retain(|other| is_software(other) == software && other.get_info().backend == backend);
        open(&adapters[ranks.local_rank() % adapters.len()]).map(|gpu| Device(Some(gpu)))
    }

    /// Finds what a shard's elements tell about the whole.
    ///
    /// # Errors
    /// Those of [`Gpu::run_shard_blocking`].
    pub fn run(&self, shard: &Shard, elements: &Tensor) -> Result<Partials, Error> {
        match &self.0 {
            Some(gpu) => gpu.run_shard_blocking(shard, elements),
            None => shard.reference(elements),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(gpu) => gpu.fmt(f),
            None => f.write_str("the CPU reference, for want of an adapter"),
        }
    }
}

/// As [`Gpu::new`] does.
fn open(adapter: &wgpu::Adapter) -> Result<Gpu, Error> {
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: wgpu::Features::SHADER_INT64 & adapter.features(),
        required_limits: adapter.limits(),
        ..Default::default()
    }))
    .map_err(|error| Error::Gpu { message: error.to_string() })?;
    Ok(Gpu::from_device(&device, &queue))
}
