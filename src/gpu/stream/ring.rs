//! Buffers that are kept while runs follow one another: while one run is filled, those before it are uploaded and computed.

use std::collections::VecDeque;

use crate::error::within;
use crate::gpu::host::{Mapping, OUTPUT, slices};
use crate::gpu::{Bound, Gpu, Prepared, Slots};
use crate::{Error, Plan};

/// The runs that have buffers: one is filled, one is uploaded or computed, one is read back.
const RUNS: usize = 3;

/// Runs of a few plans, one after another.
pub(super) struct Ring<'a> {
    gpu: &'a Gpu,
    plans: Vec<Prepared>,
    /// Those that no run is using; the first is being filled.
    free: VecDeque<RunBuffers>,
    in_flight: VecDeque<(RunBuffers, Waits)>,
    buffer_bytes: u64,
}

/// The buffers of a run, of whichever plan.
struct RunBuffers {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Its buffers in each of the plans.
    bound: Vec<Bound>,
}

struct Input {
    /// What the host writes.
    staging: wgpu::Buffer,
    /// What shaders read, where it is another one.
    copy: Option<wgpu::Buffer>,
    /// Mapped while it is filled.
    view: Option<wgpu::BufferViewMut>,
}

struct Output {
    buffer: wgpu::Buffer,
    read_back: wgpu::Buffer,
}

/// What tells that a run is done.
struct Waits {
    plan: usize,
    submission: wgpu::SubmissionIndex,
    inputs: Vec<Mapping>,
    outputs: Vec<Mapping>,
}

impl<'a> Ring<'a> {
    /// Prepares plans of the same numbers of inputs and outputs, and makes buffers that hold any of them.
    pub async fn new(gpu: &'a Gpu, plans: &[Plan]) -> Result<Ring<'a>, Error> {
        let mut prepared = Vec::with_capacity(plans.len());
        for plan in plans {
            prepared.push(gpu.prepare(plan).await?);
        }
        let mut ring =
            Ring { gpu, plans: prepared, free: VecDeque::new(), in_flight: VecDeque::new(), buffer_bytes: 0 };
        for _ in 0..RUNS {
            let buffers = gpu.catch(|| ring.buffers()).await?;
            ring.free.push_back(buffers);
        }
        Ok(ring)
    }

    /// The bytes of all buffers: those of the device, and those between it and the host.
    pub fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }

    fn buffers(&mut self) -> Result<RunBuffers, Error> {
        let most = |bytes: &dyn Fn(&Plan) -> u64| self.plans.iter().map(|own| bytes(own.plan())).max().unwrap_or(0);
        let plan = self.plans[0].plan();
        let input_bytes: Vec<u64> = (0..plan.input_bytes.len()).map(|n| most(&|plan| plan.input_bytes[n])).collect();
        let output_bytes: Vec<u64> = (0..plan.output_bytes.len()).map(|n| most(&|plan| plan.output_bytes[n])).collect();
        let scratch_bytes = [0, 1].map(|n| most(&|plan| plan.scratch_bytes[n]));
        let inputs = input_bytes.iter().map(|&bytes| self.input(bytes)).collect::<Result<Vec<_>, _>>()?;
        let outputs: Vec<Output> = output_bytes.iter().map(|&bytes| self.output(bytes)).collect();
        let scratch = scratch_bytes.map(|bytes| self.gpu.buffer("scratch", bytes, wgpu::BufferUsages::STORAGE));
        let slots = Slots {
            inputs: &inputs
                .iter()
                .map(|input| input.copy.as_ref().unwrap_or(&input.staging).slice(..))
                .collect::<Vec<_>>(),
            outputs: &outputs.iter().map(|output| output.buffer.slice(..)).collect::<Vec<_>>(),
            scratch: &slices(&scratch),
        };
        let bound = self.plans.iter().map(|plan| plan.bind(&slots)).collect::<Result<_, _>>()?;
        let input_buffers = inputs.iter().flat_map(|input| [Some(&input.staging), input.copy.as_ref()]).flatten();
        let output_buffers = outputs.iter().flat_map(|output| [&output.buffer, &output.read_back]);
        self.buffer_bytes += input_buffers.chain(output_buffers).chain(&scratch).map(wgpu::Buffer::size).sum::<u64>();
        Ok(RunBuffers { inputs, outputs, bound })
    }

