//! Random operations: planning never panics, whatever comes; answers are the reference's bit for bit; nothing outside
//! the bindings is written, whatever lies around them and in scratch. The seed is fixed.

mod common;

use common::{Arena, Data, first_difference, gpus, tensor, tensors};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use wgmax::{
    AdapterKind, ArgMax, ArgMaxOutput, Axes, DType, EmptyMax, Error, Gpu, Hardmax, IndexType, Limits, Max, NanPolicy,
    Operation, ReduceMax, Slices, Slots, Tensor, View, wgpu,
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
    prop::sample::select(&[AdapterKind::Gpu, AdapterKind::Cpu][..])
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

fn any_limits() -> impl Strategy<Value = Limits> {
    let small = || prop_oneof![2 => any::<u32>(), 4 => 0..1025_u32, 1 => Just(65_535_u32)];
    (adapters(), small(), any_size(), any_size(), small(), small(), small(), small(), any::<bool>()).prop_map(
        |(adapter, subgroup_size, binding, alignment, bindings, invocations, memory, groups, int64)| Limits {
            adapter,
            subgroup_size,
            max_binding_bytes: binding,
            binding_alignment_bytes: alignment,
            max_storage_bindings: bindings,
            max_group_invocations: invocations,
            max_group_memory_bytes: memory,
            max_groups: groups,
            int64,
        },
    )
}

fn some_limits() -> impl Strategy<Value = Limits> {
    prop_oneof![adapters().prop_map(|adapter| Limits { adapter, ..Limits::default() }), any_limits()]
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
        plan_is_bounded(&op, &limits)?;
        let output = if both { ArgMaxOutput::ValuesAndIndices } else { ArgMaxOutput::Indices };
        let op = ArgMax::new(dtype, view).axes(axes).keep_dims(keep).nan(nan).select_last(last).output(output);
        plan_is_bounded(&op, &limits)
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
        plan_is_bounded(&Hardmax::new(dtype, view.clone(), slices).nan(nan), &limits)?;
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
        plan_is_bounded(&op, &limits)
    });
}

/// Plans twice; whatever is planned fits the limits.
fn plan_is_bounded(op: &impl Operation, limits: &Limits) -> Result<(), TestCaseError> {
    let plan = op.plan(limits);
    prop_assert_eq!(&plan, &op.plan(limits));
    let Ok(plan) = plan else { return Ok(()) };
    prop_assert!(!plan.to_string().is_empty());
    for pass in &plan.passes {
        prop_assert!(pass.grid.iter().all(|&groups| groups >= 1));
        prop_assert!(pass.grid[..2].iter().all(|&groups| groups <= limits.max_groups), "{}", plan);
        prop_assert!(pass.bindings.iter().all(|b| b.bytes <= limits.max_binding_bytes), "{}", plan);
        prop_assert!(!pass.params.to_bytes().is_empty());
    }
    Ok(())
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

/// A view that lies in some buffer: small dimensions and any strides, contiguous ones permuted, or one long dimension.
fn views() -> impl Strategy<Value = View> {
    let loose = (0..=5_usize, 0..40_u64).prop_flat_map(|(rank, offset)| {
        let most: u64 = if rank > 3 { 5 } else { 9 };
        let size = prop_oneof![1 => Just(0_u64), 20 => 1..=most];
        let dimension = (size, prop_oneof![3 => -20..=20_i64, 1 => Just(1), 1 => Just(0)]);
        prop::collection::vec(dimension, rank).prop_map(move |dimensions| strided(&dimensions, offset))
    });
    let packed = prop::collection::vec(1..=9_u64, 1..=5).prop_flat_map(|mut shape| {
        while shape.iter().product::<u64>() > 20_000 {
            shape.pop();
        }
        let order: Vec<usize> = (0..shape.len()).collect();
        (Just(shape), Just(order).prop_shuffle(), any::<bool>()).prop_map(|(shape, order, reversed)| {
            let view = View::new(shape).unwrap().permute(&order).unwrap();
            if reversed { view.reverse(0).unwrap() } else { view }
        })
    });
    // (long, a few), in either order, rows that may be apart.
    let long =
        (1..70_000_u64, 1..=4_u64, 0..5_u64, any::<bool>(), 0..40_u64).prop_map(|(len, few, gap, rows, offset)| {
            if rows {
                strided(&[(few, (len + gap) as i64), (len, 1)], offset)
            } else {
                strided(&[(len, (few + gap) as i64), (few, 1)], offset)
            }
        });
    // Columns: whole packs wide, or nearly.
    let columns = (1..200_u64, 1..9_u64, 0..2_u64, prop::sample::select(&[0_u64, 16, 3][..])).prop_map(
        |(len, packs, less, offset)| {
            let wide = packs * 16;
            strided(&[(len, wide as i64), (wide - less, 1)], offset)
        },
    );
    prop_oneof![4 => loose, 2 => packed, 1 => long, 2 => columns]
}

/// A view of these sizes and strides whose lowest element is number `offset`.
fn strided(dimensions: &[(u64, i64)], offset: u64) -> View {
    let below = |&(size, stride): &(u64, i64)| stride.min(0).unsigned_abs() * size.saturating_sub(1);
    let offset = offset + dimensions.iter().map(below).sum::<u64>();
    let (shape, strides): (Vec<u64>, Vec<i64>) = dimensions.iter().copied().unzip();
    View::strided(shape, strides, offset).unwrap()
}

/// Axes of a view, chosen by the bits of a number; now and then one that it has not, or one twice.
fn axes_of(view: &View, bits: u8) -> Axes {
    let rank = view.rank() as i64;
    match bits {
        250.. => Axes::List(vec![rank]),
        245.. => Axes::List(vec![0, -rank]),
        240.. => Axes::All,
        _ => Axes::List((0..rank).filter(|axis| bits >> axis & 1 == 1).map(|axis| axis - rank).collect()),
    }
}

fn data() -> impl Strategy<Value = Data> {
    prop::sample::select(&Data::ALL[..])
}

/// Where things lie: whole alignments before the input, the outputs and scratch, and elements after the input's last.
fn places() -> impl Strategy<Value = [u64; 4]> {
    [0..3_u64, 0..3_u64, 0..3_u64, 0..9_u64]
}

struct Case<'a> {
    gpu: &'a Gpu,
    limits: Limits,
    dtype: DType,
    views: &'a [View],
    data: Data,
    seed: u64,
    places: [u64; 4],
}

