//! Random operations: plans keep to the laws and planning never panics, whatever comes; answers are the reference's bit for bit; nothing outside
//! the bindings is written, whatever lies around them and in scratch. The seeds are fixed.

#[path = "../common/crossing/mod.rs"]
mod crossing;

use std::cell::RefCell;
use std::collections::HashMap;

use crate::common::laws::lawful_plan;
use crate::common::tunings::any_tuning;
use crate::common::{self, Arena, Content, Data, Random, first_difference, gpus, tensor, tensors};
use crossing::{Case, Finding, Outcome, Scale};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use wgmax::{
    AdapterKind, AnyOperation, ArgMax, ArgMaxOutput, Axes, DType, Error, Gpu, Hardmax, InputNeed, Kernels, Limits, Max,
    NanPolicy, Operation, Plan, ReduceMax, Slices, Slots, Tensor, Tuning, View, wgpu,
};

fn run<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng).run(&strategy, test).unwrap_or_else(|error| panic!("{error}"));
}

fn dtypes() -> impl Strategy<Value = DType> {
    prop::sample::select(&DType::ALL[..])
}

fn adapters() -> impl Strategy<Value = AdapterKind> {
    prop::sample::select(&AdapterKind::ALL[..])
}

fn nan_policies() -> impl Strategy<Value = NanPolicy> {
    prop::sample::select(&[NanPolicy::Propagate, NanPolicy::Ignore][..])
}

// Planning.

/// Any number at all, small ones and those at the edges more often.
fn any_size() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 0..10_u64,
        4 => 0..100_000_u64,
        1 => (0..64_u32).prop_map(|bit| 1 << bit),
        1 => prop::sample::select(&[u64::MAX, i64::MAX as u64, 1 << 32, u32::MAX as u64][..]),
        1 => any::<u64>(),
    ]
}

fn any_stride() -> impl Strategy<Value = i64> {
    prop_oneof![
        6 => -20..20_i64,
        4 => -100_000..100_000_i64,
        1 => prop::sample::select(&[i64::MAX, i64::MIN, 1 << 31, 1 << 32, -(1 << 32)][..]),
        1 => any::<i64>(),
    ]
}

/// Shape and strides; half of them as they are in a contiguous tensor.
fn any_layout() -> impl Strategy<Value = (Vec<u64>, Option<Vec<i64>>, u64)> {
    (0..7_usize).prop_flat_map(|rank| {
        let shape = prop::collection::vec(any_size(), rank);
        let strides = prop::option::of(prop::collection::vec(any_stride(), rank));
        (shape, strides, prop_oneof![Just(0), any_size()])
    })
}

fn any_axes() -> impl Strategy<Value = Axes> {
    let axis = prop_oneof![9 => -6..6_i64, 1 => any::<i64>()];
    prop_oneof![1 => Just(Axes::All), 4 => prop::collection::vec(axis, 0..5).prop_map(Axes::List)]
}

fn seeded_tuning(seed: u64) -> Tuning {
    let mut random = Random::new(seed);
    any_tuning(&mut |n| random.below(n))
}

fn any_limits() -> impl Strategy<Value = Limits> {
    let small = || prop_oneof![2 => any::<u32>(), 4 => 0..1025_u32, 1 => Just(65_535_u32)];
    let seed = prop::option::weighted(0.3, any::<u64>());
    (adapters(), any_size(), any_size(), small(), small(), small(), small(), any::<bool>(), seed).prop_map(
        |(adapter, binding, alignment, bindings, invocations, memory, groups, int64, seed)| Limits {
            adapter,
            max_binding_bytes: binding,
            binding_alignment_bytes: alignment,
            max_storage_bindings: bindings,
            max_group_invocations: invocations,
            max_group_memory_bytes: memory,
            max_groups: groups,
            int64,
            shared_buffers: groups % 3 == 0,
            tuning: seed.map(seeded_tuning),
        },
    )
}

fn some_limits() -> impl Strategy<Value = Limits> {
    let tuned = any::<u64>().prop_map(|seed| Limits { tuning: Some(seeded_tuning(seed)), ..Limits::default() });
    prop_oneof![adapters().prop_map(|adapter| Limits { adapter, ..Limits::default() }), tuned, any_limits()]
}

