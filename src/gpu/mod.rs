//! Plans on wgpu: pipelines and parameters are prepared once, then work is recorded into the caller's encoder.

#[cfg(not(target_arch = "wasm32"))]
mod calibrate;
mod host;
mod kernels;
mod prepared;
mod shards;
mod stream;

#[cfg(not(target_arch = "wasm32"))]
pub use calibrate::{CalibrationOptions, CalibrationProgress};
#[cfg(feature = "onnx")]
pub(crate) use host::OUTPUT;
pub use host::{Gpu, GpuOptions};
pub use kernels::Kernels;
pub use prepared::{Bound, Prepared, Slots};
pub use stream::{Progress, SavedStream, Stream};

use crate::calibration::Platform;
use crate::{AdapterKind, Error, Limits};

impl From<&wgpu::Device> for Limits {
    /// The limits that a device was created with, and the kind of its adapter.
    fn from(device: &wgpu::Device) -> Limits {
        let limits = device.limits();
        let info = device.adapter_info();
        let adapter = match info.device_type {
            wgpu::DeviceType::Cpu if info.name.contains("llvmpipe") => AdapterKind::Lavapipe,
            wgpu::DeviceType::Cpu => AdapterKind::SwiftShader,
            _ => AdapterKind::Hardware,
        };
        Limits {
            adapter,
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            binding_alignment_bytes: limits.min_storage_buffer_offset_alignment.into(),
            max_storage_bindings: limits.max_storage_buffers_per_shader_stage,
            max_group_invocations: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            max_group_memory_bytes: limits.max_compute_workgroup_storage_size,
            max_groups: limits.max_compute_workgroups_per_dimension,
            int64: device.features().contains(wgpu::Features::SHADER_INT64),
            shared_buffers: false,
            tuning: None,
        }
    }
}

impl Platform {
    /// That of a device.
    pub fn of(device: &wgpu::Device) -> Platform {
        let wgpu::AdapterInfo { name, backend, driver, driver_info, .. } = device.adapter_info();
        Platform { adapter: name, backend: backend.to_string(), driver: format!("{driver} {driver_info}") }
    }
}

/// A buffer of at least one word: a size of 0 may not be mapped everywhere.
fn buffer(device: &wgpu::Device, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let label = Some(label);
    device.create_buffer(&wgpu::BufferDescriptor { label, size: bytes.max(4), usage, mapped_at_creation: false })
}

/// Error scopes around something that creates GPU objects: what wgpu finds wrong becomes an error value. The last pushed comes
/// first: wgpu panics where they go in another order, also when they are dropped.
struct Scopes([wgpu::ErrorScopeGuard; 3]);

impl Scopes {
    fn push(device: &wgpu::Device) -> Scopes {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let [validation, memory, internal] =
            [Validation, OutOfMemory, Internal].map(|filter| device.push_error_scope(filter));
        Scopes([internal, memory, validation])
    }

    async fn pop(self) -> Result<(), Error> {
        let [internal, memory, validation] = self.0;
        let futures = (internal.pop(), memory.pop(), validation.pop());
        match (futures.0.await, futures.1.await, futures.2.await) {
            (_, Some(error), _) | (Some(error), _, _) | (_, _, Some(error)) => Err(error.into()),
            (None, None, None) => Ok(()),
        }
    }
}

/// Makes GPU objects, or records and submits. What wgpu finds wrong comes before what `make` says: whoever uses what was not made can
/// only tell that.
async fn catching<T>(device: &wgpu::Device, make: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let scopes = Scopes::push(device);
    let made = make();
    scopes.pop().await?;
    made
}

/// A lost device explains whatever else went wrong. wgpu takes what is asked of one in silence, and then refuses what was
/// made so; the callback that tells of a loss is the device's owner's to set. So ask for what no device gives: one that says nothing to
/// it is gone.
async fn explain(device: &wgpu::Device, error: Error) -> Error {
    let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let usage = wgpu::BufferUsages::empty();
    let _ = device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: false });
    match (scope.pop().await, error) {
        (Some(_), error) | (None, error @ Error::DeviceLost { .. }) => error,
        (None, error) => Error::DeviceLost { message: error.to_string() },
    }
}

impl From<wgpu::Error> for Error {
    fn from(error: wgpu::Error) -> Error {
        match error {
            wgpu::Error::OutOfMemory { source } => Error::OutOfMemory { message: source.to_string() },
            wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
                Error::Gpu { message: description }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Software adapters do not run out of memory on request: what wgpu would say becomes the error value.
    #[test]
    fn what_wgpu_says_keeps_its_kind() {
        let source = || -> Box<dyn std::error::Error + Send + Sync> { "no room".into() };
        let error = Error::from(wgpu::Error::OutOfMemory { source: source() });
        assert_eq!(error, Error::OutOfMemory { message: "no room".into() });
        let description = String::from("no such layout");
        let error = Error::from(wgpu::Error::Validation { source: source(), description: description.clone() });
        assert_eq!(error, Error::Gpu { message: description.clone() });
        let error = Error::from(wgpu::Error::Internal { source: source(), description: description.clone() });
        assert_eq!(error, Error::Gpu { message: description });
    }
}
