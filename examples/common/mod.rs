//! What the examples and benches share: picking a device, and an operation whose tensors stay on it, with a clock.
#![allow(dead_code)] // each uses its own part

use std::error::Error;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use wgmax::wgpu::util::{BufferInitDescriptor, DeviceExt, DownloadBuffer};
use wgmax::{Bound, Gpu, GpuOptions, Operation, Slots, Tensor, TensorType, wgpu};

pub type Failure = Box<dyn Error>;

/// Opens an adapter and names it. A machine without any is told so and gets `None`; a name that no adapter has is an
/// error.
pub fn open(adapter: Option<String>) -> Result<Option<Gpu>, Failure> {
    let named = adapter.is_some();
    match Gpu::new_blocking(&GpuOptions { adapter, ..Default::default() }) {
        Ok(gpu) => {
            println!("Running on {gpu}.");
            Ok(Some(gpu))
        }
        Err(error @ wgmax::Error::NoAdapter { .. }) if !named => {
            println!("There is no GPU here ({error}): the answers below come from the CPU reference.");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The bytes that an operation cannot do without: each input read once, each output written once.
pub fn least_bytes(op: &(impl Operation + ?Sized)) -> Result<u64, wgmax::Error> {
    let read: u64 = op.inputs()?.iter().map(|need| need.bytes).sum();
    let written: u64 = op.outputs()?.iter().filter_map(TensorType::bytes).sum();
    Ok(read + written)
}

/// Gigabytes (10⁹) a second.
pub fn gigabytes_per_second(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e9
}

/// An operation made ready once, its inputs and outputs in buffers on the device.
pub struct Resident<'a> {
    gpu: &'a Gpu,
    bound: Bound,
    types: Vec<TensorType>,
    outputs: Vec<wgpu::Buffer>,
}

impl<'a> Resident<'a> {
    pub fn new(gpu: &'a Gpu, op: &(impl Operation + ?Sized), inputs: &[&Tensor]) -> Result<Resident<'a>, Failure> {
        let plan = op.plan(gpu.kernels().limits())?;
        let prepared = gpu.kernels().prepare_blocking(&plan)?;
        // Buffers that are too large for the device become an error value, not a panic.
        let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
        let inputs: Vec<_> = inputs.iter().map(|tensor| upload(gpu, tensor.bytes())).collect();
        let outputs: Vec<_> = plan.output_bytes.iter().map(|&bytes| empty(gpu, bytes)).collect();
        let scratch = plan.scratch_bytes.map(|bytes| empty(gpu, bytes));
        if let Some(error) = pollster::block_on(scope.pop()) {
            return Err(error.into());
        }
        let slots = Slots { inputs: &whole(&inputs), outputs: &whole(&outputs), scratch: &whole(&scratch) };
        let bound = prepared.bind(&slots)?;
        Ok(Resident { gpu, bound, types: op.outputs()?, outputs })
    }

    /// Records, submits and waits until the device is done; the time that all this took.
    pub fn step(&self) -> Result<Duration, Failure> {
        let begin = Instant::now();
        let mut encoder = self.gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.bound.record(&mut encoder);
        self.gpu.queue().submit([encoder.finish()]);
        self.gpu.device().poll(wgpu::PollType::wait_indefinitely())?;
        Ok(begin.elapsed())
    }

    /// What the last step wrote.
    pub fn read(&self) -> Result<Vec<Tensor>, Failure> {
        let outputs = self.types.iter().zip(&self.outputs);
        outputs.map(|(output, buffer)| download(self.gpu, output, buffer)).collect()
    }
}

fn upload(gpu: &Gpu, contents: &[u8]) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE;
    gpu.device().create_buffer_init(&BufferInitDescriptor { label: Some("input"), contents, usage })
}

fn empty(gpu: &Gpu, bytes: u64) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("output or scratch"),
        size: bytes.max(4),
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

fn whole(buffers: &[wgpu::Buffer]) -> Vec<wgpu::BufferSlice<'_>> {
    buffers.iter().map(|buffer| buffer.slice(..)).collect()
}

fn download(gpu: &Gpu, output: &TensorType, buffer: &wgpu::Buffer) -> Result<Tensor, Failure> {
    let (sender, receiver) = mpsc::channel();
    let done = move |outcome| drop(sender.send(outcome));
    DownloadBuffer::read_buffer(gpu.device(), gpu.queue(), &buffer.slice(..), done);
    gpu.device().poll(wgpu::PollType::wait_indefinitely())?;
    let mut bytes = receiver.recv()??.to_vec();
    bytes.truncate(output.bytes().unwrap_or(0) as usize); // less the padding to whole words
    Ok(Tensor::from_bytes(output.dtype, output.shape.clone(), bytes)?)
}