#[test]
fn planning_never_panics() {
    let strategy = (any_layout(), any_axes(), dtypes(), nan_policies(), some_limits(), any::<[bool; 3]>());
    run(20_000, strategy, |((shape, strides, offset), axes, dtype, nan, limits, [keep, last, both])| {
        let view = match strides {
            None => View::new(shape),
            Some(strides) => View::strided(shape, strides, offset),
        };
        let Ok(view) = view else { return Ok(()) };
        let op = ReduceMax::new(dtype, view.clone()).axes(axes.clone()).keep_dims(keep).nan(nan);
        lawful_plan(&op, &limits);
        let output = if both { ArgMaxOutput::ValuesAndIndices } else { ArgMaxOutput::Indices };
        let op = ArgMax::new(dtype, view).axes(axes).keep_dims(keep).nan(nan).select_last(last).output(output);
        lawful_plan(&op, &limits);
        Ok(())
    });
}

#[test]
fn planning_hardmax_and_max_never_panics() {
    let axis = || prop_oneof![9 => -6..6_i64, 1 => any::<i64>()];
    let slices = prop_oneof![axis().prop_map(Slices::Along), axis().prop_map(Slices::From)];
    let others = prop::collection::vec((0..4_u8, any_size()), 0..20);
    let options = (dtypes(), nan_policies(), some_limits(), prop::option::of(0..4_usize), any::<bool>());
    run(20_000, (any_layout(), slices, others, options), |(layout, slices, others, options)| {
        let (shape, strides, offset) = layout;
        let (dtype, nan, limits, in_place, has_constant) = options;
        let view = match strides {
            None => View::new(shape.clone()),
            Some(strides) => View::strided(shape.clone(), strides, offset),
        };
        let Ok(view) = view else { return Ok(()) };
        lawful_plan(&Hardmax::new(dtype, view.clone(), slices).nan(nan), &limits);
        // The same shape, one of its dimensions 1, its last dimensions only, or any other.
        let mut views = vec![view];
        for (kind, n) in others {
            let mut other = shape.clone();
            match (kind, other.get(n as usize % other.len().max(1))) {
                (1, Some(_)) => other[n as usize % shape.len()] = 1,
                (2, _) => drop(other.drain(..n as usize % (shape.len() + 1))),
                (3, _) => other = vec![n],
                _ => {}
            }
            views.extend(View::new(other));
        }
        let mut op = Max::new(dtype, views).nan(nan);
        op = in_place.map_or(op.clone(), |input| op.in_place(input));
        if has_constant {
            op = op.constant(tensor(dtype, 1, Data::Random, 1));
        }
        lawful_plan(&op, &limits);
        Ok(())
    });
}

#[test]
fn changing_views_never_panics() {
    let change = (0..5_usize, 0..8_usize, any_size(), any_size(), prop_oneof![0..4_u64, any_size()]);
    let strategy = (any_layout(), prop::collection::vec(change, 0..6), prop::collection::vec(any_size(), 0..5));
    run(20_000, strategy, |((shape, strides, offset), changes, sizes)| {
        let view = match strides {
            None => View::new(shape),
            Some(strides) => View::strided(shape, strides, offset),
        };
        let Ok(mut view) = view else { return Ok(()) };
        for (kind, axis, a, b, c) in changes {
            let order: Vec<usize> = (0..view.rank()).rev().collect();
            let changed = match kind {
                0 => view.slice(axis, a, b, c),
                1 => view.reverse(axis),
                2 => view.permute(&order),
                3 => view.broadcast(&sizes),
                _ => view.split(axis, &sizes),
            };
            let Ok(changed) = changed else { continue };
            // A view changed is one that could have been made.
            let made = View::strided(changed.shape(), changed.strides(), changed.offset());
            prop_assert_eq!(made.as_ref(), Ok(&changed), "{} {:?}", kind, view);
            let within = changed.buffer_bytes(DType::U8).unwrap() <= view.buffer_bytes(DType::U8).unwrap();
            prop_assert!(within || view.is_empty(), "{:?} of {:?}", changed, view);
            view = changed;
        }
        Ok(())
    });
}

// On the GPU.

