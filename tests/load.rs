//! One device under load: several threads with operations of many shapes, and one set of buffers recorded over and over.
//! Answers are checked; memory stays flat, the device's and the process's.
//!
//! The full size takes minutes and is `ignore`d: `cargo test --release --test load -- --ignored --nocapture`. Its figures
//! stand in docs/load.md.

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use common::{Data, USAGES, encoder, filled_buffer, first_difference, gpus, read_buffer, tensor};
use wgmax::{
    ArgMax, ArgMaxOutput, DType, Gpu, Hardmax, Max, NanPolicy, Operation, ReduceMax, Slices, Slots, Tensor, View, wgpu,
};

/// An operation, its inputs, and its answer.
struct Case {
    op: Box<dyn Operation + Send + Sync>,
    inputs: Vec<Tensor>,
    expected: Vec<Tensor>,
}

/// Every operator; short and long, split and whole, one type of each width.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, dtype) in (0..).zip([DType::F32, DType::F16, DType::U8, DType::I64]) {
        for (rows, columns) in [(3, 5), (64, 100), (2, 9001), (700, 12)] {
            let view = View::new([rows, columns]).unwrap();
            let input = tensor(dtype, rows * columns, Data::Ties, rows);
            let other = tensor(dtype, columns, Data::EdgesWithoutNan, columns);
            let row = View::new([columns]).unwrap();
            let values = ArgMaxOutput::ValuesAndIndices;
            let ops: [(Box<dyn Operation + Send + Sync>, Vec<Tensor>); 5] = [
                (Box::new(ReduceMax::new(dtype, view.clone()).axes([n % 2])), vec![input.clone()]),
                (Box::new(ReduceMax::new(dtype, view.clone()).nan(NanPolicy::Ignore)), vec![input.clone()]),
                (Box::new(ArgMax::new(dtype, view.clone()).axes([1]).output(values)), vec![input.clone()]),
                (Box::new(Hardmax::new(dtype, view.clone(), Slices::Along(n % 2))), vec![input.clone()]),
                (Box::new(Max::new(dtype, [view, row])), vec![input, other]),
            ];
            for (op, inputs) in ops {
                let expected = op.reference(&inputs.iter().collect::<Vec<_>>()).unwrap();
                cases.push(Case { op, inputs, expected });
            }
        }
    }
    cases
}

/// Bytes of the device's buffers and of the process, where they are told.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    device: u64,
    process: u64,
}

impl Memory {
    fn of(gpu: &Gpu) -> Memory {
        gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: u64 = line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0);
        let report = gpu.device().generate_allocator_report();
        Memory { device: report.map_or(0, |report| report.total_allocated_bytes), process: kib << 10 }
    }

    fn say(self, what: &str) {
        println!("{what}: {} KiB on the device, {} MiB the process", self.device >> 10, self.process >> 20);
    }
}

/// Memory after the first tenth of the work is what it is at the end, but for what allocators keep.
fn assert_flat(warm: Memory, end: Memory) {
    assert!(end.device <= warm.device + (1 << 20), "the device's memory grew: {warm:?}, {end:?}");
    // NVIDIA's driver keeps 65 MiB more once there were a few thousand submissions, and no more after 100,000.
    assert!(end.process <= warm.process + (96 << 20), "the process grew: {warm:?}, {end:?}");
}

/// One test at a time: they share the process whose memory they watch.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads that run operations, each through all the cases from a place of its own.
fn threads_of_mixed_plans(gpu: &Gpu, threads: usize, operations: usize) {
    let _alone = alone();
    let cases = cases();
    let work = |operations: usize| {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let cases = &cases;
                scope.spawn(move || {
                    for n in 0..operations {
                        let Case { op, inputs, expected } = &cases[(n * 7 + thread * 13) % cases.len()];
                        let got = gpu.run_blocking(&**op, &inputs.iter().collect::<Vec<_>>()).unwrap();
                        let difference = first_difference(expected, &got);
                        assert_eq!(difference, None, "thread {thread}, operation {n}, {}", op.name());
                    }
                });
            }
        });
    };
    work(operations / 10);
    let warm = Memory::of(gpu);
    warm.say("after a tenth");
    let begin = Instant::now();
    work(operations - operations / 10);
    let seconds = begin.elapsed().as_secs_f64();
    let end = Memory::of(gpu);
    end.say("at the end");
    let done = threads * (operations - operations / 10);
    println!("{threads} threads, {done} operations in {seconds:.1} s, {} pipelines", gpu.kernels().pipeline_count());
    assert_flat(warm, end);
}

