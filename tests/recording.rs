//! Recording: into any encoder or open pass, as often as one likes, from several threads, with nothing through the
//! queue.

mod common;

use std::collections::{HashMap, HashSet};

use common::{
    Arena, Data, USAGES, encoder, filled_buffer, first_difference, gpus, read_buffer, submit, tensor, tensors,
};
use wgmax::{
    AdapterKind, AnyOperation, ArgMax, ArgMaxOutput, Bound, DType, Error, Gpu, Kernels, Limits, Operation, Plan,
    Prepared, ReduceMax, Slots, Tensor, View, wgpu,
};

const GARBAGE: u8 = 0xa5;

/// A plan with its own buffers, full of garbage but for the input.
struct Job {
    expected: Vec<Tensor>,
    op: ArgMax,
    prepared: Prepared,
    input: wgpu::Buffer,
    outputs: Vec<wgpu::Buffer>,
    scratch: Vec<wgpu::Buffer>,
}

/// Two rows long enough to be split over workgroups.
fn long_rows(dtype: DType) -> ArgMax {
    ArgMax::new(dtype, View::new([2, 40_000]).unwrap()).axes([1]).output(ArgMaxOutput::ValuesAndIndices)
}

/// As a GPU is given them: a CPU splits less.
fn split_limits(gpu: &Gpu) -> Limits {
    Limits { adapter: AdapterKind::Hardware, ..gpu.kernels().limits().clone() }
}

fn split_plan(gpu: &Gpu, op: &impl Operation) -> Plan {
    let plan = op.plan(&split_limits(gpu)).unwrap();
    assert_eq!(plan.dispatches.len(), 2, "{plan}");
    plan
}

impl Job {
    fn new(gpu: &Gpu, dtype: DType, seed: u64) -> Job {
        let op = long_rows(dtype);
        let input = tensor(dtype, 80_000, Data::EdgesWithoutNan, seed);
        let plan = split_plan(gpu, &op);
        let garbage = |&bytes: &u64| filled_buffer(gpu, &vec![GARBAGE; bytes.max(4) as usize], USAGES);
        Job {
            expected: op.reference(&[&input]).unwrap(),
            prepared: gpu.kernels().prepare_blocking(&plan).unwrap(),
            input: filled_buffer(gpu, input.bytes(), USAGES),
            outputs: plan.output_bytes.iter().map(garbage).collect(),
            scratch: plan.scratch_bytes.iter().map(garbage).collect(),
            op,
        }
    }

    fn bind(&self) -> Bound {
        let outputs: Vec<_> = self.outputs.iter().map(|buffer| buffer.slice(..)).collect();
        let scratch: Vec<_> = self.scratch.iter().map(|buffer| buffer.slice(..)).collect();
        let slots = Slots { inputs: &[self.input.slice(..)], outputs: &outputs, scratch: &scratch };
        self.prepared.bind(&slots).unwrap()
    }

    fn check(&self, gpu: &Gpu) {
        let got = self.outputs.iter().map(|buffer| read_buffer(gpu, buffer)).collect();
        assert_eq!(first_difference(&self.expected, &tensors(&self.op, got)), None, "{gpu}");
    }

    /// Garbage into the outputs again.
    fn spoil(&self, gpu: &Gpu) {
        for buffer in self.outputs.iter().chain(&self.scratch) {
            gpu.queue().write_buffer(buffer, 0, &vec![GARBAGE; buffer.size() as usize]);
        }
    }

    fn is_spoilt(&self, gpu: &Gpu) -> bool {
        self.outputs.iter().all(|buffer| read_buffer(gpu, buffer).iter().all(|&byte| byte == GARBAGE))
    }
}

#[test]
fn nothing_happens_before_submit() {
    for gpu in gpus() {
        let job = Job::new(gpu, DType::F32, 1);
        let mut recorded = encoder(gpu);
        job.bind().record(&mut recorded);
        assert!(job.is_spoilt(gpu), "written while recording");
        submit(gpu, recorded);
        job.check(gpu);
        // And what is dropped is not done.
        job.spoil(gpu);
        let mut dropped = encoder(gpu);
        job.bind().record(&mut dropped);
        drop(dropped);
        assert!(job.is_spoilt(gpu), "written though never submitted");
    }
}