/// The sizes of cases for devices, software ones among them: some milliseconds each.
fn scale() -> Scale {
    let device = Limits { max_storage_bindings: 8, ..gpus()[0].kernels().limits().clone() };
    Scale { device, binding_bytes: (4 << 10, 12), elements: (1 << 16, 1 << 21), bytes: 8 << 20, parts: 100 }
}

/// The most bytes that a case's buffers may have together.
const MEMORY: u64 = 256 << 20;

/// The device of WebGPU's default limits where they are enough, else the one that has all.
fn gpu_of(limits: &Limits) -> &'static Gpu {
    let small = gpus()[1].kernels().limits();
    let fits = limits.binding_alignment_bytes >= small.binding_alignment_bytes
        && limits.max_binding_bytes <= small.max_binding_bytes
        && limits.max_storage_bindings <= small.max_storage_bindings
        && limits.max_group_invocations <= small.max_group_invocations
        && limits.max_group_memory_bytes <= small.max_group_memory_bytes
        && !limits.int64;
    &gpus()[usize::from(fits)]
}

/// Plans of so many dispatches take a second: not all of them are run.
const MANY_PASSES: usize = 1000;

/// The most pipelines that are kept: a software adapter's take some megabytes each.
const PIPELINES: usize = 800;

/// The device's kernels, dropped together once they are many.
fn kernels_of(gpu: &'static Gpu) -> Kernels {
    thread_local! {
        static KERNELS: RefCell<HashMap<*const Gpu, Kernels>> = RefCell::default();
    }
    KERNELS.with_borrow_mut(|all| {
        let kernels = all.entry(gpu).or_insert_with(|| Kernels::new(gpu.device()));
        if kernels.pipeline_count() > PIPELINES {
            *kernels = Kernels::new(gpu.device());
        }
        kernels.clone()
    })
}

/// The buffers of a case, each between guards, or all in one. What surrounds inputs wins against everything; scratch and
/// outputs are full of it, too.
fn buffers(case: &Case, gpu: &Gpu, plan: &Plan, inputs: &[Tensor]) -> [Vec<Arena>; 3] {
    let mut inputs: Vec<Vec<u8>> = inputs.iter().map(|input| input.bytes().to_vec()).collect();
    let dirty = |bytes: &[u64]| bytes.iter().map(|&bytes| vec![0xa5; bytes as usize]).collect::<Vec<_>>();
    let (mut outputs, scratch) = (dirty(&plan.output_bytes), dirty(&plan.scratch_bytes));
    if let Some(input) = plan.in_place {
        outputs[0] = std::mem::replace(&mut inputs[input], vec![0xa5; 16]); // it is not looked at
    }
    let guard = [0x7f, 0xff, 0xff, 0xff];
    let (alignment, counts) = (case.limits.binding_alignment_bytes, [inputs.len(), outputs.len()]);
    if case.limits.shared_buffers {
        let content = |is_written| move |bytes| Content { bytes, is_written };
        let written = outputs.into_iter().chain(scratch).map(content(true));
        let contents: Vec<Content> = inputs.into_iter().map(content(false)).chain(written).collect();
        let random = &mut Random::new(case.content_seed);
        let mut inputs = Arena::together(gpu, alignment.max(32), &contents, &guard, random);
        let mut outputs = inputs.split_off(counts[0]);
        let scratch = outputs.split_off(counts[1]);
        return [inputs, outputs, scratch];
    }
    let [input_at, output_at, scratch_at] = case.places.map(|n| n * alignment);
    let apart = |at: u64, contents: Vec<Vec<u8>>, guard: [u8; 4]| {
        contents.iter().map(|bytes| Arena::new(gpu, at, bytes, &guard)).collect::<Vec<_>>()
    };
    let loud = [0xff, 0x7f, 0xff, 0x5a];
    [apart(input_at, inputs, guard), apart(output_at, outputs, loud), apart(scratch_at, scratch, loud)]
}