impl Case<'_> {
    fn check(&self, op: &impl Operation) -> Result<(), TestCaseError> {
        let [input_at, output_at, scratch_at, more] = self.places.map(|n| n * self.limits.binding_alignment_bytes);
        let input = |(view, seed): (&View, u64)| {
            let needed = view.buffer_bytes(self.dtype).unwrap() / self.dtype.bytes();
            tensor(self.dtype, needed + more / 256, self.data, seed)
        };
        let inputs: Vec<Tensor> = self.views.iter().zip(self.seed / 2..).map(input).collect();
        let plan = match (op.plan(&self.limits), op.reference(&inputs.iter().collect::<Vec<_>>())) {
            (Ok(plan), Ok(expected)) => (plan, expected),
            (Err(planned), Err(answered)) => {
                prop_assert_eq!(planned, answered);
                return Ok(());
            }
            (planned, answered) => panic!("{planned:?}, but the reference says {answered:?}"),
        };
        let (plan, expected) = plan;
        let gpu = self.gpu;
        // What surrounds the input wins against everything; scratch and outputs are full of it, too.
        let winner = &[0x7f_u8, 0xff, 0xff, 0xff][..];
        let arena = |input: &Tensor| Arena::new(gpu, input_at, input.bytes(), winner);
        let inputs: Vec<Arena> = inputs.iter().map(arena).collect();
        let dirty = |at: u64, &bytes: &u64| Arena::new(gpu, at, &vec![0xa5; bytes as usize], &[0xff, 0x7f, 0xff, 0x5a]);
        let outputs: Vec<Arena> = plan.output_bytes.iter().map(|bytes| dirty(output_at, bytes)).collect();
        let scratch: Vec<Arena> = plan.scratch_bytes.iter().map(|bytes| dirty(scratch_at, bytes)).collect();
        let prepared = gpu.kernels().prepare_blocking(&plan).unwrap();
        let mut encoder = common::encoder(gpu);
        let slots = Slots {
            inputs: &inputs.iter().map(Arena::slice).collect::<Vec<_>>(),
            outputs: &outputs.iter().map(Arena::slice).collect::<Vec<_>>(),
            scratch: &scratch.iter().map(Arena::slice).collect::<Vec<_>>(),
        };
        prepared.record(&mut encoder, &slots).unwrap();
        common::submit(gpu, encoder);
        let got = outputs.iter().map(|output| output.read(gpu)).collect::<Result<Vec<_>, _>>();
        let got = tensors(op, got.map_err(|error| TestCaseError::fail(format!("output: {error}\n{plan}")))?);
        if let Some(difference) = first_difference(&expected, &got) {
            return Err(TestCaseError::fail(format!("{gpu}: {difference}\n{plan}")));
        }
        for (arena, name) in scratch.iter().map(|s| (s, "scratch")).chain(inputs.iter().map(|i| (i, "input"))) {
            arena.read(gpu).map_err(|error| TestCaseError::fail(format!("{name}: {error}\n{plan}")))?;
        }
        Ok(())
    }
}

