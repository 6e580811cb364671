use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};

use super::{Kernels, Prepared, Slots, buffer, catching};
#[cfg(not(target_arch = "wasm32"))]
use crate::error::names;
use crate::op::check_inputs;
use crate::tensor::room;
use crate::{Calibration, Error, Operation, Plan, Tensor};

/// Which adapter a [`Gpu`] takes, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuOptions {
    /// Part of the adapter's name, in any case; without it hardware comes before software.
    pub adapter: Option<String>,
    /// What the device is to have; without it everything that the adapter has, 64-bit integers included.
    pub limits: Option<wgpu::Limits>,
    /// Optional features to ask for where the adapter has them. Nothing here needs any.
    pub features: wgpu::Features,
}

/// What an output is used for: the last dispatch writes it, and it is read back.
pub(crate) const OUTPUT: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC);

/// A device of our own, for people who have none: picks an adapter, runs operations on host tensors, reads back.
///
/// Engines that own a device take [`Kernels`] instead, and record into their own encoder.
///
/// [`Gpu::run`] and the other `async` functions yield in browsers only. Natively a future blocks its thread until the device
/// is done: give it a thread of its own. Dropping a `Gpu` waits, too, for all that was submitted to its device.
///
/// ```no_run
/// # use wgmax::{DType, Gpu, GpuOptions, Operation, ReduceMax, Tensor, View};
/// let gpu = Gpu::new_blocking(&GpuOptions::default())?;
/// println!("running on {gpu}");
/// let scores = Tensor::new([2, 3], &[1.0_f32, 7.0, 3.0, 4.0, 5.0, 6.0])?;
/// let op = ReduceMax::new(DType::F32, View::new([2, 3])?).axes([-1]);
/// let answer = gpu.run_blocking(&op, &[&scores])?;
/// assert_eq!(answer[0].to_vec::<f32>()?, [7.0, 6.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Debug)]
pub struct Gpu {
    info: wgpu::AdapterInfo,
    queue: wgpu::Queue,
    kernels: Kernels,
    /// What the driver said when the device was lost, once it was.
    lost: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// Picks an adapter and opens a device on it, with no optional feature but those asked for and, unless limits are given,
    /// those that make something faster: 64-bit integers, and mappable buffers where device and host share memory.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if there is none, or none of that name, with the names that there are; [`Error::Gpu`] if
    /// the adapter gives no device.
    pub async fn new(options: &GpuOptions) -> Result<Gpu, Error> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = pick_adapter(&instance, options).await?;
        let faster = if options.limits.is_none() { faster_features(&adapter) } else { wgpu::Features::empty() };
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("wgmax"),
                required_features: (options.features | faster) & adapter.features(),
                required_limits: options.limits.clone().unwrap_or_else(|| adapter.limits()),
                ..Default::default()
            })
            .await
            .map_err(|error| Error::Gpu { message: error.to_string() })?;
        Ok(Gpu::from_device(&device, &queue))
    }

    /// A host on a device that is there already, with whatever limits it was created. It takes the device's lost
    /// callback.
    pub fn from_device(device: &wgpu::Device, queue: &wgpu::Queue) -> Gpu {
        let lost = Arc::new(Mutex::new(None));
        let note = lost.clone();
        device.set_device_lost_callback(move |reason, message| {
            *note.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{reason:?}: {message}"));
        });
        Gpu { info: device.adapter_info(), queue: queue.clone(), kernels: Kernels::new(device), lost }
    }

    /// [`Gpu::new`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new_blocking(options: &GpuOptions) -> Result<Gpu, Error> {
        pollster::block_on(Gpu::new(options))
    }

    /// What this runs on.
    pub fn info(&self) -> &wgpu::AdapterInfo {
        &self.info
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        self.kernels.device()
    }

    /// The queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// The device's pipelines, with its limits.
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// [`Kernels::tune`], for what this runs from now on.
    ///
    /// # Errors
    /// As there.
    pub fn tune(&mut self, calibration: &Calibration) -> Result<(), Error> {
        self.kernels.tune(calibration)
    }

    /// Plans the operation, uploads the inputs, runs it and reads the outputs back. Natively it blocks: see [`Gpu`].
    ///
    /// Inputs are the tensors that the operation's views lie in; of their own shapes only the number of elements counts.
    ///
    /// # Errors
    /// Those of [`Operation::plan`]; [`Error::WrongCount`], [`Error::TypeMismatch`] and [`Error::BindingTooSmall`] for
    /// inputs that do not fit; [`Error::OutOfMemory`], [`Error::DeviceLost`] and [`Error::Gpu`] from the device.
    pub async fn run(&self, op: &(impl Operation + ?Sized), inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
        check_inputs(&op.inputs()?, inputs)?;
        let outputs = op.outputs()?;
        let plan = op.plan(self.kernels.limits())?;
        let inputs: Vec<&[u8]> = inputs.iter().map(|input| input.bytes()).collect();
        let bytes = self.run_plan(&plan, &inputs).await?;
        outputs.into_iter().zip(bytes).map(|(output, bytes)| output.tensor(bytes)).collect()
    }

    /// [`Gpu::run`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(&self, op: &(impl Operation + ?Sized), inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
        pollster::block_on(self.run(op, inputs))
    }

    /// Uploads inputs, runs a plan and reads the outputs back, each padded to whole words. A plan with
    /// [`Limits::shared_buffers`](crate::Limits::shared_buffers) reads whole packs: its inputs are multiples of 16 bytes.
    ///
    /// # Errors
    /// Those of [`Kernels::prepare`], such as [`Error::InvalidPlan`], and of [`Prepared::bind`]; [`Error::TooLarge`] if host memory does not
    /// hold an output, [`Error::Gpu`] for what the device refuses.
    pub async fn run_plan(&self, plan: &Plan, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, Error> {
        self.check_lost()?;
        let prepared = self.prepare(plan).await?;
        check_in_place(plan, inputs)?;
        let buffers = self.catch(|| Ok(self.buffers(plan, inputs))).await?;
        let read_backs = self.catch(|| self.submit(&prepared, &buffers)).await?;
        let mut bytes = Vec::with_capacity(read_backs.len());
        for (buffer, &len) in read_backs.iter().zip(&plan.output_bytes) {
            let mut own = self.read(buffer).await?;
            own.truncate(len as usize); // the buffer of an input that is written in place may be longer
            bytes.push(own);
        }
        Ok(bytes)
    }

    pub(crate) async fn prepare(&self, plan: &Plan) -> Result<Prepared, Error> {
        self.kernels.prepare(plan).await.map_err(|error| self.explain(error))
    }

    /// Makes GPU objects, or records and submits: what wgpu finds wrong becomes an error value.
    pub(crate) async fn catch<T>(&self, make: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        catching(self.device(), make).await.map_err(|error| self.explain(error))
    }

    fn buffers(&self, plan: &Plan, inputs: &[&[u8]]) -> Buffers {
        let mut inputs: Vec<wgpu::Buffer> = inputs.iter().map(|bytes| self.upload(bytes)).collect();
        let mut outputs: Vec<wgpu::Buffer> =
            plan.output_bytes.iter().map(|&bytes| self.buffer("output", bytes, OUTPUT)).collect();
        if let Some(input) = plan.in_place.and_then(|n| inputs.get_mut(n)) {
            std::mem::swap(input, &mut outputs[0]);
        }
        let scratch = plan.scratch_bytes.map(|bytes| self.buffer("scratch", bytes, wgpu::BufferUsages::STORAGE));
        Buffers { inputs, outputs, scratch }
    }

    /// Records and submits; the buffers that the outputs are copied to.
    fn submit(&self, prepared: &Prepared, buffers: &Buffers) -> Result<Vec<wgpu::Buffer>, Error> {
        let Buffers { inputs, outputs, scratch } = buffers;
        let mut encoder = self.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let slots = Slots { inputs: &slices(inputs), outputs: &slices(outputs), scratch: &slices(scratch) };
        prepared.record(&mut encoder, &slots)?;
        let read_backs = outputs.iter().map(|output| self.read_back(&mut encoder, output)).collect();
        self.queue.submit([encoder.finish()]);
        Ok(read_backs)
    }

    /// Records a copy to a buffer that can be read.
    pub(crate) fn read_back(&self, encoder: &mut wgpu::CommandEncoder, from: &wgpu::Buffer) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        let read_back = self.buffer("read back", from.size(), usage);
        encoder.copy_buffer_to_buffer(from, 0, &read_back, 0, from.size());
        read_back
    }

    /// A buffer of these bytes, and zeros up to whole words.
    pub(crate) fn upload(&self, bytes: &[u8]) -> wgpu::Buffer {
        let padded = bytes.len().next_multiple_of(4);
        let usage = OUTPUT | wgpu::BufferUsages::COPY_DST; // an input may become the output, in place
        let buffer = self.buffer("input", padded as u64, usage);
        let whole = bytes.len() - bytes.len() % 4;
        self.queue.write_buffer(&buffer, 0, &bytes[..whole]);
        if bytes.len() > whole {
            let mut word = [0; 4];
            word[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
            self.queue.write_buffer(&buffer, whole as u64, &word);
        }
        buffer
    }

    /// A [`buffer`] of its device.
    pub(crate) fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        buffer(self.device(), label, bytes, usage)
    }

    pub(crate) async fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, Error> {
        let mapping = self.catch(|| Ok(self.map(buffer, wgpu::MapMode::Read))).await?; // it may be lost since the submission
        self.wait(mapping, None).await?;
        self.take(buffer, buffer.size())
    }

    /// Asks for a buffer to be mapped.
    pub(in crate::gpu) fn map(&self, buffer: &wgpu::Buffer, mode: wgpu::MapMode) -> Mapping {
        let (sender, receiver) = oneshot_channel();
        buffer.map_async(mode, .., move |outcome| {
            let _ = sender.send(outcome); // nobody waits any more if the future was dropped
        });
        Mapping(receiver)
    }

    /// Waits for a mapping, and so for the submission after which it was asked for, or the last one.
    pub(in crate::gpu) async fn wait(
        &self,
        mapping: Mapping,
        #[allow(unused)] submission: Option<&wgpu::SubmissionIndex>,
    ) -> Result<(), Error> {
        // In a browser the event loop does this.
        #[cfg(not(target_arch = "wasm32"))]
        self.device()
            .poll(wgpu::PollType::Wait { submission_index: submission.cloned(), timeout: None })
            .map_err(|error| self.explain(Error::Gpu { message: error.to_string() }))?;
        let refused = |message: String| self.explain(Error::Gpu { message });
        match mapping.0.receive().await {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(refused(error.to_string())),
            None => Err(refused("a buffer was never mapped".into())),
        }
    }

    /// The first bytes of a mapped buffer, which is unmapped.
    pub(in crate::gpu) fn take(&self, buffer: &wgpu::Buffer, bytes: u64) -> Result<Vec<u8>, Error> {
        let mut taken = room("bytes of a read-back in host memory", bytes)?;
        let view =
            buffer.get_mapped_range(..).map_err(|error| self.explain(Error::Gpu { message: error.to_string() }))?;
        taken.extend_from_slice(&view[..bytes as usize]);
        drop(view);
        buffer.unmap();
        Ok(taken)
    }

    fn check_lost(&self) -> Result<(), Error> {
        match self.lost.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(message) => Err(Error::DeviceLost { message: message.clone() }),
            None => Ok(()),
        }
    }

    /// A lost device explains whatever else went wrong.
    fn explain(&self, error: Error) -> Error {
        // The loss may be known to wgpu, but not told yet. In a browser the event loop tells it.
        #[cfg(not(target_arch = "wasm32"))]
        let _ = self.device().poll(wgpu::PollType::Poll);
        self.check_lost().err().unwrap_or(error)
    }
}