#[test]
fn twice_in_one_encoder_and_many_times() {
    for gpu in gpus() {
        let job = Job::new(gpu, DType::F16, 2);
        let bound = job.bind();
        let mut twice = encoder(gpu);
        bound.record(&mut twice);
        bound.record(&mut twice);
        submit(gpu, twice);
        job.check(gpu);
        for _ in 0..20 {
            job.spoil(gpu);
            let mut again = encoder(gpu);
            bound.record(&mut again);
            submit(gpu, again);
        }
        job.check(gpu);
    }
}

/// One prepared plan, two sets of operands that share the scratch, in one encoder.
#[test]
fn one_plan_over_two_operands() {
    for gpu in gpus() {
        let first = Job::new(gpu, DType::I32, 3);
        let second =
            Job { prepared: first.prepared.clone(), scratch: first.scratch.clone(), ..Job::new(gpu, DType::I32, 4) };
        assert_ne!(first.expected, second.expected);
        let mut both = encoder(gpu);
        first.bind().record(&mut both);
        second.bind().record(&mut both);
        submit(gpu, both);
        first.check(gpu);
        second.check(gpu);
    }
}

/// The input changes between two submissions: the bind groups are kept.
#[test]
fn kept_bindings_see_new_input() {
    for gpu in gpus() {
        let job = Job::new(gpu, DType::U16, 5);
        let bound = job.bind();
        let mut recorded = encoder(gpu);
        bound.record(&mut recorded);
        submit(gpu, recorded);
        let other = Job { outputs: job.outputs.clone(), ..Job::new(gpu, DType::U16, 6) };
        let input = tensor(DType::U16, 80_000, Data::EdgesWithoutNan, 6);
        gpu.queue().write_buffer(&job.input, 0, input.bytes());
        let mut recorded = encoder(gpu);
        bound.record(&mut recorded);
        submit(gpu, recorded);
        other.check(gpu);
    }
}

#[test]
fn two_plans_do_not_disturb_each_other() {
    for gpu in gpus() {
        let float = Job::new(gpu, DType::F32, 7);
        // The other's scratch is the same buffer: dispatches of one encoder are in order.
        let byte = Job::new(gpu, DType::U8, 8);
        let shared = if float.scratch[0].size() > byte.scratch[0].size() { &float } else { &byte };
        let scratch = shared.scratch.clone();
        let (float, byte) = (Job { scratch: scratch.clone(), ..float }, Job { scratch, ..byte });
        let mut both = encoder(gpu);
        float.bind().record(&mut both);
        byte.bind().record(&mut both);
        float.bind().record(&mut both);
        submit(gpu, both);
        float.check(gpu);
        byte.check(gpu);
    }
}

/// A second operation reads what the first has written, in one encoder.
#[test]
fn outputs_feed_the_next_operation() {
    for gpu in gpus() {
        let input = tensor(DType::F32, 60 * 700, Data::EdgesWithoutNan, 9);
        let rows = ReduceMax::new(DType::F32, View::new([60, 700]).unwrap()).axes([1]);
        let position = ArgMax::new(DType::F32, View::new([60]).unwrap());
        let maxima = rows.reference(&[&input]).unwrap();
        let expected = position.reference(&[&maxima[0]]).unwrap();
        let prepare = |plan: Plan| gpu.kernels().prepare_blocking(&plan).unwrap();
        let limits = gpu.kernels().limits();
        let (rows, then) = (prepare(rows.plan(limits).unwrap()), prepare(position.plan(limits).unwrap()));
        let source = filled_buffer(gpu, input.bytes(), USAGES);
        let between = filled_buffer(gpu, &[GARBAGE; 240], USAGES);
        let last = filled_buffer(gpu, &[GARBAGE; 8], USAGES);
        let scratch = [(); 2].map(|()| filled_buffer(gpu, &[GARBAGE; 1 << 17], USAGES));
        let scratch = [scratch[0].slice(..), scratch[1].slice(..)];
        let mut recorded = encoder(gpu);
        let inputs = [source.slice(..)];
        rows.record(&mut recorded, &Slots { inputs: &inputs, outputs: &[between.slice(..)], scratch: &scratch })
            .unwrap();
        let inputs = [between.slice(..)];
        then.record(&mut recorded, &Slots { inputs: &inputs, outputs: &[last.slice(..)], scratch: &scratch }).unwrap();
        submit(gpu, recorded);
        assert_eq!(first_difference(&expected, &tensors(&position, vec![read_buffer(gpu, &last)])), None);
    }
}

