//! What is kept for each of burn's devices, and the way from burn's tensors to slots.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use burn::tensor::wgpu::{WgpuInitError, WgpuOptions, WgpuSetup};
use burn::tensor::{DType, Device, Shape};
use burn_cubecl::cubecl::server::Handle;
use burn_cubecl::cubecl::wgpu::{AutoCompiler, WgpuResource, WgpuServer};
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::{CubeDevice, kernel::untile, tensor::CubeTensor};
use wgmax::wgpu::{self, BufferSlice};
use wgmax::{AnyOperation, Kernels, Limits, Operation, Prepared, Slots, TensorType, View};

use crate::Maximum;
use crate::recent::Recent;

/// Plans kept for each device. Shapes recur in serving, so that one is mostly there; what was compiled for a plan stays
/// when it goes.
const PLANS: usize = 64;

/// What wgmax has of one of burn's devices.
pub(crate) struct Host {
    kernels: Kernels,
    queue: wgpu::Queue,
    limits: Limits,
    plans: Mutex<Recent<AnyOperation, Prepared>>,
}

static HOSTS: RwLock<Vec<(CubeDevice, Arc<Host>)>> = RwLock::new(Vec::new());

/// Opens one of burn's wgpu devices for burn and for wgmax. As with burn's own `init`, that is done once for each adapter
/// and graphics API, and before burn itself opens it for a first tensor.
///
/// # Errors
/// Those of burn.
pub fn open(options: WgpuOptions) -> Result<Device, WgpuInitError> {
    let (device, setup) = options.init_with_setup()?;
    attach(&device, setup);
    Ok(device)
}

/// Makes wgmax's operators work on a device that was opened otherwise: with the setup that `init_with_setup` gave, or that
/// was given to `Device::wgpu_options().setup(…)`.
///
/// # Panics
/// If the device is none of burn's wgpu backend.
pub fn attach(device: &Device, setup: WgpuSetup) {
    let device = cube_device(device).expect("wgmax runs on burn's wgpu backend");
    let kernels = Kernels::new(&setup.device);
    // burn keeps many tensors in one buffer.
    let limits = Limits { shared_buffers: true, ..kernels.limits().clone() };
    let host = Host { kernels, queue: setup.queue, limits, plans: Mutex::new(Recent::new(PLANS)) };
    let mut hosts = HOSTS.write().unwrap_or_else(PoisonError::into_inner);
    hosts.retain(|(known, _)| *known != device);
    hosts.push((device, Arc::new(host)));
}

/// The device as burn's CubeCL backend knows it.
pub(crate) fn cube_device(device: &Device) -> Option<CubeDevice> {
    match device.as_dispatch() {
        burn::backend::DispatchDevice::Cube(device) => Some(device.clone()),
        #[allow(unreachable_patterns)] // burn may be built with other backends, too
        _ => None,
    }
}

impl Host {
    pub(crate) fn of(device: &CubeDevice) -> Result<Arc<Host>, String> {
        let hosts = HOSTS.read().unwrap_or_else(PoisonError::into_inner);
        let host = hosts.iter().find(|(known, _)| known == device).map(|(_, host)| host.clone());
        host.ok_or_else(|| {
            format!("{device:?} is unknown: open it with wgmax_burn::open, or name it to wgmax_burn::attach")
        })
    }

    fn prepared(&self, operation: AnyOperation) -> Result<Prepared, wgmax::Error> {
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plans().get(&operation) {
            return Ok(known);
        }
        let prepared = self.kernels.prepare_blocking(&operation.plan(&self.limits)?)?;
        plans().put(operation, prepared.clone());
        Ok(prepared)
    }
}

/// Records what is asked of a tensor on burn's queue, after all that burn was told before.
pub(crate) fn run(input: CubeTensor, asked: &Maximum) -> Result<Vec<CubeTensor>, Box<dyn Error>> {
    let host = Host::of(&input.device)?;
    let input = untile(input); // a matrix that burn laid out in tiles has no strides
    let operation = asked.operation(input.dtype, view(&input)?)?;
    let empty = |(out, dtype): (&TensorType, DType)| {
        empty_device_contiguous_dtype(input.client.clone(), input.device.clone(), shape(&out.shape), dtype)
    };
    let outputs: Vec<CubeTensor> = operation.outputs()?.iter().zip(asked.dtypes(input.dtype)).map(empty).collect();
    host.record(&host.prepared(operation)?, &input, &outputs)?;
    Ok(outputs)
}

impl Host {
    fn record(&self, prepared: &Prepared, input: &CubeTensor, outputs: &[CubeTensor]) -> Result<(), Box<dyn Error>> {
        let plan = prepared.plan();
        if plan.dispatches.is_empty() {
            return Ok(()); // every output is empty
        }
        let used = plan.scratch_bytes.iter().rposition(|&bytes| bytes > 0).map_or(0, |last| last + 1);
        let empty = |&bytes: &u64| input.client.empty(bytes as usize);
        let scratch: Vec<Handle> = plan.scratch_bytes[..used].iter().map(empty).collect();

        // All is allocated: burn may move tensors to make room, but none whose place is held. Asking for places submits
        // what burn has queued, so what is submitted here comes after it, and before whatever burn does next.
        let held = |handle: &Handle| input.client.get_resource::<WgpuServer<AutoCompiler>>(handle.clone());
        let read = held(&input.handle)?;
        let written = outputs.iter().map(|out| held(&out.handle)).collect::<Result<Vec<_>, _>>()?;
        let scratch = scratch.iter().map(held).collect::<Result<Vec<_>, _>>()?;
        let bound = prepared.bind(&Slots {
            inputs: &[slice(read.resource())],
            outputs: &written.iter().map(|own| slice(own.resource())).collect::<Vec<_>>(),
            scratch: &scratch.iter().map(|own| slice(own.resource())).collect::<Vec<_>>(),
        })?;
        let mut encoder = self.kernels.device().create_command_encoder(&Default::default());
        bound.record(&mut encoder);
        self.queue.submit([encoder.finish()]);
        Ok(())
    }
}

/// A tensor as burn lays it out: permuted, expanded and sliced ones have strides of their own.
fn view(tensor: &CubeTensor) -> Result<View, wgmax::Error> {
    let strides: Vec<i64> = tensor.meta.strides().iter().map(|&stride| stride as i64).collect();
    View::strided(sizes(tensor.meta.shape()), strides, 0)
}

/// Where a tensor lies. The slot ends with its buffer: wgmax asks for inputs in whole packs, and burn's allocations are
/// padded to more than that.
fn slice(place: &WgpuResource) -> BufferSlice<'_> {
    place.buffer.slice(place.offset..)
}

/// The sizes of a shape, as wgmax has them.
pub(crate) fn sizes(shape: &Shape) -> Vec<u64> {
    shape.iter().map(|&size| size as u64).collect()
}

/// The shape of these sizes.
pub(crate) fn shape(sizes: &[u64]) -> Shape {
    Shape::from(sizes.iter().map(|&size| size as usize).collect::<Vec<_>>())
}
