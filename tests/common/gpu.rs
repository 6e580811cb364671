//! Devices under test, and running on them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::slice;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use wgmax::{AdapterKind, DType, Error, Gpu, GpuOptions, Limits, Operation, Tensor, wgpu};

use super::cases::{CLASSES, Case};
use super::{Random, first_difference, tensors};

/// The most pairs of devices: each keeps all that is compiled for it.
const MOST_PAIRS: usize = 4;

/// Pairs of devices, and how many threads have each.
static PAIRS: Mutex<Vec<(&[Gpu; 2], usize)>> = Mutex::new(Vec::new());

/// The devices under test: the adapter with all it has, 64-bit integers included, and the same with WebGPU's default
/// limits and no optional feature. Which adapter is the environment's choice (see `tests/run.sh`).
///
/// Each thread has a pair to itself while there are no more than [`MOST_PAIRS`], and leaves it to the next one when it ends: a queue of
/// lavapipe's makes whoever submits wait for what was submitted before, and that is compiled as it runs.
pub fn gpus() -> &'static [Gpu; 2] {
    thread_local!(static LENT: Lent = Lent::new());
    LENT.with(|lent| lent.pair)
}

/// A pair that comes back once it has nothing left to do: no test process ends with work in flight. SwiftShader does not survive that: its
/// threads go on while the process takes down what they use.
struct Lent {
    n: usize,
    pair: &'static [Gpu; 2],
}

impl Lent {
    fn new() -> Lent {
        let mut pairs = PAIRS.lock().unwrap_or_else(PoisonError::into_inner);
        if pairs.iter().all(|&(_, threads)| threads > 0) && pairs.len() < MOST_PAIRS {
            pairs.push((new_pair(), 0));
        }
        let n = (0..pairs.len()).min_by_key(|&n| pairs[n].1).unwrap();
        pairs[n].1 += 1;
        Lent { n, pair: pairs[n].0 }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let pair = self.pair;
        let wait = move || {
            for gpu in pair {
                let _ = gpu.device().poll(wgpu::PollType::wait_indefinitely()); // nothing is left to wait for where it is lost
            }
        };
        let _ = std::thread::spawn(wait).join(); // a thread that ends has no more of what wgpu keeps for each
        PAIRS.lock().unwrap_or_else(PoisonError::into_inner)[self.n].1 -= 1;
    }
}

fn new_pair() -> &'static [Gpu; 2] {
    let pair = [None, Some(wgpu::Limits::default())].map(|limits| {
        let options = GpuOptions { limits, ..Default::default() };
        Gpu::new_blocking(&options)
            .unwrap_or_else(|error| panic!("these tests need a GPU adapter, tests/run.sh installs one: {error}"))
    });
    Box::leak(Box::new(pair))
}

/// Runs an operation on both devices, each with its policy, and holds it against the reference, bit for bit.
pub fn check(op: &(impl Operation + ?Sized), inputs: &[&Tensor], case: &str) {
    let expected = op.reference(inputs).unwrap_or_else(|error| panic!("{case}: reference: {error}"));
    check_against(op, inputs, &expected, case);
}

/// The same of each case; on SwiftShader of one type of each class.
pub fn check_cases(cases: &[Case]) {
    let is_slow = gpus()[0].kernels().limits().adapter == AdapterKind::SwiftShader;
    for case in cases.iter().filter(|case| !is_slow || CLASSES.contains(&case.op.inputs().unwrap()[0].dtype)) {
        check(&case.op, &case.inputs().iter().collect::<Vec<_>>(), &case.name);
    }
}

/// The same against a known answer.
pub fn check_against(op: &(impl Operation + ?Sized), inputs: &[&Tensor], expected: &[Tensor], case: &str) {
    check_within(u64::MAX, op, inputs, expected, case);
}

/// The policies that a device's plans are tried with: software's, its own if it is some, and a GPU's.
pub fn policies(gpu: &Gpu) -> [AdapterKind; 2] {
    let own = gpu.kernels().limits().adapter;
    [if own == AdapterKind::Hardware { AdapterKind::Lavapipe } else { own }, AdapterKind::Hardware]
}

