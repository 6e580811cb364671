//! What the examples and benches share: picking a device, and an operation whose tensors stay on it, with a clock.
#![allow(dead_code)] // each uses its own part

use std::error::Error;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use wgmax::wgpu::util::DownloadBuffer;
use wgmax::{Bound, Gpu, GpuOptions, Operation, Plan, Slots, Tensor, TensorType, wgpu};

pub type Failure = Box<dyn Error>;

/// Whether help is asked for. Arguments may be any bytes, such as a file's name that is not UTF-8.
pub fn wants_help() -> bool {
    std::env::args_os().skip(1).any(|word| word == "--help" || word == "-h")
}

/// Opens an adapter and names it. A machine without any is told so and gets `None`; a name that no adapter has is an
/// error.
pub fn open(adapter: Option<String>) -> Result<Option<Gpu>, Failure> {
    let named = adapter.is_some();
    let features = wgpu::Features::TIMESTAMP_QUERY; // where there are any
    match Gpu::new_blocking(&GpuOptions { adapter, features, ..Default::default() }) {
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

/// The same for who can do nothing without one.
pub fn needed(adapter: Option<String>) -> Result<Gpu, Failure> {
    open(adapter)?.ok_or_else(|| "there is nothing to measure without an adapter".into())
}

/// Says what went wrong in which program, whose exit code is this.
pub fn fail(program: &str, code: u8, error: &Failure) -> ExitCode {
    eprintln!("{program}: {error}");
    ExitCode::from(code)
}

/// The most bytes that this process has had in memory, where Linux tells.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
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

/// An operation's inputs and outputs in buffers on the device.
pub struct Buffers {
    inputs: Vec<wgpu::Buffer>,
    outputs: Vec<wgpu::Buffer>,
    types: Vec<TensorType>,
}

impl Buffers {
    pub fn new(gpu: &Gpu, op: &(impl Operation + ?Sized), inputs: &[&Tensor]) -> Result<Buffers, Failure> {
        let types = op.outputs()?;
        // Whole words, and packs where plans are for shared buffers.
        let bytes = |output: &TensorType| output.bytes().unwrap_or(0).next_multiple_of(16);
        fitting(gpu, || Buffers {
            inputs: inputs.iter().map(|tensor| upload(gpu, tensor.bytes())).collect(),
            outputs: types.iter().map(|output| empty(gpu, bytes(output))).collect(),
            types: types.clone(),
        })
    }
}

/// An operation made ready once, its inputs and outputs in buffers on the device.
pub struct Resident<'a> {
    gpu: &'a Gpu,
    bound: Bound,
    types: Vec<TensorType>,
    outputs: Vec<wgpu::Buffer>,
    clock: Option<Clock>,
}

impl<'a> Resident<'a> {
    pub fn new(gpu: &'a Gpu, op: &(impl Operation + ?Sized), inputs: &[&Tensor]) -> Result<Resident<'a>, Failure> {
        Resident::planned(gpu, &op.plan(gpu.kernels().limits())?, &Buffers::new(gpu, op, inputs)?)
    }

    /// One whose plan was made before, on buffers that others may have, too.
    pub fn planned(gpu: &'a Gpu, plan: &Plan, buffers: &Buffers) -> Result<Resident<'a>, Failure> {
        let prepared = gpu.kernels().prepare_blocking(plan)?;
        let scratch = fitting(gpu, || plan.scratch_bytes.map(|bytes| empty(gpu, bytes)))?;
        let (inputs, outputs) = (&buffers.inputs, &buffers.outputs);
        let slots = Slots { inputs: &whole(inputs), outputs: &whole(outputs), scratch: &whole(&scratch) };
        let bound = prepared.bind(&slots)?;
        Ok(Resident { gpu, bound, types: buffers.types.clone(), outputs: outputs.clone(), clock: Clock::new(gpu) })
    }

    /// Records, submits and waits until the device is done; the time that all this took.
    pub fn step(&self) -> Result<Duration, Failure> {
        submitted(self.gpu, |encoder| self.bound.record(encoder))
    }

    /// The same work between two timestamps of the device's own clock, if it has one.
    pub fn gpu_step(&self) -> Result<Option<Duration>, Failure> {
        self.clock.as_ref().map(|clock| clock.time(self.gpu, |pass| self.bound.record_in_pass(pass))).transpose()
    }

    /// What the last step wrote.
    pub fn read(&self) -> Result<Vec<Tensor>, Failure> {
        let outputs = self.types.iter().zip(&self.outputs);
        outputs.map(|(output, buffer)| download(self.gpu, output, buffer)).collect()
    }
}

/// How long what is recorded takes, submitted and waited for.
pub fn submitted(gpu: &Gpu, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<Duration, Failure> {
    let begin = Instant::now();
    let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    record(&mut encoder);
    gpu.queue().submit([encoder.finish()]);
    gpu.device().poll(wgpu::PollType::wait_indefinitely())?;
    Ok(begin.elapsed())
}

/// The device's timestamps.
pub struct Clock {
    queries: wgpu::QuerySet,
    ticks: wgpu::Buffer,
}

impl Clock {
    /// If it has some.
    pub fn new(gpu: &Gpu) -> Option<Clock> {
        let device = gpu.device();
        device.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| Clock {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            ticks: device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 16,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
        })
    }

    /// How long the device takes for what is recorded.
    pub fn time(&self, gpu: &Gpu, record: impl FnOnce(&mut wgpu::ComputePass<'_>)) -> Result<Duration, Failure> {
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        record(&mut encoder.begin_compute_pass(&descriptor));
        encoder.resolve_query_set(&self.queries, 0..2, &self.ticks, 0);
        gpu.queue().submit([encoder.finish()]);
        let bytes = read_back(gpu, &self.ticks)?;
        let ticks: Vec<u64> =
            bytes.chunks_exact(8).map(|b| b.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))).collect();
        let nanoseconds = ticks[1].saturating_sub(ticks[0]) as f64 * f64::from(gpu.queue().get_timestamp_period());
        Ok(Duration::from_nanos(nanoseconds as u64))
    }
}

/// Buffers that are too large for the device become an error value, not a panic.
fn fitting<T>(gpu: &Gpu, make: impl FnOnce() -> T) -> Result<T, Failure> {
    let full = gpu.device().push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
    let made = make();
    let errors = [pollster::block_on(scope.pop()), pollster::block_on(full.pop())];
    errors.into_iter().flatten().next().map_or(Ok(made), |error| Err(error.into()))
}

fn upload(gpu: &Gpu, contents: &[u8]) -> wgpu::Buffer {
    let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("input"),
        size: contents.len().next_multiple_of(16).max(16) as u64, // plans for shared buffers read whole packs
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: true,
    });
    // Where there is no memory for it nothing is mapped: the error scope tells.
    if let Ok(mut mapped) = buffer.slice(..).get_mapped_range_mut() {
        mapped.slice(..contents.len()).copy_from_slice(contents);
        drop(mapped);
        buffer.unmap();
    }
    buffer
}

fn empty(gpu: &Gpu, bytes: u64) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("output or scratch"),
        size: bytes.max(4),
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

/// Each buffer from end to end.
pub fn whole(buffers: &[wgpu::Buffer]) -> Vec<wgpu::BufferSlice<'_>> {
    buffers.iter().map(|buffer| buffer.slice(..)).collect()
}

fn download(gpu: &Gpu, output: &TensorType, buffer: &wgpu::Buffer) -> Result<Tensor, Failure> {
    let mut bytes = read_back(gpu, buffer)?;
    bytes.truncate(output.bytes().unwrap_or(0) as usize); // less the padding to whole words
    Ok(Tensor::from_bytes(output.dtype, output.shape.clone(), bytes)?)
}

fn read_back(gpu: &Gpu, buffer: &wgpu::Buffer) -> Result<Vec<u8>, Failure> {
    let (sender, receiver) = mpsc::channel();
    let done = move |outcome| drop(sender.send(outcome));
    DownloadBuffer::read_buffer(gpu.device(), gpu.queue(), &buffer.slice(..), done);
    gpu.device().poll(wgpu::PollType::wait_indefinitely())?;
    Ok(receiver.recv()??.to_vec())
}