#[test]
fn into_an_open_compute_pass() {
    for gpu in gpus() {
        let jobs = [Job::new(gpu, DType::F64, 10), Job::new(gpu, DType::Bf16, 11)];
        let mut recorded = encoder(gpu);
        {
            let mut pass = recorded.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            jobs.iter().for_each(|job| job.bind().record_in_pass(&mut pass));
            jobs[0].bind().record_in_group(&mut pass);
        }
        submit(gpu, recorded);
        jobs.iter().for_each(|job| job.check(gpu));
    }
}

#[test]
fn from_several_threads() {
    for gpu in gpus() {
        let job = Job::new(gpu, DType::F32, 12);
        let (op, plan) = (&job.op, job.prepared.plan());
        std::thread::scope(|threads| {
            for seed in 0..4 {
                let prepared = &job.prepared;
                threads.spawn(move || {
                    let input = tensor(DType::F32, 80_000, Data::EdgesWithoutNan, 100 + seed);
                    let garbage = |&bytes: &u64| Arena::new(gpu, 256, &vec![GARBAGE; bytes as usize], &[1, 2, 3]);
                    let source = Arena::new(gpu, 512, input.bytes(), &[0x7f, 0xc0]);
                    let outputs: Vec<Arena> = plan.output_bytes.iter().map(garbage).collect();
                    let scratch: Vec<Arena> = plan.scratch_bytes.iter().map(garbage).collect();
                    let slots = Slots {
                        inputs: &[source.slice()],
                        outputs: &outputs.iter().map(Arena::slice).collect::<Vec<_>>(),
                        scratch: &scratch.iter().map(Arena::slice).collect::<Vec<_>>(),
                    };
                    for _ in 0..3 {
                        let mut recorded = encoder(gpu);
                        prepared.record(&mut recorded, &slots).unwrap();
                        submit(gpu, recorded);
                    }
                    let got = outputs.iter().map(|output| output.read(gpu).unwrap()).collect();
                    let expected = op.reference(&[&input]).unwrap();
                    assert_eq!(first_difference(&expected, &tensors(op, got)), None);
                });
            }
        });
    }
}

/// Recorded elsewhere, submitted here; and plans prepared on several threads at once share their pipelines.
#[test]
fn preparing_on_several_threads() {
    for gpu in gpus() {
        let kernels = Kernels::new(gpu.device());
        let op = long_rows(DType::F32);
        let plan = split_plan(gpu, &op);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| kernels.prepare_blocking(&plan).unwrap());
            }
        });
        assert_eq!(kernels.pipeline_count(), 2);
        let job = Job::new(gpu, DType::F32, 13);
        let commands = std::thread::scope(|threads| {
            let record = || {
                let mut recorded = encoder(gpu);
                job.bind().record(&mut recorded);
                recorded.finish()
            };
            threads.spawn(record).join().unwrap()
        });
        gpu.queue().submit([commands]);
        job.check(gpu);
    }
}