/// Of two devices, one is given plans as for a CPU, the other as for a GPU, and for unsigned types the other way round. So
/// elements of each width meet all four pairs of device and policy, with half as many pipelines as if each type met them:
/// compiling is what these tests take their time for. Hence on software plans for GPUs are those of some tensors alone, whatever is asked
/// of them: of one in two on lavapipe, and of one in four on SwiftShader, which takes longer, and has its own of all others.
pub fn policy_of_each_device(op: &(impl Operation + ?Sized)) -> [Option<AdapterKind>; 2] {
    let [cpu, gpu] = policies(&gpus()[0]);
    let inputs = op.inputs().expect("an operation that is right");
    let mut hasher = DefaultHasher::new();
    format!("{inputs:?}").hash(&mut hasher);
    let one_in = |n| hasher.finish().is_multiple_of(n);
    let (cpu, gpu) = match gpus()[0].kernels().limits().adapter {
        AdapterKind::Hardware => (Some(cpu), Some(gpu)),
        AdapterKind::Lavapipe => (Some(cpu), one_in(2).then_some(gpu)),
        AdapterKind::SwiftShader if one_in(4) => (None, Some(gpu)),
        AdapterKind::SwiftShader => (Some(cpu), None),
    };
    match inputs[0].dtype {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => [gpu, cpu],
        _ => [cpu, gpu],
    }
}

/// The same with plans that bind no more bytes at once.
pub fn check_within(
    max_binding_bytes: u64,
    op: &(impl Operation + ?Sized),
    inputs: &[&Tensor],
    expected: &[Tensor],
    case: &str,
) {
    for (gpu, adapter) in gpus().iter().zip(policy_of_each_device(op)) {
        let Some(adapter) = adapter else { continue };
        let limits = gpu.kernels().limits().clone();
        let max_binding_bytes = max_binding_bytes.min(limits.max_binding_bytes);
        check_planned(gpu, &Limits { adapter, max_binding_bytes, ..limits }, op, inputs, expected, case);
    }
}

/// The same on one device, planned both ways.
pub fn check_on(gpu: &Gpu, op: &(impl Operation + ?Sized), inputs: &[&Tensor], expected: &[Tensor], case: &str) {
    for adapter in policies(gpu) {
        let limits = Limits { adapter, ..gpu.kernels().limits().clone() };
        check_planned(gpu, &limits, op, inputs, expected, case);
    }
}

/// The same on one device, with plans for these limits.
pub fn check_planned(
    gpu: &Gpu,
    limits: &Limits,
    op: &(impl Operation + ?Sized),
    inputs: &[&Tensor],
    expected: &[Tensor],
    case: &str,
) {
    let got = run(gpu, op, limits, inputs).unwrap_or_else(|error| panic!("{case}: {gpu}: {error}"));
    if let Some(difference) = first_difference(expected, &got) {
        panic!("{case}: {gpu}: {difference}\n{}", op.plan(limits).unwrap());
    }
}

/// [`Gpu::run`] with limits of our choice.
pub fn run(
    gpu: &Gpu,
    op: &(impl Operation + ?Sized),
    limits: &Limits,
    inputs: &[&Tensor],
) -> Result<Vec<Tensor>, Error> {
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| input.bytes()).collect();
    let outputs = pollster::block_on(gpu.run_plan(&op.plan(limits)?, &inputs))?;
    Ok(tensors(op, outputs))
}

/// Runs something that must neither hang nor panic.
pub fn within_a_minute<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || sender.send(what()));
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("it panicked: {:?}", thread.join().is_err()),
    }
}

/// Bytes inside a larger buffer, with a pattern around them that nothing may change.
pub struct Arena {
    pub buffer: wgpu::Buffer,
    before: Vec<u8>,
    begin: u64,
    len: u64,
    /// What else may change.
    others: Vec<Range<usize>>,
}

/// A part of a buffer that holds many.
pub struct Content {
    pub bytes: Vec<u8>,
    /// Whether it may change.
    pub is_written: bool,
}