#[test]
fn reduce_max_is_right_and_stays_within_its_bindings() {
    let options = (nan_policies(), any::<bool>(), prop::sample::select(&[EmptyMax::Least, EmptyMax::Error][..]));
    let device = (0..2_usize, adapters());
    let strategy = (views(), any::<u8>(), dtypes(), data(), any::<u64>(), places(), options, device);
    run(400, strategy, |(view, bits, dtype, data, seed, places, (nan, keep, empty), (gpu, adapter))| {
        let gpu = &gpus()[gpu];
        let limits = Limits { adapter, ..gpu.kernels().limits().clone() };
        let op = ReduceMax::new(dtype, view.clone()).axes(axes_of(&view, bits)).nan(nan).keep_dims(keep).empty(empty);
        Case { gpu, limits, dtype, views: &[view], data, seed, places }.check(&op)
    });
}

#[test]
fn arg_max_is_right_and_stays_within_its_bindings() {
    let index = prop::sample::select(&[IndexType::I64, IndexType::I32, IndexType::U32][..]);
    let options = (nan_policies(), any::<[bool; 3]>(), index);
    let device = (0..2_usize, adapters());
    let strategy = (views(), any::<u8>(), dtypes(), data(), any::<u64>(), places(), options, device);
    run(400, strategy, |(view, bits, dtype, data, seed, places, (nan, [keep, last, both], index), (gpu, adapter))| {
        let gpu = &gpus()[gpu];
        let limits = Limits { adapter, ..gpu.kernels().limits().clone() };
        let output = if both { ArgMaxOutput::ValuesAndIndices } else { ArgMaxOutput::Indices };
        let op = ArgMax::new(dtype, view.clone())
            .axes(axes_of(&view, bits))
            .nan(nan)
            .keep_dims(keep)
            .select_last(last)
            .index(index)
            .output(output);
        Case { gpu, limits, dtype, views: &[view], data, seed, places }.check(&op)
    });
}

#[test]
fn hardmax_is_right_and_stays_within_its_bindings() {
    let device = (0..2_usize, adapters());
    let strategy =
        (views(), -6..7_i64, any::<bool>(), dtypes(), data(), any::<u64>(), places(), nan_policies(), device);
    run(400, strategy, |(view, axis, along, dtype, data, seed, places, nan, (gpu, adapter))| {
        let gpu = &gpus()[gpu];
        let limits = Limits { adapter, ..gpu.kernels().limits().clone() };
        let axis = axis % (view.rank() as i64 + 1); // the rank itself is no axis to go along
        let slices = if along { Slices::Along(axis) } else { Slices::From(axis) };
        let op = Hardmax::new(dtype, view.clone(), slices).nan(nan);
        Case { gpu, limits, dtype, views: &[view], data, seed, places }.check(&op)
    });
}

/// Several views of one shape, as far as they have it, and what of it broadcasts.
fn operands() -> impl Strategy<Value = Vec<View>> {
    (views(), prop::collection::vec((0..5_u8, 0..8_usize), 0..9)).prop_map(|(view, others)| {
        let shape = view.shape().to_vec();
        let mut operands = vec![view];
        for (kind, n) in others {
            let mut other = shape.clone();
            match kind {
                0 => drop(other.drain(..n % (shape.len() + 1))),
                1 | 2 if !shape.is_empty() => other[n % shape.len()] = 1,
                3 => other.fill(1),
                _ => {}
            }
            operands.push(View::new(other).unwrap());
        }
        operands
    })
}

#[test]
fn max_is_right_and_stays_within_its_bindings() {
    let device = (0..2_usize, adapters());
    let strategy = (operands(), any::<bool>(), dtypes(), data(), any::<u64>(), places(), nan_policies(), device);
    run(400, strategy, |(views, constant, dtype, data, seed, places, nan, (gpu, adapter))| {
        let gpu = &gpus()[gpu];
        let limits = Limits { adapter, ..gpu.kernels().limits().clone() };
        let mut op = Max::new(dtype, views.clone()).nan(nan);
        if constant {
            op = op.constant(tensor(dtype, 1, Data::EdgesWithoutNan, seed));
        }
        Case { gpu, limits, dtype, views: &views, data, seed, places }.check(&op)
    });
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
    let plan = op.plan(&Limits { adapter: AdapterKind::Gpu, ..gpu.kernels().limits().clone() }).unwrap();
    assert_eq!(plan.passes.len(), 2);
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
    let tensor = Tensor::new([2], &[1_u8, 2]).unwrap();
    assert!(first_difference(std::slice::from_ref(&tensor), std::slice::from_ref(&tensor)).is_none());
}