/// One set of buffers, recorded and submitted over and over; the input changes now and then, and the answer with it.
fn record_and_submit(gpu: &Gpu, cycles: u64) {
    let _alone = alone();
    let len = 300 * 40;
    let op = ArgMax::new(DType::F32, View::new([300, 40]).unwrap()).axes([1]).output(ArgMaxOutput::ValuesAndIndices);
    let plan = op.plan(gpu.kernels().limits()).unwrap();
    let prepared = gpu.kernels().prepare_blocking(&plan).unwrap();
    let inputs: Vec<Tensor> = (0..4).map(|seed| tensor(DType::F32, len, Data::Edges, seed)).collect();
    let answers: Vec<Vec<Tensor>> = inputs.iter().map(|input| op.reference(&[input]).unwrap()).collect();
    let input = filled_buffer(gpu, inputs[0].bytes(), USAGES);
    let outputs = [0, 1].map(|n| filled_buffer(gpu, &vec![0xa5; plan.output_bytes[n] as usize], USAGES));
    let scratch = plan.scratch_bytes.map(|bytes| filled_buffer(gpu, &vec![0; bytes.max(4) as usize], USAGES));
    let slots = Slots {
        inputs: &[input.slice(..)],
        outputs: &[outputs[0].slice(..), outputs[1].slice(..)],
        scratch: &[scratch[0].slice(..), scratch[1].slice(..)],
    };
    let bound = prepared.bind(&slots).unwrap();
    let mut warm = Memory::default();
    let mut begin = Instant::now();
    for cycle in 0..cycles {
        let turn = (cycle / 100 % 4) as usize;
        if cycle % 100 == 0 {
            gpu.queue().write_buffer(&input, 0, inputs[turn].bytes());
        }
        let mut own = encoder(gpu);
        match cycle % 2 {
            0 => bound.record(&mut own),
            _ => prepared.record(&mut own, &slots).unwrap(),
        }
        gpu.queue().submit([own.finish()]);
        if cycle % 16 == 15 {
            gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        }
        if cycle % 1000 == 999 {
            let got = common::tensors(&op, outputs.iter().map(|output| read_buffer(gpu, output)).collect());
            assert_eq!(first_difference(&answers[turn], &got), None, "cycle {cycle}");
        }
        if cycle == cycles / 10 {
            warm = Memory::of(gpu);
            begin = Instant::now();
        }
    }
    warm.say("after a tenth");
    let (end, seconds) = (Memory::of(gpu), begin.elapsed().as_secs_f64());
    end.say("at the end");
    println!("{} cycles in {seconds:.1} s", cycles - cycles / 10);
    assert_flat(warm, end);
}

#[test]
fn threads_share_a_device() {
    threads_of_mixed_plans(&gpus()[1], 8, 200);
}

#[test]
fn many_cycles_of_one_set_of_buffers() {
    record_and_submit(&gpus()[1], 3000);
}

#[test]
#[ignore = "takes minutes; docs/load.md has how to run it, and its figures"]
fn threads_share_a_device_for_long() {
    println!("{}", gpus()[1]);
    threads_of_mixed_plans(&gpus()[1], 8, 10_000);
}

#[test]
#[ignore = "takes minutes; docs/load.md has how to run it, and its figures"]
fn a_hundred_thousand_cycles() {
    println!("{}", gpus()[1]);
    record_and_submit(&gpus()[1], 100_000);
}
