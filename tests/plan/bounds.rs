//! Bounds that every plan keeps.

use wgmax::plan::Override;
use wgmax::{
    AdapterKind, ArgMax, ArgMaxOutput, DType, Error, Hardmax, IndexType, Limits, Max, Operation, Parts, Plan,
    ReduceMax, Slices, Tuning, View,
};

use super::common::laws::{lawful_plan, puts_in_order};

/// Bytes of the elements that a view sees, no more than those from its first to its last.
fn seen_bytes(view: &View, dtype: DType) -> u64 {
    if view.is_empty() {
        return 0;
    }
    let reach = |&(size, stride): &(&u64, &i64)| (size - 1) * stride.unsigned_abs();
    let span = 1 + view.shape().iter().zip(view.strides()).map(|pair| reach(&pair)).sum::<u64>();
    span.min(view.len()) * dtype.bytes()
}

/// The laws, and of one view: scratch is as little as what is seen, not what is spanned, allows, or else the outputs in another order.
fn check_bounds(op: &impl Operation, view: &View, dtype: DType, limits: &Limits, case: &str) {
    let Some(plan) = lawful_plan(op, limits) else {
        let error = op.plan(limits).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{case}: {error}");
        return;
    };
    let [records, left] = plan.scratch_bytes;
    let folds = plan.dispatches.iter().any(|dispatch| dispatch.kernel.overrides.contains(&Override::Folded));
    let most = seen_bytes(view, dtype) / if folds { 4 } else { 64 } + (64 << 10);
    let outputs = plan.output_bytes[0].next_multiple_of(16);
    let bounded = match plan.dispatches.last().is_some_and(puts_in_order) {
        true => records <= most && left <= outputs,
        false => records + left <= most,
    };
    assert!(bounded, "{case} {limits:?}\n{plan}");
}

pub fn limits_sweep() -> Vec<Limits> {
    let huge = |adapter| Limits {
        int64: true,
        shared_buffers: false,
        tuning: None,
        adapter,
        max_binding_bytes: 2 << 30,
        binding_alignment_bytes: 16,
        max_storage_bindings: 64,
        max_group_invocations: 1024,
        max_group_memory_bytes: 48 << 10,
        max_groups: 65_535,
    };
    let least = |adapter| Limits { adapter, max_group_invocations: 1, max_groups: 4096, ..Limits::default() };
    [AdapterKind::Hardware, AdapterKind::Lavapipe]
        .into_iter()
        .flat_map(|adapter| [Limits { adapter, ..Limits::default() }, huge(adapter), least(adapter)])
        .chain([Limits { shared_buffers: true, ..Limits::default() }])
        .collect()
}

pub fn view_sweep() -> Vec<View> {
    let strided = |shape: &[u64], strides: &[i64], offset| View::strided(shape, strides, offset).unwrap();
    let mut views: Vec<View> = [
        &[][..],
        &[1],
        &[2],
        &[255],
        &[4096],
        &[65_535],
        &[65_537],
        &[1 << 20],
        &[1 << 24],
        &[(1 << 24) + 1],
        &[1 << 27],
        &[1 << 29],
        &[1, 128_256],
        &[64, 128_256],
        &[4097, 16],
        &[1 << 20, 16],
        &[1 << 23, 4],
        &[(1 << 23) + 1, 3],
        &[16, 1 << 20],
        &[3, 1 << 22],
        &[2, 65_536, 33],
        &[512, 512, 19],
        &[8, 3, 640, 640],
        &[1000, 1000, 17],
        &[2, 0, 5],
        &[7, 7, 7, 7, 7],
        &[70_000, 3],
        &[70_000 * 64, 2],
        &[2, 70_000 * 8, 16],
    ]
    .into_iter()
    .map(|shape| View::new(shape).unwrap())
    .collect();
    views.extend([
        strided(&[1 << 20, 9], &[-9, 1], 9 * ((1 << 20) - 1)),
        strided(&[1 << 20, 7], &[8, 1], 1_000_003),
        strided(&[1 << 12, 1 << 12], &[1, 1 << 12], 5),
        strided(&[1 << 12, 1 << 12], &[1, 1], 0),
        strided(&[1 << 12, 1 << 12], &[0, 1], 0),
        strided(&[1 << 13, 1 << 12], &[1, 0], 0),
        strided(&[1 << 24], &[0], 3),
        strided(&[1 << 30], &[0], 3),
        strided(&[1 << 16, 1 << 14], &[0, 0], 3),
        strided(&[1 << 23], &[7], 0),
        strided(&[1 << 10, 1 << 10, 5], &[5 << 10, -5, 1], 5 << 10),
        strided(&[5, 1 << 22], &[1, 5], 0),
        strided(&[33, 64, 1001], &[1, 33 * 1001, 33], 0),
        strided(&[33, 7, 64, 1001], &[-1, 0, 33 * 1001, 33], 32),
    ]);
    views
}