#[test]
fn operands_in_one_arena() {
    for gpu in gpus() {
        let alignment = gpu.kernels().limits().binding_alignment_bytes.max(256);
        let op = long_rows(DType::U8);
        let plan = split_plan(gpu, &op);
        let input = tensor(DType::U8, 80_000, Data::Ties, 14);
        // Both outputs in one buffer, the input in the middle of another, scratch in a third.
        let source = Arena::new(gpu, 3 * alignment, input.bytes(), &[255]);
        let results = filled_buffer(gpu, &vec![GARBAGE; 4 * alignment as usize], USAGES);
        let scratch = Arena::new(gpu, alignment, &vec![GARBAGE; plan.scratch_bytes[0] as usize], &[255]);
        let slots = Slots {
            inputs: &[source.slice()],
            outputs: &[results.slice(2 * alignment..), results.slice(alignment..2 * alignment)],
            scratch: &[scratch.slice()],
        };
        let mut recorded = encoder(gpu);
        gpu.kernels().prepare_blocking(&plan).unwrap().record(&mut recorded, &slots).unwrap();
        submit(gpu, recorded);
        let bytes = read_buffer(gpu, &results);
        let (indices, values) = (alignment as usize, 2 * alignment as usize);
        let expected = op.reference(&[&input]).unwrap();
        let got = tensors(&op, vec![bytes[values..values + 4].to_vec(), bytes[indices..indices + 16].to_vec()]);
        assert_eq!(first_difference(&expected, &got), None);
        // Nothing else has changed; a word holds the two values and two zeros.
        let kept = (0..bytes.len()).filter(|at| !(values..values + 4).contains(at));
        let mut kept = kept.filter(|at| !(indices..indices + 16).contains(at));
        assert!(kept.all(|at| bytes[at] == GARBAGE));
        source.read(gpu).unwrap();
        scratch.read(gpu).unwrap();
    }
}

/// Plans of shared buffers read whole packs, and have no less.
#[test]
fn run_plan_takes_whole_packs_of_shared_buffers() {
    for gpu in gpus() {
        let limits = Limits { shared_buffers: true, ..gpu.kernels().limits().clone() };
        let plan = ReduceMax::new(DType::I8, View::new([17]).unwrap()).axes([0]).plan(&limits).unwrap();
        let run = |bytes: &[u8]| pollster::block_on(gpu.run_plan(&plan, &[bytes]));
        assert_eq!(run(&[0xff; 32]).unwrap(), [[0xff, 0, 0, 0]]);
        assert!(matches!(run(&[0xff; 20]), Err(Error::BindingTooSmall { given: 20, needed: 32, .. })));
    }
}

#[test]
fn dirty_scratch_gives_the_same_result() {
    for gpu in gpus() {
        let job = Job::new(gpu, DType::F32, 15);
        let bound = job.bind();
        for dirt in [0x00, 0x7f, 0x80, 0xff] {
            job.spoil(gpu);
            gpu.queue().write_buffer(&job.scratch[0], 0, &vec![dirt; job.scratch[0].size() as usize]);
            let mut recorded = encoder(gpu);
            bound.record(&mut recorded);
            submit(gpu, recorded);
            job.check(gpu);
        }
    }
}

#[test]
fn scratch_that_is_not_needed_may_be_left_out() {
    for gpu in gpus() {
        let input = tensor(DType::F32, 50, Data::Random, 16);
        let op = ReduceMax::new(DType::F32, View::new([5, 10]).unwrap()).axes([1]);
        let plan = op.plan(gpu.kernels().limits()).unwrap();
        assert_eq!(plan.scratch_bytes, [0, 0]);
        let source = filled_buffer(gpu, input.bytes(), USAGES);
        let target = filled_buffer(gpu, &[GARBAGE; 20], USAGES);
        let slots = Slots { inputs: &[source.slice(..)], outputs: &[target.slice(..)], scratch: &[] };
        let mut recorded = encoder(gpu);
        gpu.kernels().prepare_blocking(&plan).unwrap().record(&mut recorded, &slots).unwrap();
        submit(gpu, recorded);
        let expected = op.reference(&[&input]).unwrap();
        assert_eq!(first_difference(&expected, &tensors(&op, vec![read_buffer(gpu, &target)])), None);
    }
}