/// Waits for what was submitted to the device, which a browser does by itself: some drivers do not survive a process that
/// ends while their threads still work.
#[cfg(not(target_arch = "wasm32"))]
impl Drop for Gpu {
    fn drop(&mut self) {
        let _ = self.device().poll(wgpu::PollType::wait_indefinitely()); // a lost device has nothing left to wait for
    }
}

/// A buffer that is being mapped.
pub(in crate::gpu) struct Mapping(OneshotReceiver<Result<(), wgpu::BufferAsyncError>>);

/// What nothing needs, and some things are faster with.
fn faster_features(adapter: &wgpu::Adapter) -> wgpu::Features {
    // Where device and host have one memory, what a stream writes is not copied.
    let one_memory = matches!(adapter.get_info().device_type, wgpu::DeviceType::Cpu | wgpu::DeviceType::IntegratedGpu);
    let mappable = if one_memory { wgpu::Features::MAPPABLE_PRIMARY_BUFFERS } else { wgpu::Features::empty() };
    wgpu::Features::SHADER_INT64 | mappable
}

/// One run's buffers.
struct Buffers {
    inputs: Vec<wgpu::Buffer>,
    outputs: Vec<wgpu::Buffer>,
    scratch: [wgpu::Buffer; 2],
}

pub(in crate::gpu) fn slices(buffers: &[wgpu::Buffer]) -> Vec<wgpu::BufferSlice<'_>> {
    buffers.iter().map(|buffer| buffer.slice(..)).collect()
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wgpu::AdapterInfo { name, backend, device_type, driver, driver_info, .. } = &self.info;
        write!(f, "{name} ({device_type:?}, {backend}, {driver} {driver_info})")
    }
}