/// `[]`, each axis, the first half, the last half, all but the first, all.
pub fn axes_sweep(rank: usize) -> Vec<Vec<i64>> {
    let rank = rank as i64;
    let mut sets: Vec<Vec<i64>> = (0..rank).map(|axis| vec![axis]).collect();
    let ranges = [0..0, 0..rank / 2, rank / 2..rank, 1..rank, 0..rank];
    sets.extend(ranges.into_iter().map(|range| range.collect::<Vec<i64>>()));
    sets.sort();
    sets.dedup();
    sets
}

#[test]
fn every_plan_keeps_its_bounds() {
    for view in view_sweep() {
        for axes in axes_sweep(view.rank()) {
            for dtype in DType::ALL {
                for limits in limits_sweep() {
                    let case = format!("{dtype} {view:?} {axes:?}");
                    let op = ReduceMax::new(dtype, view.clone()).axes(axes.clone());
                    check_bounds(&op, &view, dtype, &limits, &case);
                    if view.rank() == 0 || view.is_empty() {
                        continue;
                    }
                    let op = ArgMax::new(dtype, view.clone()).axes(axes.clone());
                    check_bounds(&op, &view, dtype, &limits, &case);
                    let op = op.output(ArgMaxOutput::ValuesAndIndices).index(IndexType::U32);
                    check_bounds(&op, &view, dtype, &limits, &case);
                }
            }
        }
    }
}

fn lavapipe() -> Limits {
    Limits { adapter: AdapterKind::Lavapipe, max_group_invocations: 1024, ..Limits::default() }
}

fn strided(shape: &[u64], strides: &[i64]) -> View {
    View::strided(shape, strides, 0).unwrap()
}

/// The plan, which there is.
fn planned(op: &impl Operation, limits: &Limits) -> Plan {
    lawful_plan(op, limits).unwrap_or_else(|| panic!("{:?} is refused: {}", op.outputs(), op.plan(limits).unwrap_err()))
}

/// Teams of the finishing dispatch that take thousands of partial results each leave no unit of the output without a writer.
#[test]
fn every_unit_of_a_finished_output_has_a_writer() {
    for (rows, max_binding_bytes) in [(80_000, 5500 << 10), (1 << 21, 128 << 20)] {
        let limits = Limits { max_binding_bytes, ..lavapipe() };
        let view = strided(&[rows, 64], &[80, 1]);
        for dtype in [DType::U8, DType::Bf16, DType::I16] {
            planned(&ReduceMax::new(dtype, view.clone()), &limits);
            let both = ArgMax::new(dtype, view.clone()).output(ArgMaxOutput::ValuesAndIndices);
            planned(&both, &limits);
        }
    }
}

/// On a device of few workgroups, or of little memory for them, an invocation has more to write than one loop may.
#[test]
fn few_invocations_write_much_in_many_dispatches() {
    let view = |shape: &[u64]| View::new(shape).unwrap();
    let reversed = view(&[17_000_000]).reverse(0).unwrap();
    for adapter in AdapterKind::ALL {
        let few = Limits { adapter, max_groups: 4, ..lavapipe() };
        let small = Limits { adapter, max_group_memory_bytes: 0, ..lavapipe() };
        planned(&Max::new(DType::I32, [reversed.clone()]), &few);
        planned(&Hardmax::new(DType::I32, view(&[262_144, 70]), Slices::Along(1)), &few);
        planned(&Hardmax::new(DType::I32, view(&[70, 262_144]), Slices::Along(0)), &few);
        planned(&Max::new(DType::F32, [view(&[1_100_000]), view(&[1])]), &small);
        planned(&Max::new(DType::F32, vec![view(&[1000, 1100]); 3]), &small);
        planned(&ReduceMax::new(DType::F32, view(&[100_000, 0])).axes([1]), &few);
        planned(&ReduceMax::new(DType::F32, view(&[300, 20_000])).axes([1]), &few);
    }
    // Many operands of many dimensions: finding a row's addresses takes longer than its elements.
    let shape = [3; 12];
    let turned = view(&shape).permute(&(0..12).rev().collect::<Vec<_>>()).unwrap();
    let limits = Limits { max_storage_bindings: 16, ..lavapipe() };
    planned(&Max::new(DType::U8, [vec![view(&shape); 7], vec![turned; 7]].concat()), &limits);
}

