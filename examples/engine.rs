//! A worked example for authors of inference engines: your device, your buffers, your encoder.
//!
//! The engine below owns everything that wgpu gives out. It asks for nothing beyond WebGPU's default limits, keeps all
//! tensors in a few large arenas, and records four operations among its own work: one encoder, one submission, one read
//! back. The library allocates and submits nothing, and never waits.
//!
//! ```text
//! cargo run --release --example engine
//! ```
//!
//! In the order in which an engine meets them:
//!
//! 1. `Kernels::new(&device)`, once a device: the pipelines, compiled when first needed, shared by shapes.
//! 2. `operation.plan(limits)`, once a shape: pure data. It says how many bytes every input, output and scratch buffer
//!    takes, before anything exists on the device.
//! 3. `kernels.prepare(&plan)`: pipelines and parameters, immutable from here on.
//! 4. `prepared.bind(&slots)`: checks your buffers, once, and makes the bind groups.
//! 5. `bound.record(&mut encoder)` or `bound.record_in_pass(&mut pass)`, as often as you like: nothing but dispatches.

use std::error::Error;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::mpsc;

use wgmax::half::f16;
use wgmax::wgpu::util::DownloadBuffer;
use wgmax::{
    ArgMax, ArgMaxOutput, Bound, DType, Hardmax, IndexType, Kernels, Max, Operation, Plan, ReduceMax, Slices, Slots,
    Tensor, View, wgpu,
};

type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    match example() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("engine: {error}");
            ExitCode::FAILURE
        }
    }
}

fn example() -> Result<(), Failure> {
    let Some(engine) = pollster::block_on(Engine::new())? else {
        println!("There is no GPU adapter here, and an engine without a device has nothing to record.");
        println!("A software one will do: Debian and Ubuntu have Mesa's as mesa-vulkan-drivers.");
        return Ok(());
    };
    engine.run(&layers()?)
}

/// What the engine wants computed, with the data that stands in for the output of its other layers.
struct Layer {
    what: &'static str,
    op: Box<dyn Operation>,
    operand: Tensor,
}

fn layers() -> Result<Vec<Layer>, wgmax::Error> {
    let layer = |what, op: Box<dyn Operation>, operand| Layer { what, op, operand };

    // The next token of two sequences, and how sure the model is of it: both from one read of the logits.
    let logits = Tensor::new([2, 32_000], &noise(2 * 32_000))?;
    let next = ArgMax::new(DType::F32, View::new([2, 32_000])?)
        .axes([-1])
        .index(IndexType::U32)
        .output(ArgMaxOutput::ValuesAndIndices);

    // The row maxima that a softmax subtracts. The scores lie as [query, head, key] and are wanted by head: the view is
    // permuted, the data stays where it is. They are f16, and the device has no shader-f16.
    let halves: Vec<f16> = noise(64 * 8 * 80).into_iter().map(f16::from_f32).collect();
    let scores = Tensor::new([64, 8, 80], &halves)?;
    let by_head = View::new([64, 8, 80])?.permute(&[1, 0, 2])?;
    let row_maxima = ReduceMax::new(DType::F16, by_head).axes([-1]).keep_dims(true);

    // Which of 8 experts takes each of 48 tokens.
    let gate = Tensor::new([48, 8], &noise(48 * 8))?;
    let route = Hardmax::new(DType::F32, View::new([48, 8])?, Slices::Along(-1));

    // A ReLU is the maximum with a constant 0, which travels with the plan.
    let features = Tensor::new([1, 16, 30, 30], &noise(16 * 30 * 30))?;
    let relu = Max::new(DType::F32, [View::new([1, 16, 30, 30])?]).constant(Tensor::new([], &[0.0_f32])?);

    Ok(vec![
        layer("next token", Box::new(next), logits),
        layer("softmax's row maxima", Box::new(row_maxima), scores),
        layer("routing to experts", Box::new(route), gate),
        layer("ReLU", Box::new(relu), features),
    ])
}

/// Everything here is the engine's own.
struct Engine {
    device: wgpu::Device,
    queue: wgpu::Queue,
    kernels: Kernels,
}

impl Engine {
    async fn new() -> Result<Option<Engine>, Failure> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let Ok(adapter) = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await else {
            return Ok(None);
        };
        println!("Running on {}, with WebGPU's default limits and no optional feature.", adapter.get_info().name);
        let required_limits = wgpu::Limits::default(); // WebGPU's
        let descriptor = wgpu::DeviceDescriptor { label: Some("engine"), required_limits, ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await?;
        let kernels = Kernels::new(&device);
        Ok(Some(Engine { device, queue, kernels }))
    }

    fn run(&self, layers: &[Layer]) -> Result<(), Failure> {
        let plans = layers.iter().map(|layer| layer.op.plan(self.kernels.limits()));
        let plans = plans.collect::<Result<Vec<Plan>, _>>()?;
        plans.iter().for_each(|plan| println!("\n{plan}"));

        // The plans say what they need, so that memory can be laid out before there is any.
        let memory = Memory::lay_out(&self.device, &plans);
        for (layer, place) in layers.iter().zip(&memory.operands_at) {
            self.queue.write_buffer(&memory.operands, place.start, &whole_words(layer.operand.bytes()));
        }
        let bound = self.bind(&plans, &memory)?;

        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.record(&bound, &mut encoder);
        self.queue.submit([encoder.finish()]);

        let results = self.read(&memory.results)?;
        println!();
        layers.iter().zip(&memory.results_at).try_for_each(|(layer, places)| layer.check(&results, places))
    }