#[cfg(not(target_arch = "wasm32"))]
async fn pick_adapter(instance: &wgpu::Instance, options: &GpuOptions) -> Result<wgpu::Adapter, Error> {
    let mut adapters = instance.enumerate_adapters(wgpu::Backends::PRIMARY).await;
    let found = names(&adapters.iter().map(|adapter| adapter.get_info().name).collect::<Vec<_>>());
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    let wanted = options.adapter.as_deref().unwrap_or_default().to_lowercase();
    let fits = |adapter: &wgpu::Adapter| adapter.get_info().name.to_lowercase().contains(&wanted);
    adapters.into_iter().find(fits).ok_or_else(|| Error::NoAdapter {
        wanted: options.adapter.as_ref().map_or("at all".into(), |name| format!("named like {name:?}")),
        found: if found.is_empty() { "none".into() } else { found },
    })
}

/// A browser has one adapter to offer, and does not tell its name.
#[cfg(target_arch = "wasm32")]
async fn pick_adapter(instance: &wgpu::Instance, _options: &GpuOptions) -> Result<wgpu::Adapter, Error> {
    let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    });
    adapter.await.map_err(|error| Error::NoAdapter { wanted: "at all".into(), found: error.to_string() })
}

/// What the output is written over is bound as the output, but it is an input that the caller gives.
fn check_in_place(plan: &Plan, inputs: &[&[u8]]) -> Result<(), Error> {
    let input = plan.in_place.and_then(|n| Some((n, inputs.get(n)?, *plan.output_bytes.first()?)));
    let Some((n, bytes, needed)) = input else { return Ok(()) };
    let given = bytes.len().next_multiple_of(4) as u64;
    let slot = || format!("input {n} of {}", plan.label);
    if given < needed { Err(Error::BindingTooSmall { slot: slot(), given, needed }) } else { Ok(()) }
}