/// Where rows are short, and to find where they begin takes long, that decides how much an invocation writes.
#[test]
fn invocations_that_write_as_much_as_they_may_stop_in_time() {
    for dtype in DType::ALL {
        for (rank, row) in (8..=24_usize).flat_map(|rank| (2..=20).map(move |row| (rank, row))) {
            // Dimensions of two, none of which goes on where another ends.
            let shape: Vec<u64> = [vec![2; rank - 1], vec![row]].concat();
            let strides: Vec<i64> = (0..rank).map(|d| if d + 1 == rank { 1 } else { 32 << d }).collect();
            let view = View::strided(shape, strides, 0).unwrap();
            write_as_much_as_may_be(dtype, &view);
        }
        // Stretches of rows that end within packs, apart from each other.
        for (rows, row) in (2..=40).flat_map(|rows| (2..=20).map(move |row| (rows, row))) {
            let apart = rows * row + 1;
            let view = strided(&[100_000_000 / apart, rows, row], &[apart as i64, row as i64, 1]);
            write_as_much_as_may_be(dtype, &view);
        }
    }
}

fn write_as_much_as_may_be(dtype: DType, view: &View) {
    let row = View::new([*view.shape().last().unwrap()]).unwrap();
    for adapter in AdapterKind::ALL {
        let tuning = Some(Tuning { max_share: 1024, ..Tuning::of(adapter) });
        for limits in
            [Limits { adapter, max_groups: 64, ..lavapipe() }, Limits { adapter, tuning, ..Limits::default() }]
        {
            lawful_plan(&Max::new(dtype, [view.clone()]), &limits);
            lawful_plan(&Max::new(dtype, [view.clone(), row.clone()]), &limits);
        }
    }
}

/// Rows that fill no bunch are taken one by one, each with all of its runs.
#[test]
fn rows_that_fill_no_bunch_are_taken_in_time() {
    for (dtype, outer) in DType::ALL.into_iter().flat_map(|own| [1, 3, 16, 20, 64].map(|outer| (own, outer))) {
        for (len, columns) in [2, 3, 4, 9, 13, 43, 57, 128].into_iter().flat_map(|len| {
            [1, 2, 3, 5, 13, 35, 60, 105, 171].into_iter().filter(move |n| len * n <= 512).map(move |n| (len, n))
        }) {
            for blocks in [99, 4096] {
                let view = View::new([outer, blocks, len, columns]).unwrap();
                for adapter in AdapterKind::ALL {
                    let limits = Limits { adapter, ..Limits::default() };
                    lawful_plan(&ReduceMax::new(dtype, view.clone()).axes([0, 2]), &limits);
                    lawful_plan(&ArgMax::new(dtype, view.clone()).axes([0, 2]), &limits);
                }
            }
        }
    }
}

/// What parts have in common is their shape, not how they lie in their buffers.
#[test]
fn parts_of_different_layout_are_reduced_together() {
    let contiguous = View::new([1, 2000, 2000]).unwrap();
    let pitched = strided(&[1, 2000, 2000], &[0, 2003, 1]);
    let transposed = strided(&[1, 2000, 2000], &[0, 1, 2000]);
    let parts = Parts::new([contiguous, pitched, transposed]).unwrap();
    for limits in [lavapipe(), Limits::default()] {
        for axes in [vec![0], vec![1], vec![2], vec![1, 2], vec![0, 2], vec![0, 1, 2]] {
            for dtype in [DType::F32, DType::U8] {
                planned(&ReduceMax::new(dtype, parts.clone()).axes(axes.clone()), &limits);
                planned(&ArgMax::new(dtype, parts.clone()).axes(axes.clone()), &limits);
            }
        }
    }
}

/// Neither in parts, the first of which has a single row, nor of an output that is an input.
#[test]
fn strides_of_dimensions_of_one_index_mean_nothing() {
    let parts = |idle: i64| {
        let single = View::strided([1, 1024], [idle, 1], 0).unwrap();
        Parts::new([single, View::new([1 << 16, 1024]).unwrap()]).unwrap()
    };
    let planned = |idle| ReduceMax::new(DType::F32, parts(idle)).axes([1]).plan(&lavapipe()).unwrap();
    assert_eq!(planned(1024), planned(0));
    assert_eq!(planned(1024), planned(i64::from(u32::MAX) * 8));
    let in_place = |idle| Max::new(DType::F32, [strided(&[7, 1, 9], &[9, idle, 1])]).in_place(0);
    assert_eq!(in_place(9).plan(&lavapipe()), in_place(-1).plan(&lavapipe()));
}