/// Runs a case between guards and holds it against the reference.
fn check(case: &Case) -> Result<Outcome, Finding> {
    let gpu = gpu_of(&case.limits);
    let (op, inputs) = (case.operation(), case.inputs());
    let (plan, expected) = match case.plan(&op, &inputs)? {
        Ok(planned) => planned,
        Err(outcome) => return Ok(outcome),
    };
    if plan.dispatches.len() > MANY_PASSES && !case.content_seed.is_multiple_of(8) {
        return Ok(Outcome::Skipped(format!("seven in eight plans of more than {MANY_PASSES} dispatches")));
    }
    let bytes = inputs.iter().map(|input| input.bytes().len() as u64).sum::<u64>();
    if bytes + plan.output_bytes.iter().chain(&plan.scratch_bytes).sum::<u64>() > MEMORY {
        return Ok(Outcome::Skipped(format!("more than {MEMORY} bytes")));
    }
    let [inputs, outputs, scratch] = buffers(case, gpu, &plan, &inputs);
    let failed = |error: Error| Finding::new("an error of the device", error);
    let prepared = kernels_of(gpu).prepare_blocking(&plan).map_err(failed)?;
    let mut encoder = common::encoder(gpu);
    let slots = Slots {
        inputs: &inputs.iter().map(Arena::slice).collect::<Vec<_>>(),
        outputs: &outputs.iter().map(Arena::slice).collect::<Vec<_>>(),
        scratch: &scratch.iter().map(Arena::slice).collect::<Vec<_>>(),
    };
    prepared.record(&mut encoder, &slots).map_err(failed)?;
    common::submit(gpu, encoder);
    let arenas: Vec<&Arena> = outputs.iter().chain(&inputs).chain(&scratch).collect();
    let mut buffers: Vec<&wgpu::Buffer> = arenas.iter().map(|arena| &arena.buffer).collect();
    buffers.dedup(); // all may lie in one
    let now = common::read_buffers(gpu, &buffers);
    let shown = || plan.to_string().lines().take(40).collect::<Vec<_>>().join("\n  ");
    let mut got = Vec::new();
    for (n, (arena, now)) in arenas.iter().zip(now.iter().cycle()).enumerate() {
        let inside = arena.inside(now);
        let inside = inside.map_err(|e| Finding::new("a guard", format!("buffer {n}: {e}: {}", shown())))?;
        if n < outputs.len() {
            got.push(inside[..plan.output_bytes[n] as usize].to_vec());
        }
    }
    match first_difference(&expected, &tensors(&op, got)) {
        Some(difference) => Err(Finding::new("a wrong answer", format!("{gpu}: {difference}\n  {}", shown()))),
        None => Ok(Outcome::Right(plan)),
    }
}

/// See `tests/common/crossing/mod.rs` for what it reads from the environment.
#[test]
fn crossing_everything_on_a_gpu() {
    crossing::cross("random", &scale(), 200, check);
}

/// Every operator under 200 tunings, of every way to load: the answer is always the reference's.
#[test]
fn answers_never_depend_on_the_tuning() {
    let gpu = &gpus()[0];
    let mut refused = 0;
    for seed in 0..200 {
        // Some in a row share what kernels are made by: compiling takes longer than running.
        let Tuning { group, max_team, column_packs, int64, .. } = seeded_tuning(seed / 25);
        let tuning = Tuning { group, max_team, column_packs, int64, ..seeded_tuning(1000 + seed) };
        let limits = Limits { tuning: Some(tuning), ..gpu.kernels().limits().clone() };
        for (n, op) in tuned_operations(seed).iter().enumerate() {
            let dtype = op.inputs().unwrap()[0].dtype;
            let need = |need: &InputNeed| tensor(dtype, need.bytes / dtype.bytes(), Data::EdgesWithoutNan, seed);
            let inputs: Vec<Tensor> = op.inputs().unwrap().iter().map(need).collect();
            let Some(plan) = lawful_plan(op, &limits) else {
                refused += 1;
                continue;
            };
            let bytes: Vec<&[u8]> = inputs.iter().map(Tensor::bytes).collect();
            let got = pollster::block_on(gpu.run_plan(&plan, &bytes)).unwrap();
            let expected = op.reference(&inputs.iter().collect::<Vec<_>>()).unwrap();
            let difference = first_difference(&expected, &tensors(op, got));
            assert_eq!(difference, None, "seed {seed}, operation {n}, {tuning:?}\n{plan}");
        }
    }
    assert_eq!(refused, 0, "no tuning is a reason to refuse");
}