    /// Done once; what comes out is kept for as long as the buffers live. Offsets are the binding's, in bytes: an engine
    /// whose allocator aligns less than the device does can put the rest into a view's offset, in elements.
    fn bind(&self, plans: &[Plan], memory: &Memory) -> Result<Vec<Bound>, wgmax::Error> {
        let places = memory.operands_at.iter().zip(&memory.results_at);
        let bind = |(plan, (operand, results)): (&Plan, (&Range<u64>, &Vec<Range<u64>>))| {
            let results: Vec<_> = results.iter().map(|place| memory.results.slice(place.clone())).collect();
            let slots = Slots {
                inputs: &[memory.operands.slice(operand.clone())],
                outputs: &results,
                scratch: &memory.scratch.each_ref().map(|buffer| buffer.slice(..)),
            };
            self.kernels.prepare_blocking(plan)?.bind(&slots)
        };
        plans.iter().zip(places).map(bind).collect()
    }

    /// Two ways to record, for the engine to mix. Nothing is uploaded, submitted or waited for, and operations may follow
    /// each other without a barrier of the engine's: WebGPU orders dispatches that touch the same buffer.
    fn record(&self, bound: &[Bound], encoder: &mut wgpu::CommandEncoder) {
        let (in_our_pass, in_their_own) = bound.split_at(2);
        {
            let descriptor = wgpu::ComputePassDescriptor { label: Some("engine"), timestamp_writes: None };
            let mut pass = encoder.begin_compute_pass(&descriptor);
            // The engine's own dispatches may stand before, between and after; each operation sets its pipeline and its
            // bind group 0, and leaves them set.
            in_our_pass.iter().for_each(|op| op.record_in_pass(&mut pass));
        }
        in_their_own.iter().for_each(|op| op.record(encoder));
    }

    fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, Failure> {
        let (sender, receiver) = mpsc::channel();
        let done = move |outcome| drop(sender.send(outcome));
        DownloadBuffer::read_buffer(&self.device, &self.queue, &buffer.slice(..), done);
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(receiver.recv()??.to_vec())
    }
}

/// Some drivers do not survive a process that ends while their threads still work.
impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely()); // a lost device has nothing left to wait for
    }
}

/// The engine's buffers: no dispatch may read and write one and the same, so operands and results lie apart. An engine
/// with chains of layers alternates between two arenas.
struct Memory {
    operands: wgpu::Buffer,
    results: wgpu::Buffer,
    /// One pair for all operations, as large as the greediest wants it: what one leaves there, the next may overwrite.
    scratch: [wgpu::Buffer; 2],
    /// One operand for each plan.
    operands_at: Vec<Range<u64>>,
    /// One or more results for each plan.
    results_at: Vec<Vec<Range<u64>>>,
}

impl Memory {
    fn lay_out(device: &wgpu::Device, plans: &[Plan]) -> Memory {
        use wgpu::BufferUsages as Usages;
        let alignment = device.limits().min_storage_buffer_offset_alignment.into();
        let [mut operands, mut results] = [Arena { alignment, bytes: 0 }, Arena { alignment, bytes: 0 }];
        let operands_at = plans.iter().map(|plan| operands.place(plan.input_bytes[0])).collect();
        let place_results = |plan: &Plan| plan.output_bytes.iter().map(|&bytes| results.place(bytes)).collect();
        let results_at = plans.iter().map(place_results).collect();
        let scratch_bytes = [0, 1].map(|n| plans.iter().map(|plan| plan.scratch_bytes[n]).max().unwrap_or(0));
        let buffer = |label, bytes: u64, usage| {
            let size = bytes.max(4); // a binding is never empty
            device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false })
        };
        Memory {
            operands: buffer("operands", operands.bytes, Usages::STORAGE | Usages::COPY_DST),
            results: buffer("results", results.bytes, Usages::STORAGE | Usages::COPY_SRC),
            scratch: scratch_bytes.map(|bytes| buffer("scratch", bytes, Usages::STORAGE)),
            operands_at,
            results_at,
        }
    }
}

/// Hands out one place after the other.
struct Arena {
    alignment: u64,
    bytes: u64,
}

impl Arena {
    fn place(&mut self, bytes: u64) -> Range<u64> {
        let begin = self.bytes.next_multiple_of(self.alignment);
        self.bytes = begin + bytes;
        begin..self.bytes
    }
}

impl Layer {
    /// Holds what the device wrote against the reference, bit for bit.
    fn check(&self, results: &[u8], places: &[Range<u64>]) -> Result<(), Failure> {
        for (expected, place) in self.op.reference(&[&self.operand])?.iter().zip(places) {
            let begin = place.start as usize; // the place may be longer: it ends with a whole word
            if results[begin..][..expected.bytes().len()] != *expected.bytes() {
                return Err(format!("{}: the answer differs from the reference's", self.what).into());
            }
            let (dtype, shape) = (expected.dtype(), expected.shape());
            println!("{:9} {:21} {dtype} {shape:?}: bit-equal to the reference", self.op.name(), self.what);
        }
        Ok(())
    }
}

/// Elements of 8 and 16 bits may end within a word; buffers are written in whole ones.
fn whole_words(bytes: &[u8]) -> Vec<u8> {
    let mut words = bytes.to_vec();
    words.resize(bytes.len().next_multiple_of(4), 0);
    words
}

/// Numbers from -1 to 1, the same at every run.
fn noise(len: u32) -> Vec<f32> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_769) >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}