#[test]
fn few_workgroups_finish_few_outputs_at_a_time() {
    for adapter in AdapterKind::ALL {
        let limits = Limits { adapter, max_groups: 16, max_binding_bytes: 1 << 20, ..lavapipe() };
        for shape in [[3000, 3000], [30, 300_000], [300_000, 30]] {
            for axis in [0, 1] {
                let view = View::new(shape).unwrap();
                planned(&ReduceMax::new(DType::U8, view.clone()).axes([axis]), &limits);
                planned(&ArgMax::new(DType::F32, view.clone()).axes([axis]), &limits);
                planned(&Hardmax::new(DType::F16, view, Slices::Along(axis)), &limits);
            }
        }
    }
}

/// One count of dispatches for all operators: what is planned has at most 4096, what is refused would have more.
#[test]
fn dispatches_are_counted_once() {
    let limits = |bytes| Limits { max_binding_bytes: bytes, ..lavapipe() };
    let mut refused = 0;
    for (len, bytes) in [(4096, 1024), (4097, 1024), (9000, 1024), (20_000, 2048), (300_000, 4096)] {
        for elements in [64_u64, 100, 128] {
            let view = View::new([len, elements]).unwrap();
            let ops: [Box<dyn Operation>; 5] = [
                Box::new(Max::new(DType::F32, [view.clone(), View::new([1]).unwrap()])),
                Box::new(Max::new(DType::F32, vec![view.clone(); 9])),
                Box::new(Hardmax::new(DType::F32, view.clone(), Slices::Along(1))),
                Box::new(ReduceMax::new(DType::F32, view.clone()).axes([1])),
                Box::new(ArgMax::new(DType::F32, view)),
            ];
            for op in ops {
                if lawful_plan(&*op, &limits(bytes)).is_none() {
                    let error = op.plan(&limits(bytes)).unwrap_err();
                    let Error::TooLarge { what, given, limit: 4096 } = error else { panic!("{error}") };
                    assert!(what.starts_with("dispatches of a plan") && given > 4096, "{what}: {given}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 0);
}

/// Some devices report bindings of more than 4 GiB, whose words 32 bits cannot count.
#[test]
fn bindings_stay_below_4_gib() {
    let limits = Limits { max_binding_bytes: 1 << 40, ..Limits::default() };
    for dtype in [DType::U8, DType::I64] {
        for axis in [0, 1] {
            let view = View::new([1 << 17, 1 << 16]).unwrap();
            planned(&ReduceMax::new(dtype, view.clone()).axes([axis]), &limits);
            planned(&Hardmax::new(dtype, view.clone(), Slices::Along(axis)), &limits);
            planned(&Max::new(dtype, [view.clone(), view]), &limits);
        }
    }
}

/// Around 2^31 and 2^32, where sums of 32 bits wrap: also where what is read is small, since it is repeated.
#[test]
fn what_32_bits_cannot_count_goes_in_parts() {
    let repeated = |shape: [u64; 2], of: [u64; 2]| View::new(of).unwrap().broadcast(&shape).unwrap();
    let shapes = [31, 32].into_iter().flat_map(|bits| {
        let n = 1_u64 << bits;
        [[1, n - 1], [1, n], [1, n + 1], [n / 2 + 1, 2], [65_535, n / 65_535], [n / 3, 3], [64_772, n / 64_772 + 1]]
    });
    for (shape, dtype) in shapes.flat_map(|shape| DType::ALL.map(|dtype| (shape, dtype))) {
        for (adapter, max_groups) in AdapterKind::ALL.into_iter().flat_map(|a| [(a, 65_535), (a, 1 << 20)]) {
            let limits = Limits { adapter, max_groups, max_binding_bytes: 1 << 44, ..Limits::default() };
            for of in [[1, 1], [1, shape[1]], [shape[0], 1], shape] {
                let view = repeated(shape, of);
                lawful_plan(&Max::new(dtype, [view.clone()]), &limits);
                lawful_plan(&Max::new(dtype, [view.clone(), repeated(shape, [1, 1])]), &limits);
                for axis in [0, 1] {
                    lawful_plan(&ReduceMax::new(dtype, view.clone()).axes([axis]), &limits);
                    lawful_plan(&ArgMax::new(dtype, view.clone()).axes([axis]), &limits);
                    lawful_plan(&Hardmax::new(dtype, view.clone(), Slices::Along(axis)), &limits);
                }
            }
        }
    }
    // All of it is planned, in parts, and nothing of it is refused.
    let limits = Limits { max_binding_bytes: 1 << 44, ..Limits::default() };
    planned(&Max::new(DType::I8, [repeated([65_535, 64_772], [1, 1])]), &limits);
}

/// Around 2^61 to 2^63 elements, where bytes and the words that hold them leave 64 bits: planned or refused, without a wrong sum.
#[test]
fn what_64_bits_cannot_count_is_refused() {
    for (dtype, n) in DType::ALL.into_iter().flat_map(|own| (0..5).map(move |k| (own, most_elements(own) + 1 - k))) {
        let of_two = [1, 2, 3, 7].map(|d| [n / d, d]);
        for shape in of_two.into_iter().chain(of_two.map(|[rows, columns]| [columns, rows])) {
            let repeated = |of: [u64; 2]| View::new(of).and_then(|view| view.broadcast(&shape));
            let views = [[1, 1], [1, shape[1]], [shape[0], 1], shape].into_iter().filter_map(|of| repeated(of).ok());
            for (view, adapter) in views.flat_map(|view| AdapterKind::ALL.map(|adapter| (view.clone(), adapter))) {
                let limits = Limits { adapter, max_binding_bytes: u64::MAX / 4 * 4, ..Limits::default() };
                planned_or_too_large(&Max::new(dtype, [view.clone()]), &limits);
                for axes in [vec![], vec![0], vec![1], vec![0, 1]] {
                    planned_or_too_large(&ReduceMax::new(dtype, view.clone()).axes(axes.clone()), &limits);
                    planned_or_too_large(&ArgMax::new(dtype, view.clone()).axes(axes), &limits);
                }
                for slices in [Slices::Along(0), Slices::Along(1), Slices::From(0)] {
                    planned_or_too_large(&Hardmax::new(dtype, view.clone(), slices), &limits);
                }
            }
        }
    }
}

/// The most elements of a type that a tensor can have.
fn most_elements(dtype: DType) -> u64 {
    (i64::MAX as u64).min(u64::MAX / dtype.bytes())
}

fn planned_or_too_large(op: &(impl Operation + std::fmt::Debug), limits: &Limits) {
    if lawful_plan(op, limits).is_none() {
        let error = op.plan(limits).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{op:?} {limits:?}: {error}");
    }
}

/// Whatever a device can run, one with larger bindings can, too.
#[test]
fn larger_bindings_refuse_nothing_more() {
    let bindings = [1 << 27, 1 << 28, 1 << 30, (1 << 31) - 4, (1 << 32) - 4];
    let (mut plans, mut refused) = (0, Vec::new());
    for (n, dtype) in [16_384, 20_001, 32_768, 46_341, 65_536].into_iter().flat_map(|n| DType::ALL.map(|own| (n, own)))
    {
        let rows = View::new([n, n]).unwrap();
        let columns = strided(&[n, n], &[1, n as i64]);
        let ops: [Box<dyn Operation>; 8] = [
            Box::new(Max::new(dtype, [rows.clone(), columns.clone()])),
            Box::new(ReduceMax::new(dtype, columns.clone()).axes([])),
            Box::new(ReduceMax::new(dtype, columns.clone()).axes([0])),
            Box::new(ReduceMax::new(dtype, rows.clone()).axes([0])),
            Box::new(ArgMax::new(dtype, columns.clone()).axes([1])),
            Box::new(ArgMax::new(dtype, strided(&[2, n * n / 2], &[1, 2])).axes([0])),
            Box::new(Hardmax::new(dtype, rows, Slices::Along(0))),
            Box::new(Hardmax::new(dtype, columns, Slices::Along(0))),
        ];
        for (number, op) in ops.iter().enumerate() {
            for adapter in AdapterKind::ALL {
                let limits = |max_binding_bytes| Limits { adapter, max_binding_bytes, ..Limits::default() };
                let outcomes = bindings.map(|bytes| op.plan(&limits(bytes)));
                plans += outcomes.iter().filter(|own| own.is_ok()).count();
                let regress = outcomes.windows(2).find(|pair| pair[0].is_ok() && pair[1].is_err());
                refused.extend(regress.map(|pair| {
                    format!("{number}: {} {dtype} {n} {adapter:?}: {}", op.name(), pair[1].as_ref().unwrap_err())
                }));
            }
        }
    }
    assert!(refused.is_empty(), "{} of {plans}: {refused:#?}", refused.len());
}