/// Usages other than STORAGE are the caller's business; an empty plan records nothing.
#[test]
fn an_empty_output_records_nothing() {
    for gpu in gpus() {
        let op = ReduceMax::new(DType::F32, View::new([0, 10]).unwrap()).axes([1]);
        let plan = op.plan(gpu.kernels().limits()).unwrap();
        let before = gpu.kernels().pipeline_count();
        let prepared = gpu.kernels().prepare_blocking(&plan).unwrap();
        assert_eq!(gpu.kernels().pipeline_count(), before);
        let any = filled_buffer(gpu, &[GARBAGE; 4], USAGES);
        let slots = Slots { inputs: &[any.slice(..)], outputs: &[any.slice(..)], scratch: &[] };
        let mut recorded = encoder(gpu);
        prepared.record(&mut recorded, &slots).unwrap();
        submit(gpu, recorded);
        assert_eq!(read_buffer(gpu, &any), [GARBAGE; 4]);
        let slots = Slots { inputs: &[], outputs: &[any.slice(..)], scratch: &[] };
        let error = prepared.record(&mut encoder(gpu), &slots).unwrap_err();
        assert_eq!(error, Error::WrongCount { what: "inputs", given: 0, expected: 1 });
    }
}

/// What a server does at its start: afterwards nothing is compiled, whatever comes.
#[test]
fn all_is_prepared_at_once() {
    for gpu in gpus() {
        let kernels = Kernels::new(gpu.device());
        let ops = [1, 64, 1000, 70_000].map(|rows| {
            let op = ArgMax::new(DType::F16, View::new([rows, 1000]).unwrap()).axes([1]);
            (AnyOperation::from(op.clone()), op.plan(kernels.limits()).unwrap())
        });
        let plans = ops.clone().map(|(_, plan)| plan);
        let prepared = kernels.prepare_all_blocking(&plans).unwrap();
        assert!(prepared.iter().map(|own| own.plan()).eq(&plans));
        let distinct: HashSet<_> = plans.iter().flat_map(|plan| &plan.dispatches).map(|own| &own.kernel).collect();
        assert_eq!(kernels.pipeline_count(), distinct.len());
        plans.iter().for_each(|plan| drop(kernels.prepare_blocking(plan).unwrap()));
        assert_eq!(kernels.pipeline_count(), distinct.len());
        // Operations are keys of whatever keeps what was made of them.
        let known: HashMap<AnyOperation, Prepared> = ops.into_iter().map(|(op, _)| op).zip(prepared).collect();
        let again = ArgMax::new(DType::F16, View::new([64, 1000]).unwrap()).axes([1]);
        assert_eq!(known[&again.into()].plan(), &plans[1]);
        // Of wrong ones the first is told.
        let mut wrong = plans.clone();
        wrong[1].dispatches[0].grid = [0; 3];
        wrong[2].dispatches[0].grid[0] = u32::MAX;
        assert_eq!(kernels.prepare_all_blocking(&wrong).unwrap_err(), kernels.prepare_blocking(&wrong[1]).unwrap_err());
        assert!(kernels.prepare_all_blocking(&[]).unwrap().is_empty());
    }
}

#[test]
fn pipelines_are_shared_by_shapes() {
    for gpu in gpus() {
        let kernels = Kernels::new(gpu.device());
        let prepare = |op: &ReduceMax| kernels.prepare_blocking(&op.plan(&split_limits(gpu)).unwrap()).unwrap();
        let rows = |dtype, rows, len| ReduceMax::new(dtype, View::new([rows, len]).unwrap()).axes([1]);
        assert_eq!(kernels.pipeline_count(), 0);
        prepare(&rows(DType::F32, 70_000, 64));
        assert_eq!(kernels.pipeline_count(), 1);
        prepare(&rows(DType::F32, 70_001, 64));
        prepare(&rows(DType::F32, 80_001, 72));
        assert_eq!(kernels.pipeline_count(), 1);
        assert_eq!(kernels.clone().pipeline_count(), 1);
        // Runs that end within a pack are masked there: another kernel, one for all of them.
        prepare(&rows(DType::F32, 70_000, 65));
        prepare(&rows(DType::F32, 80_001, 71));
        assert_eq!(kernels.pipeline_count(), 2);
        prepare(&rows(DType::I32, 70_000, 64));
        assert_eq!(kernels.pipeline_count(), 3);
        assert_eq!(Kernels::new(gpu.device()).pipeline_count(), 0);
    }
}