/// The usages of every buffer under test.
pub const USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Arena {
    /// `content`, padded to whole words, from byte `begin` on; `guard` repeated before it and for 300 bytes after it.
    pub fn new(gpu: &Gpu, begin: u64, content: &[u8], guard: &[u8]) -> Arena {
        let len = content.len().next_multiple_of(4);
        let begin = begin as usize;
        let mut before: Vec<u8> = guard.iter().copied().cycle().take(begin + len + 300).collect();
        before[begin..begin + content.len()].copy_from_slice(content);
        let (begin, len) = (begin as u64, len as u64);
        Arena { buffer: filled_buffer(gpu, &before, USAGES), before, begin, len, others: vec![] }
    }

    /// All of these in one buffer, in whole packs and in random order, so many bytes or more from one to the next.
    pub fn together(gpu: &Gpu, alignment: u64, contents: &[Content], guard: &[u8], random: &mut Random) -> Vec<Arena> {
        let mut order: Vec<usize> = (0..contents.len()).collect();
        (1..order.len()).rev().for_each(|n| order.swap(n, random.below(n as u64 + 1) as usize));
        let mut ranges = vec![0..0; contents.len()];
        let mut end = 0;
        for n in order {
            let begin = (end + random.below(2) * alignment).next_multiple_of(alignment);
            end = begin + (contents[n].bytes.len().max(1) as u64).next_multiple_of(16);
            ranges[n] = begin as usize..end as usize;
        }
        let mut before: Vec<u8> = guard.iter().copied().cycle().take((end as usize + 300) & !3).collect();
        for (content, range) in contents.iter().zip(&ranges) {
            before[range.start..][..content.bytes.len()].copy_from_slice(&content.bytes);
        }
        let written = ranges.iter().zip(contents).filter(|(_, own)| own.is_written).map(|(range, _)| range.clone());
        let (others, buffer) = (written.collect::<Vec<_>>(), filled_buffer(gpu, &before, USAGES));
        let arena = |range: &Range<usize>| Arena {
            buffer: buffer.clone(),
            before: before.clone(),
            begin: range.start as u64,
            len: range.len() as u64,
            others: others.clone(),
        };
        ranges.iter().map(arena).collect()
    }

    /// Just the content, or the whole buffer if there is none.
    pub fn slice(&self) -> wgpu::BufferSlice<'_> {
        if self.len == 0 { self.buffer.slice(..) } else { self.buffer.slice(self.begin..self.begin + self.len) }
    }

    /// The content as it is now, if everything around it is as it was.
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<u8>, String> {
        self.inside(&read_buffer(gpu, &self.buffer)).map(<[u8]>::to_vec)
    }

    /// The content of all bytes as they are now, if everything around it is as it was.
    pub fn inside<'a>(&self, now: &'a [u8]) -> Result<&'a [u8], String> {
        let inside = self.begin as usize..(self.begin + self.len) as usize;
        let mut free = [&self.others[..], slice::from_ref(&inside)].concat();
        free.sort_by_key(|range| range.start);
        let ends = free.iter().map(|range| range.start).chain([now.len()]);
        let begins = [0].into_iter().chain(free.iter().map(|range| range.end));
        for (begin, end) in begins.zip(ends).filter(|(begin, end)| begin < end) {
            let mut pairs = now[begin..end].iter().zip(&self.before[begin..end]);
            if let Some(at) = pairs.position(|(now, before)| now != before) {
                return Err(format!("byte {} was changed, outside of {inside:?}", begin + at));
            }
        }
        Ok(&now[inside])
    }
}

/// A buffer with these bytes, a whole number of words.
pub fn filled_buffer(gpu: &Gpu, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let descriptor = wgpu::BufferDescriptor { label: None, size: bytes.len() as u64, usage, mapped_at_creation: true };
    let buffer = gpu.device().create_buffer(&descriptor);
    buffer.get_mapped_range_mut(..).unwrap().copy_from_slice(bytes);
    buffer.unmap();
    buffer
}

pub fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
}

pub fn submit(gpu: &Gpu, encoder: wgpu::CommandEncoder) {
    gpu.queue().submit([encoder.finish()]);
}

/// A buffer's bytes, once everything submitted is done.
pub fn read_buffer(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<u8> {
    read_buffers(gpu, &[buffer]).remove(0)
}

/// The same of several at once.
pub fn read_buffers(gpu: &Gpu, buffers: &[&wgpu::Buffer]) -> Vec<Vec<u8>> {
    let read_back = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: buffers.iter().map(|buffer| buffer.size()).sum(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut copy = encoder(gpu);
    let mut end = 0;
    for buffer in buffers {
        copy.copy_buffer_to_buffer(buffer, 0, &read_back, end, buffer.size());
        end += buffer.size();
    }
    submit(gpu, copy);
    read_back.map_async(wgpu::MapMode::Read, .., |outcome| outcome.unwrap());
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = read_back.get_mapped_range(..).unwrap();
    let mut end = 0;
    let mut next = |buffer: &&wgpu::Buffer| {
        let begin = end;
        end += buffer.size() as usize;
        bytes[begin..end].to_vec()
    };
    buffers.iter().map(&mut next).collect()
}