    fn input(&self, bytes: u64) -> Result<Input, Error> {
        use wgpu::BufferUsages;
        // A browser maps what is too large to memory that it may not have, of which wgpu makes a panic.
        within("bytes of a chunk in one buffer", bytes, self.gpu.device().limits().max_buffer_size)?;
        let is_shared = self.gpu.device().features().contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS);
        let use_as = if is_shared { BufferUsages::STORAGE } else { BufferUsages::COPY_SRC };
        let staging = self.gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size: bytes.max(4),
            usage: BufferUsages::MAP_WRITE | use_as,
            mapped_at_creation: true,
        });
        let copy = || self.gpu.buffer("input", bytes, BufferUsages::STORAGE | BufferUsages::COPY_DST);
        let view = Some(mapped(&staging)?);
        Ok(Input { staging, copy: (!is_shared).then(copy), view })
    }

    fn output(&self, bytes: u64) -> Output {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        Output {
            buffer: self.gpu.buffer("output", bytes, OUTPUT),
            read_back: self.gpu.buffer("read back", bytes, usage),
        }
    }

    /// Whether a run can be filled before another has been [landed](Ring::land).
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Whether no run is on its way.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Writes a part of an input of the run that is being filled. What no plan reads is dropped.
    pub fn fill(&mut self, input: usize, at: usize, bytes: &[u8]) -> Result<(), Error> {
        let view = self.free.front_mut().and_then(|buffers| buffers.inputs[input].view.as_mut());
        let view = view.ok_or_else(nothing_free)?;
        let (begin, end) = (at.min(view.len()), (at + bytes.len()).min(view.len()));
        view.slice(begin..end).copy_from_slice(&bytes[..end - begin]);
        Ok(())
    }

    /// Starts the run that was filled, by one of the plans.
    pub async fn submit(&mut self, plan: usize) -> Result<(), Error> {
        let mut buffers = self.free.pop_front().ok_or_else(nothing_free)?;
        let gpu = self.gpu;
        let run = || {
            let waits = start(gpu, &self.plans[plan], &mut buffers, plan);
            Ok((buffers, waits))
        };
        let run = gpu.catch(run).await?;
        self.in_flight.push_back(run);
        Ok(())
    }

    /// Waits for the oldest run, and gives its outputs, each padded to whole words. Its buffers can be filled again.
    pub async fn land(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let Some((mut buffers, waits)) = self.in_flight.pop_front() else { return Ok(vec![]) };
        let (gpu, plan) = (self.gpu, self.plans[waits.plan].plan());
        let mut outputs = Vec::with_capacity(buffers.outputs.len());
        for ((output, mapping), &bytes) in buffers.outputs.iter().zip(waits.outputs).zip(&plan.output_bytes) {
            gpu.wait(mapping, Some(&waits.submission)).await?;
            outputs.push(gpu.take(&output.read_back, bytes)?);
        }
        for (input, mapping) in buffers.inputs.iter_mut().zip(waits.inputs) {
            gpu.wait(mapping, Some(&waits.submission)).await?;
            input.view = Some(mapped(&input.staging)?);
        }
        self.free.push_back(buffers);
        Ok(outputs)
    }
}

/// Whoever fills the ring lands a run first; after a failure there may be nothing to land.
fn nothing_free() -> Error {
    Error::NotDone { what: "an earlier run of this stream".into(), why: "it failed, and its buffers are in use" }
}

fn mapped(buffer: &wgpu::Buffer) -> Result<wgpu::BufferViewMut, Error> {
    buffer.get_mapped_range_mut(..).map_err(|error| Error::Gpu { message: format!("staging: {error}") })
}

/// Uploads, computes, copies back, and asks for the mappings of what comes next.
fn start(gpu: &Gpu, prepared: &Prepared, buffers: &mut RunBuffers, plan: usize) -> Waits {
    let needed = prepared.plan();
    let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    for (input, &bytes) in buffers.inputs.iter_mut().zip(&needed.input_bytes) {
        input.view = None;
        input.staging.unmap();
        if let Some(copy) = &input.copy {
            encoder.copy_buffer_to_buffer(&input.staging, 0, copy, 0, bytes);
        }
    }
    buffers.bound[plan].record(&mut encoder);
    for (output, &bytes) in buffers.outputs.iter().zip(&needed.output_bytes) {
        encoder.copy_buffer_to_buffer(&output.buffer, 0, &output.read_back, 0, bytes);
    }
    let submission = gpu.queue().submit([encoder.finish()]);
    let inputs = buffers.inputs.iter().map(|input| gpu.map(&input.staging, wgpu::MapMode::Write)).collect();
    let outputs = buffers.outputs.iter().map(|output| gpu.map(&output.read_back, wgpu::MapMode::Read)).collect();
    Waits { plan, submission, inputs, outputs }
}