/// One of each operator, another of their shapes for each seed.
fn tuned_operations(seed: u64) -> [AnyOperation; 4] {
    let dtype = [DType::F32, DType::U8, DType::F16, DType::I64][seed as usize % 4];
    // Long rows, short rows, far ones, columns, columns that begin anywhere, images.
    let shapes: [(&[u64], i64); 6] = [
        (&[3, 70_000], 1),
        (&[9000, 10], 1),
        (&[64, 257, 12], 1),
        (&[150, 1024], 0),
        (&[19, 3001], 0),
        (&[8, 64, 200], 1),
    ];
    let (shape, axis) = shapes[seed as usize / 4 % shapes.len()];
    let view = || View::new(shape).unwrap();
    let axes = if shape.len() == 3 { vec![0, 2] } else { vec![axis] };
    let lanes = [&shape[..shape.len() - 1], &[1]].concat();
    [
        ReduceMax::new(dtype, view()).axes(axes).into(),
        ArgMax::new(dtype, view()).axes([axis]).output(ArgMaxOutput::ValuesAndIndices).into(),
        Hardmax::new(dtype, view(), Slices::Along(axis)).into(),
        Max::new(dtype, [view(), View::new(lanes).unwrap()]).into(),
    ]
}

/// The buffers of an operation in random places, some of them wrong: an error value or an answer, never a panic, and
/// never something that wgpu refuses afterwards.
#[test]
fn bindings_are_accepted_or_refused() {
    let gpu = &gpus()[1];
    let alignment = gpu.kernels().limits().binding_alignment_bytes;
    let buffers = [(); 3].map(|()| common::filled_buffer(gpu, &[1; 1 << 17], common::USAGES));
    let place = move || {
        let begin = prop_oneof![8 => (0..100_u64).prop_map(move |n| n * alignment), 1 => 0..40_000_u64];
        (0..3_usize, begin, prop_oneof![4 => Just(98_304_u64), 1 => 0..70_000_u64])
    };
    let view = View::new([20_000]).unwrap();
    let op = ArgMax::new(DType::U8, view).output(ArgMaxOutput::ValuesAndIndices);
    let plan = op.plan(&Limits { adapter: AdapterKind::Hardware, ..gpu.kernels().limits().clone() }).unwrap();
    assert_eq!(plan.dispatches.len(), 2);
    let prepared = gpu.kernels().prepare_blocking(&plan).unwrap();
    let accepted = std::cell::Cell::new(0);
    run(2000, prop::collection::vec(place(), 4), |places| {
        let slice = |&(buffer, begin, len): &(usize, u64, u64)| {
            let begin = begin / 4 * 4;
            let buffer: &wgpu::Buffer = &buffers[buffer];
            buffer.slice(begin..(begin + len / 4 * 4 + 4).min(buffer.size()))
        };
        let slices: Vec<wgpu::BufferSlice> = places.iter().map(slice).collect();
        let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
        let mut encoder = common::encoder(gpu);
        let slots = Slots { inputs: &slices[..1], outputs: &slices[1..3], scratch: &slices[3..] };
        match prepared.record(&mut encoder, &slots) {
            Ok(()) => accepted.set(accepted.get() + 1),
            Err(
                Error::BindingTooSmall { .. }
                | Error::BindingMisaligned { .. }
                | Error::BindingOverlap { .. }
                | Error::BindingSharesBuffer { .. },
            ) => {}
            Err(error) => panic!("{error}"),
        }
        common::submit(gpu, encoder);
        let refused = pollster::block_on(scope.pop());
        prop_assert!(refused.is_none(), "wgpu refused what was accepted: {:?}", refused);
        Ok(())
    });
    assert!((20..1000).contains(&accepted.get()), "{} accepted", accepted.get());
}

/// The comparison of this file can fail.
#[test]
fn a_changed_guard_is_reported() {
    let gpu = &gpus()[0];
    let arena = Arena::new(gpu, 256, &[7; 10], &[9]);
    assert_eq!(arena.read(gpu).unwrap(), [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 9, 9]);
    gpu.queue().write_buffer(&arena.buffer, 268, &[9, 9, 8, 9]);
    assert_eq!(arena.read(gpu).unwrap_err(), "byte 270 was changed, outside of 256..268");
}
