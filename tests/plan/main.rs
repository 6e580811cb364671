//! Plans as data: what is dispatched, and within which bounds. No GPU needed. What plans do is run on paper, in
//! `tests/paper`.

mod addresses;
mod bounds;
#[path = "../common/mod.rs"]
mod common;
#[path = "../../examples/plan.rs"]
#[allow(dead_code)] // its entry point
mod example;
mod record;

use std::collections::BTreeMap;

use common::laws::check_planned;
use wgmax::plan::{
    Access, BroadcastParams, Dim, Epilogue, HardmaxWriter, MaxAccess, MaxOperands, Operator, Override, Params,
    PortableAccess, PortableBinding, PortablePlan, PortableShader, PortableSlot, Program, ReductionParams, RowBlock,
    Slot, Stores,
};
use wgmax::{
    AdapterKind, AnyOperation, ArgMax, ArgMaxOutput, Axes, Calibration, DType, EmptyMax, Error, Hardmax, Limits, Max,
    NanPolicy, Operation, Plan, ReduceMax, Slices, Tensor, Tuning, View,
};

fn gpu() -> Limits {
    Limits::default()
}

fn cpu() -> Limits {
    Limits { adapter: AdapterKind::SwiftShader, ..Limits::default() }
}

fn reduce_max(dtype: DType, shape: &[u64], axes: &[i64]) -> ReduceMax {
    ReduceMax::new(dtype, View::new(shape).unwrap()).axes(axes)
}

fn arg_max(dtype: DType, shape: &[u64], axes: &[i64]) -> ArgMax {
    ArgMax::new(dtype, View::new(shape).unwrap()).axes(axes)
}

/// The dispatches' programs, as if they stored result by result.
fn programs(op: &impl Operation, limits: &Limits) -> Vec<Program> {
    let plan = op.plan(limits).unwrap();
    plan.dispatches.iter().map(|dispatch| common::kernels::storing_results(dispatch.kernel.program)).collect()
}

fn reduced(access: Access, epilogue: Epilogue) -> Program {
    Program::Reduce { access, epilogue, stores: Stores::Results }
}

/// To records, and those to the rest.
fn split(access: Access, epilogue: Epilogue) -> [Program; 2] {
    [reduced(access, Epilogue::Record(epilogue.operator())), Program::Merge { epilogue }]
}

// What is chosen.

#[test]
fn one_dispatch_where_one_is_enough() {
    for limits in [gpu(), cpu()] {
        let rows = [reduced(Access::Rows, Epilogue::Value)];
        assert_eq!(programs(&reduce_max(DType::F32, &[4096, 72], &[1]), &limits), rows);
        let columns = [reduced(Access::Columns, Epilogue::Value)];
        assert_eq!(programs(&reduce_max(DType::U8, &[64, 16, 1024], &[1]), &limits), columns);
        let strided = [reduced(Access::Strided, Epilogue::Value)];
        assert_eq!(programs(&reduce_max(DType::F32, &[5, 3], &[1]), &limits), strided);
        let rows = [reduced(Access::Rows, Epilogue::Index)];
        assert_eq!(programs(&arg_max(DType::F16, &[4096, 72], &[1]), &limits), rows);
        let columns = [reduced(Access::Columns, Epilogue::Index)];
        assert_eq!(programs(&arg_max(DType::I64, &[64, 16, 1024], &[1]), &limits), columns);
    }
}

/// Blocks of a few short rows each, that begin with packs or anywhere, or are one again and again: what is planned can be run.
#[test]
fn few_short_rows_in_blocks_have_kernels() {
    let check = |dtype, view: View, limits: &Limits| {
        let (along, two) = (view.rank() as i64 - 1, [view.rank() as i64 - 1, 1]);
        let ops: [AnyOperation; 4] = [
            ReduceMax::new(dtype, view.clone()).axes([along]).into(),
            ReduceMax::new(dtype, view.clone()).axes(two).into(),
            ArgMax::new(dtype, view.clone()).axes([along]).into(),
            Hardmax::new(dtype, view, Slices::Along(along)).into(),
        ];
        ops.iter().for_each(|op| common::laws::check_planned(op, &op.plan(limits), limits));
    };
    let kinds = AdapterKind::ALL.map(|adapter| Limits { adapter, ..Limits::default() });
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        let pack = (16 / dtype.bytes()) as i64;
        for (rows, len) in (1..=8).flat_map(|rows| [2, 3, 4, 5, 8].map(|len| (rows, len))) {
            let (blocks, block) = ((1 << 20) / (rows * len) as u64, rows * len);
            let aligned = (block as u64).next_multiple_of(pack as u64) as i64;
            for (pitch, first) in
                [(block, 0), (aligned, 0), (aligned, 1), (aligned + pack, 0), (aligned + 1, 0), (0, 0)]
            {
                let of_rows = View::strided([blocks, rows as u64, len as u64], [pitch, len, 1], first).unwrap();
                let shape = [blocks / 4 + 1, 2, 2, rows as u64, len as u64];
                let of_windows = View::strided(shape, [4 * pitch, 2 * pitch, len, 2 * len, 1], first).unwrap();
                for limits in &kinds {
                    check(dtype, of_rows.clone(), limits);
                    check(dtype, of_windows.clone(), limits);
                }
            }
        }
    }
}

/// Columns have a larger workgroup where nothing need be split then, and their usual one where it is.
#[test]
fn larger_workgroups_take_columns_that_would_be_split() {
    let large = Limits { max_group_invocations: 1024, max_group_memory_bytes: 48 << 10, ..gpu() };
    let groups = |rows, columns, limits: &Limits| -> Vec<_> {
        let plan = arg_max(DType::F32, &[3, rows, columns], &[1]).plan(limits).unwrap();
        let group = |own: &Override| if let Override::Group(n) = *own { Some(n) } else { None };
        plan.dispatches.iter().map(|dispatch| dispatch.kernel.overrides.iter().find_map(group).unwrap()).collect()
    };
    assert_eq!([groups(200, 512, &large), groups(784, 512, &large)], [vec![256], vec![512]]);
    assert_eq!([groups(784, 512, &gpu()), groups(1 << 14, 64, &large)], [vec![256, 256], vec![256, 256]]);
}

/// What each dispatch stores at once.
fn stores(op: &dyn Operation, limits: &Limits) -> Vec<Stores> {
    let stores = |program| if let Program::Reduce { stores, .. } = program { stores } else { Stores::Results };
    op.plan(limits).unwrap().dispatches.iter().map(|dispatch| stores(dispatch.kernel.program)).collect()
}

/// Columns are stored in packs where rows of the output are whole ones, wherever those of the input begin. Of rows that end within
/// packs, these are apart.
#[test]
fn packs_of_outputs_are_stored_as_such() {
    let values = |shape: &[u64]| ReduceMax::new(DType::U8, View::new(shape).unwrap()).axes([1]);
    let positions = |dtype, shape: &[u64], axis| ArgMax::new(dtype, View::new(shape).unwrap()).axes([axis]);
    let seams = [Stores::Packs, Stores::Seams];
    for limits in [gpu(), cpu()] {
        assert_eq!(stores(&values(&[64, 16, 1024]), &limits), [Stores::Packs]);
        assert_eq!(stores(&positions(DType::I64, &[64, 16, 1024], 1), &limits), [Stores::Results]);
        let padded = View::strided([64, 16, 1024], [16 * 1025, 1025, 1], 3).unwrap();
        assert_eq!(stores(&ReduceMax::new(DType::U8, padded).axes([1]), &limits), [Stores::Packs]);
        assert_eq!(stores(&positions(DType::U8, &[4, (1 << 20) + 1], 0), &limits), seams);
        assert_eq!(stores(&positions(DType::U8, &[999, 4, 1025], 1), &limits), seams);
        assert_eq!(stores(&positions(DType::U8, &[4, 1025], 0), &limits), [Stores::Results]);
        assert_eq!(stores(&values(&[64, 16, 1025]), &limits), [Stores::Results]); // too few loads
    }
    assert_eq!(stores(&values(&[640, 16, 1025]), &cpu()), seams);
    assert_eq!(stores(&values(&[640, 16, 1025]), &gpu()), [Stores::Results]);
}

/// The results of bunches of short rows are stored in packs on software, where they are such. What does not fill a bunch is apart.
#[test]
fn packs_of_bunches_are_stored_as_such() {
    let (packs, rest) = (vec![Stores::Packs], vec![Stores::Packs, Stores::Results]);
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        let values = |rows, limits| stores(&reduce_max(dtype, &[rows, 3], &[1]), &limits);
        let positions = |rows, limits| stores(&arg_max(dtype, &[rows, 3], &[1]), &limits);
        for rows in [1 << 12, 1 << 20] {
            assert_eq!([values(rows, cpu()), positions(rows, cpu())], [packs.clone(), packs.clone()]);
            assert_eq!(positions(rows, gpu()), [Stores::Results]);
        }
        assert_eq!([values((1 << 20) + 1, cpu()), positions((1 << 20) + 1, cpu())], [rest.clone(), rest.clone()]);
        assert_eq!(values((1 << 12) + 1, cpu()), [Stores::Results]); // too few loads
        assert_eq!(values(1 << 20, gpu()), packs);
        assert_eq!(values((1 << 20) + 1, gpu()), [Stores::Results]); // which wait longer for another dispatch
    }
    // Stretches that end within bunches, and such as begin anywhere and end with bunches; all of a stretch is too large for one.
    for (dtype, bunch) in [(DType::U8, 16), (DType::F16, 8)] {
        for columns in [13 * bunch - 1, 13 * bunch + 1, 40 * bunch + 1] {
            let shape = [64 * 512 / columns, 32, 2, columns, 3]; // of a multiple of 32 stretches all rows are in bunches
            let positions = arg_max(dtype, &shape, &[2, 4]);
            assert_eq!(stores(&reduce_max(dtype, &shape, &[2, 4]), &cpu()), packs, "{dtype} {columns}");
            assert_eq!(stores(&positions, &cpu()), packs, "{dtype} {columns}");
            let both = positions.output(ArgMaxOutput::ValuesAndIndices);
            assert_eq!(stores(&both, &cpu()), [Stores::Results], "{dtype} {columns}");
        }
        let padded = View::strided([3000, 3 * bunch, 3], [9 * bunch as i64 + 1, 3, 1], 1).unwrap();
        assert_eq!(stores(&ReduceMax::new(dtype, padded).axes([2]), &cpu()), packs);
    }
}

/// No invocation loops too long over bunches of many runs in which stretches end.
#[test]
fn shares_of_stretches_are_bounded() {
    let view = View::strided([32_768, 64, 49, 7], [400, 344, 7, 1], 0).unwrap();
    for adapter in [AdapterKind::SwiftShader, AdapterKind::Lavapipe] {
        let tuning = Tuning { max_share: 1024, busy_invocations: 1, ..Tuning::of(adapter) };
        for tuning in [None, Some(tuning)] {
            let limits = Limits { adapter, tuning, ..Limits::default() };
            let op = ArgMax::new(DType::U8, view.clone()).axes([1, 3]);
            assert_eq!(stores(&op, &limits), [Stores::Packs]);
            common::laws::lawful_plan(&op, &limits).unwrap();
        }
    }
}

/// Rows of narrow columns are folded into as many packs as leave records for which there is scratch, and on software into parts of
/// packs, whether rows are left over or not: elements would be loaded one by one otherwise.
#[test]
fn narrow_columns_are_folded_into_packs() {
    for [blocks, rows] in [[1, 1 << 20], [40, 1 << 16], [1018, 5078], [900, 3000], [2000, 1300]] {
        for (limits, folds) in [(gpu(), rows > 1300), (cpu(), true)] {
            let programs = programs(&reduce_max(DType::U8, &[blocks, rows, 3], &[1]), &limits);
            let records =
                |own| matches!(own, Program::Reduce { access: Access::Columns, epilogue: Epilogue::Record(_), .. });
            assert_eq!(programs.into_iter().any(records), folds, "{blocks} x {rows}");
        }
    }
}

/// Of wide rows it is as many as fill packs, on software, wherever they begin. Where panels begin anywhere at little cost, blocks begin
/// with packs, and eight invocations do not see all of a row.
#[test]
fn wide_columns_are_folded() {
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, int64: true, ..Limits::default() };
    let folds = |dtype, [rows, columns]: [u64; 2], first: u64, limits: &Limits| {
        let view = View::strided([rows, columns], [columns as i64, 1], first).unwrap();
        let plan = ReduceMax::new(dtype, view).axes([0]).plan(limits).unwrap();
        let merged = plan.dispatches.iter().find_map(|dispatch| match &dispatch.params {
            Params::Merge(params) => Some(params.folds),
            _ => None,
        });
        merged.unwrap_or(0)
    };
    for (dtype, shape, on_swiftshader, on_lavapipe) in [
        (DType::U8, [20_001, 741], 16, 16),
        (DType::U8, [20_001, 738], 8, 8),
        (DType::U8, [1100, 7411], 16, 0), // records of more than a 64th
        (DType::U8, [400, 7411], 0, 0),   // records of more than an eighth of all bytes
        (DType::U8, [250, 74_101], 0, 0), // too few rows
        (DType::F16, [20_001, 373], 8, 8),
        (DType::F16, [500, 14_823], 8, 0),
        (DType::F32, [20_001, 75], 4, 4),
        (DType::F32, [20_001, 373], 4, 0), // eight invocations see all of a row
        (DType::F32, [20_001, 1003], 4, 4),
        (DType::I64, [5001, 1003], 2, 2),
    ] {
        let name = format!("{dtype} {shape:?}");
        assert_eq!(folds(dtype, shape, 0, &cpu()), on_swiftshader, "{name}");
        assert_eq!(folds(dtype, shape, 0, &lavapipe), on_lavapipe, "{name} on lavapipe");
        assert_eq!(folds(dtype, shape, 0, &gpu()), 0, "{name} on a GPU");
        assert_eq!(folds(dtype, shape, 1, &cpu()), on_swiftshader, "{name}, which begins within a pack");
        assert_eq!(folds(dtype, shape, 1, &lavapipe), 0, "{name}, which begins within a pack, on lavapipe");
    }
    for limits in [cpu(), lavapipe] {
        assert_eq!(folds(DType::F32, [100_001, 17], 1, &limits), 4); // too narrow for panels that begin anywhere
    }
}

/// Blocks that overlap are seen once: records are paid for by what there is.
#[test]
fn records_of_folds_are_paid_for_by_elements_seen_once() {
    let (blocks, rows) = (98_006, 42_112);
    let view = View::strided([blocks, rows, 7], [10, 7, 1], 0).unwrap();
    let seen = 2 * (10 * blocks + 7 * rows);
    for (limits, parts) in [(gpu(), 64), (cpu(), 4)] {
        let plan = ArgMax::new(DType::F16, view.clone()).axes([1]).plan(&limits).unwrap();
        assert!(plan.scratch_bytes.iter().all(|&bytes| bytes <= seen / parts + (64 << 10)), "{:?}", plan.scratch_bytes);
    }
}

/// Columns of few elements are a Max of their rows on software that has bindings for all of them.
#[test]
fn maxima_of_few_elements_are_those_of_operands() {
    let operands = |shape: [u64; 3], limits: &Limits| match programs(&reduce_max(DType::F16, &shape, &[1]), limits)[0] {
        Program::Max { operands, access: MaxAccess::Packs { .. } } => operands.count,
        _ => 0,
    };
    let native = Limits { max_storage_bindings: 32, ..cpu() };
    assert_eq!(operands([99, 8, 1024], &native), 8);
    assert_eq!(operands([99, 9, 1024], &native), 0);
    assert_eq!(operands([99, 7, 1024], &cpu()), 7);
    assert_eq!(operands([99, 8, 1024], &cpu()), 0); // one more than WebGPU has bindings for
    assert_eq!(operands([99, 4, 1024], &gpu()), 0);
    assert_eq!(operands([9999, 4, 32], &cpu()), 0); // blocks that go in bunches
    assert_eq!(operands([9999, 4, 33], &cpu()), 0); // larger ones, of narrow columns
    assert_eq!(operands([9999, 4, 65], &cpu()), 4);
    assert_eq!(operands([99, 4, 65], &cpu()), 0); // too few loads
}

/// Maxima over dimensions far apart are reduced in two stages, where elements would be loaded one by one, or in short runs.
#[test]
fn dimensions_far_apart_are_reduced_in_stages() {
    let slots = |dtype, shape: &[u64], axes: [i64; 2], limits: &Limits| -> Vec<Slot> {
        let plan = ReduceMax::new(dtype, View::new(shape).unwrap()).axes(axes).plan(limits).unwrap();
        let written = |dispatch: &wgmax::plan::Dispatch| dispatch.bindings.iter().find(|own| own.writes).unwrap().slot;
        let mut slots: Vec<Slot> =
            plan.dispatches.iter().map(written).filter(|slot| *slot != Slot::Scratch(0)).collect();
        slots.dedup(); // packs and seams
        slots
    };
    let in_stages = [Slot::Scratch(1), Slot::Output(0)];
    for limits in [gpu(), cpu()] {
        assert_eq!(slots(DType::U8, &[793, 699, 4, 2], [0, 2], &limits), in_stages);
        assert_eq!(slots(DType::U8, &[40, 99_999, 3], [0, 2], &limits).len(), 1); // too much would be left
        assert_eq!(slots(DType::U8, &[30, 99_999, 4, 2], [0, 2], &limits).len(), 1);
        assert_eq!(slots(DType::U8, &[793, 20, 4, 2], [0, 2], &limits).len(), 1); // too few loads
        assert_eq!(slots(DType::F32, &[100, 500, 640], [0, 2], &limits).len(), 1); // long runs
    }
    assert_eq!(slots(DType::F32, &[100, 2000, 20], [0, 2], &cpu()), in_stages);
    assert_eq!(slots(DType::F32, &[100, 2000, 20], [0, 2], &gpu()).len(), 1);
}

/// Values of columns go down the longest dimension, where the innermost has few rows; positions go by their order.
#[test]
fn columns_of_values_go_down_their_longest_dimension() {
    let run = |plan: Plan| match &plan.dispatches[0].params {
        Params::Reduction(params) => (params.run_len, params.run_stride),
        other => panic!("{other:?}"),
    };
    let of_values = |shape: [u64; 4], axes: [i64; 2], limits: &Limits| {
        run(reduce_max(DType::F16, &shape, &axes).plan(limits).unwrap())
    };
    assert_eq!(of_values([32, 905, 3, 185], [0, 2], &cpu()), (32, 905 * 3 * 185));
    assert_eq!(of_values([32, 905, 7, 185], [0, 2], &cpu()), (32, 905 * 7 * 185));
    assert_eq!(of_values([32, 905, 3, 185], [0, 2], &gpu()), (3, 185));
    for limits in [gpu(), cpu()] {
        assert_eq!(of_values([32, 905, 8, 185], [0, 2], &limits), (8, 185)); // not few
        assert_eq!(of_values([5, 905, 3, 185], [0, 2], &limits), (3, 185)); // hardly longer
        assert_eq!(of_values([9, 905, 3, 5], [0, 2], &limits), (3, 5)); // small blocks, in bunches
        assert_eq!(of_values([32, 905, 185, 3], [0, 3], &limits), (3, 1)); // rows
        let view = View::new([32, 905, 3, 185]).unwrap();
        assert_eq!(run(ArgMax::new(DType::F16, view).axes([0, 2]).plan(&limits).unwrap()), (3, 185));
    }
}

/// Software takes large blocks in bunches where else elements would be loaded one by one, or packs that begin anywhere.
#[test]
fn large_blocks_of_narrow_columns_are_taken_in_bunches() {
    let is_bunch = |plan: Plan| {
        matches!(plan.dispatches[0].kernel.program, Program::Reduce { access: Access::ShortRows { .. }, .. })
    };
    let values = |dtype, len, columns, limits: &Limits| {
        is_bunch(reduce_max(dtype, &[(1 << 24) / (len * columns), len, columns], &[1]).plan(limits).unwrap())
    };
    let positions = |dtype, len, columns, limits: &Limits| {
        is_bunch(arg_max(dtype, &[(1 << 24) / (len * columns), len, columns], &[1]).plan(limits).unwrap())
    };
    let windows_at_once = |limits: &Limits| {
        let plan = reduce_max(DType::F32, &[9000, 2, 65, 2], &[1, 3]).plan(limits).unwrap();
        match plan.dispatches[0].kernel.program {
            Program::Reduce { access: Access::ShortRows { block, .. }, .. } => block.columns,
            _ => 0,
        }
    };
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, int64: true, ..Limits::default() };
    const ALL: [bool; 2] = [true, true];
    const LAVAPIPE: [bool; 2] = [false, true];
    const NONE: [bool; 2] = [false, false];
    for (n, limits) in [&cpu(), &lavapipe].into_iter().enumerate() {
        for (dtype, len, columns, of_values, of_positions) in [
            (DType::U8, 128, 4, ALL, ALL),
            (DType::U8, 129, 4, NONE, NONE),     // more than 512 elements
            (DType::U8, 2, 71, NONE, LAVAPIPE),  // two rows; eight blocks are 1136 elements
            (DType::F16, 170, 3, ALL, LAVAPIPE), // four blocks are 1020 words
            (DType::F16, 73, 7, LAVAPIPE, NONE), // eight are 2044
            (DType::F16, 7, 63, NONE, NONE),     // few rows, and many words
            (DType::F32, 84, 6, ALL, ALL),
            (DType::F32, 85, 6, ALL, LAVAPIPE), // two are 1020 words
            (DType::F32, 57, 5, ALL, NONE),
            (DType::F32, 32, 8, NONE, NONE), // columns are whole packs
            (DType::F32, 8, 33, NONE, NONE), // and many
            (DType::I64, 43, 3, ALL, NONE),  // keys are two words
            (DType::I64, 64, 5, ALL, NONE),
        ] {
            let name = format!("{dtype} {len} by {columns}, {:?}", limits.adapter);
            assert_eq!(values(dtype, len, columns, limits), of_values[n], "{name}");
            assert_eq!(positions(dtype, len, columns, limits), of_positions[n], "{name}");
            assert!(
                !values(dtype, len, columns, &gpu()) && !positions(dtype, len, columns, &gpu()),
                "{name}, on a GPU"
            );
        }
        assert_eq!([windows_at_once(limits), windows_at_once(&gpu())], [65, 1]);
    }
}

/// SwiftShader's invocations take several packs of a row of columns, each about as many, if there are enough of them.
#[test]
fn packs_of_columns_are_taken_in_turn() {
    let in_turn = |dtype, shape: [u64; 3], limits: &Limits| {
        let plan = reduce_max(dtype, &shape, &[1]).plan(limits).unwrap();
        let dispatch = &plan.dispatches[0];
        let Params::Reduction(params) = &dispatch.params else { panic!("{plan}") };
        assert_eq!(dispatch.kernel.overrides.contains(&Override::InTurn), params.share > 1, "{plan}");
        params.share
    };
    let shares = |dtype, packs: u64, limits: &Limits| in_turn(dtype, [900, 20, 16 / dtype.bytes() * packs], limits);
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        for (packs, share) in [(14, 14), (15, 15), (16, 16), (17, 9), (32, 16), (33, 11), (100, 15)] {
            assert_eq!(shares(dtype, packs, &cpu()), share, "{dtype}, {packs} packs");
            assert_eq!(shares(dtype, packs, &gpu()), 1, "{dtype}, {packs} packs on a GPU");
        }
    }
    // Rows that end within packs, and share words: those of a row, where seams are apart, else of all.
    for (dtype, columns, share) in
        [(DType::F16, 140, 9), (DType::U8, 273, 9), (DType::F16, 11, 16), (DType::F32, 70, 9)]
    {
        assert_eq!(in_turn(dtype, [9000, 60, columns], &cpu()), share, "{dtype}, {columns} columns");
    }
    assert_eq!(in_turn(DType::F32, [1, 20, 4 * 128], &cpu()), 1); // all of whose invocations are busy
    assert_eq!(in_turn(DType::F32, [1, 20, 4 * 256], &cpu()), 2);

    let mut plan = reduce_max(DType::F32, &[900, 20, 64], &[1]).plan(&cpu()).unwrap();
    plan.dispatches[0].kernel.overrides.push(Override::Neighbours(16));
    let error = plan.check(&cpu()).unwrap_err().to_string();
    assert!(
        error.contains("panels of 1 packs in turn, of 16 neighbours: one pack, of one for itself, expected"),
        "{error}"
    );
    plan.dispatches[0].kernel.overrides.pop();
    for (share, expected) in [(0, "0 in turn: more than 0 expected"), (15, "workgroups"), (u32::MAX, "counts")] {
        let mut changed = plan.clone();
        let Params::Reduction(params) = &mut changed.dispatches[0].params else { panic!("{plan}") };
        params.share = share;
        let error = changed.check(&cpu()).unwrap_err().to_string();
        assert!(error.contains(expected), "{share} in turn: {error}");
    }
}

/// Where the outputs of a view lie in another order than its elements, all is reduced as it lies, and then put in order.
#[test]
fn outputs_in_another_order_are_reduced_as_they_lie() {
    let is_moved = |shape: [u64; 3], strides: [i64; 3], axis, limits: &Limits| {
        let offset = shape.iter().zip(strides).map(|(size, stride)| (size - 1) * stride.min(0).unsigned_abs()).sum();
        let op = ArgMax::new(DType::F32, View::strided(shape, strides, offset).unwrap()).axes([axis]);
        let plan = common::laws::lawful_plan(&op, limits).unwrap();
        common::laws::puts_in_order(plan.dispatches.last().unwrap())
    };
    let permuted =
        |rows: u64, blocks: u64, limits: &Limits| is_moved([64, rows, blocks], [1, 64 * blocks as i64, 64], 1, limits);
    for limits in [gpu(), cpu()] {
        assert!(permuted(56, 512, &limits));
        assert!(is_moved([56, 64, 512], [512 * 64, 512, -1], 0, &limits)); // reversed
        assert!(is_moved([56, 64 * 512, 7], [64 * 512, 1, 0], 0, &limits)); // repeated
        assert!(!is_moved([7, 56, 64 * 512], [0, 64 * 512, 1], 1, &limits)); // packs as they are
        assert!(!is_moved([56, 64, 512], [2 * 512 * 64, 2 * 512, 2], 0, &limits)); // elements lie apart in any order
        assert!(!permuted(56, 512, &Limits { max_storage_bindings: 2, ..limits })); // no room for packs
    }
    // So many bytes read for each that is left: positions of 8 bytes.
    assert_eq!([8, 7].map(|rows| permuted(rows, 5120, &cpu())), [true, false]);
    assert_eq!([32, 31].map(|rows| permuted(rows, 5120, &gpu())), [true, false]);
    // And so many loads.
    assert_eq!([128, 127].map(|blocks| permuted(8, blocks, &cpu())), [true, false]);
    assert_eq!([256, 255].map(|blocks| permuted(32, blocks, &gpu())), [true, false]);
    // Values are as wide as elements.
    let view = |rows: u64| View::strided([64, rows, 5120], [1, 64 * 5120, 64], 0).unwrap();
    let of_values = |rows| {
        let plan = ReduceMax::new(DType::F32, view(rows)).axes([1]).plan(&cpu()).unwrap();
        common::laws::puts_in_order(plan.dispatches.last().unwrap())
    };
    assert_eq!([4, 3].map(of_values), [true, false]);
}

/// What operands have in every row is looked up once on SwiftShader; on lavapipe where eight invocations see all of a row, and bunches
/// are slower, or where stretches of short rows end within packs; on GPUs where rows are short, by neighbours that write side by side.
#[test]
fn operands_that_repeat_are_looked_up_once() {
    let of_columns = |inputs: &[&[u64]], adapter: AdapterKind| {
        let views: Vec<View> = inputs.iter().map(|&shape| View::new(shape).unwrap()).collect();
        let plan = Max::new(DType::F16, views).plan(&Limits { adapter, ..Limits::default() }).unwrap();
        match plan.dispatches[0].kernel.program {
            Program::Max { operands, access: MaxAccess::Columns } => operands.of_columns,
            _ => 0,
        }
    };
    let cases: [(&[&[u64]], u32, u32, u32); 20] = [
        (&[&[9999, 256], &[256]], 0b10, 0b10, 0),
        (&[&[256], &[9999, 256], &[1]], 0b101, 0b101, 0),
        (&[&[9999, 256], &[9999, 256], &[256]], 0b100, 0b100, 0),
        (&[&[9999, 257], &[257]], 0b10, 0, 0), // 32 rows of whole tiles: 257 of them in a row
        (&[&[9999, 264], &[264]], 0b10, 0, 0), // and 132
        (&[&[9999, 16, 16], &[16, 1]], 0b10, 0b10, 0),
        (&[&[9999, 4, 8], &[4, 1]], 0b10, 0b10, 0b10),
        (&[&[9999, 3, 5], &[5], &[3, 1]], 0b110, 0b110, 0b110), // stretches of three rows
        (&[&[9999, 8, 2], &[8, 1]], 0b10, 0, 0b10),
        (&[&[9999, 3, 33], &[33], &[3, 1]], 0b110, 0, 0),
        (&[&[9999, 16], &[16]], 0b10, 0, 0b10),
        (&[&[9999, 32], &[32]], 0b10, 0b10, 0b10),
        (&[&[9999, 33], &[33]], 0b10, 0, 0),              // no short row
        (&[&[9999, 257], &[9999, 1], &[257]], 0, 0, 0),   // one for each row
        (&[&[9999, 256], &[1]], 0, 0, 0),                 // one row
        (&[&[9999, 4, 4, 4, 4], &[4, 1, 4, 1]], 0, 0, 0), // in too many dimensions
        (&[&[500, 257], &[257]], 0, 0, 0),                // too few rows of whole tiles
        (&[&[512, 257], &[257]], 0b10, 0, 0),
        (&[&[5503, 3], &[3]], 0b10, 0, 0), // and of 128 packs
        (&[&[5504, 3], &[3]], 0b10, 0, 0b10),
    ];
    for (inputs, swiftshader, lavapipe, hardware) in cases {
        assert_eq!(of_columns(inputs, AdapterKind::SwiftShader), swiftshader, "{inputs:?}");
        assert_eq!(of_columns(inputs, AdapterKind::Lavapipe), lavapipe, "{inputs:?}");
        assert_eq!(of_columns(inputs, AdapterKind::Hardware), hardware, "{inputs:?}");
    }
}

/// Neighbours exchange the positions of short rows before they store them on GPUs, where each invocation has one bunch.
#[test]
fn positions_of_short_rows_are_exchanged() {
    let op = arg_max(DType::F32, &[1 << 18, 4], &[1]);
    let block = RowBlock { len: 4, columns: 1, turn: 4 };
    let short_rows = |exchanged| Access::ShortRows { block, rows: 4, exchanged, staged: false };
    assert_eq!(programs(&op, &gpu()), [reduced(short_rows(true), Epilogue::Index)]);
    assert_eq!(programs(&op, &cpu()), [reduced(short_rows(false), Epilogue::Index)]);
    let shared = Tuning { max_share: 64, busy_invocations: 64, ..Tuning::of(AdapterKind::Hardware) };
    let limits = Limits { tuning: Some(shared), ..gpu() };
    assert_eq!(programs(&op, &limits), [reduced(short_rows(false), Epilogue::Index)]);
}

/// A workgroup loads bunches of short rows together on GPUs, where they follow one another and the device has room for those of 32
/// invocations at least.
#[test]
fn bunches_are_staged_where_each_would_be_a_cache_line() {
    let staged = |op: &dyn Operation, limits: &Limits| {
        let kernel = op.plan(limits).unwrap().dispatches[0].kernel.clone();
        let words = kernel.constants().find(|&(name, _)| name == "STAGED")?.1;
        Some((kernel.overrides[0].value(), words))
    };
    let rows = |dtype, len: u64| reduce_max(dtype, &[1 << 18, len], &[1]);
    for (dtype, len, expected) in [
        (DType::F32, 7, None),
        (DType::F32, 8, Some((256, 256 * 9))),
        (DType::F32, 31, Some((128, 128 * 31))),
        (DType::F32, 33, None),
        (DType::F16, 7, None),
        (DType::F16, 8, Some((256, 256 * 9))),
        (DType::U8, 31, Some((128, 128 * 31))),
        (DType::I64, 15, Some((128, 128 * 31))),
        (DType::I64, 17, Some((64, 64 * 35))),
    ] {
        assert_eq!(staged(&rows(dtype, len), &gpu()), expected, "{dtype} {len}");
        assert_eq!(staged(&rows(dtype, len), &cpu()), None, "{dtype} {len}");
    }
    assert_eq!(staged(&arg_max(DType::F32, &[1 << 18, 9], &[1]), &gpu()), Some((256, 256 * 9)));
    let small = Limits { max_group_memory_bytes: 32 * 4 * 9 - 1, ..gpu() };
    assert_eq!(staged(&rows(DType::F32, 8), &small), None);
    let few = Limits { tuning: Some(Tuning { group: 2, ..Tuning::of(AdapterKind::Hardware) }), ..gpu() };
    assert_eq!(staged(&rows(DType::F32, 9), &few), None);
    let padded = View::strided([1 << 18, 8], [12, 1], 0).unwrap();
    assert_eq!(staged(&ReduceMax::new(DType::F32, padded).axes([1]), &gpu()), None);
    for (shape, expected) in [
        ([1 << 18, 5, 8], None),
        ([1 << 18, 5, 3], Some((256, 256 * 15))),
        ([1 << 18, 2, 3], None),
        ([1 << 16, 43, 3], None),
    ] {
        assert_eq!(staged(&reduce_max(DType::F32, &shape, &[1]), &gpu()), expected, "{shape:?}");
    }
    let windows = |shape: [u64; 5]| reduce_max(DType::Bf16, &shape, &[2, 4]);
    assert_eq!(staged(&windows([1 << 14, 7, 2, 7, 3]), &gpu()), Some((64, 64 * 43)));
    assert_eq!(staged(&windows([1 << 14, 7, 2, 64, 3]), &gpu()), None); // blocks of 768 bytes
}

/// Bunches that do not follow one another, or of which an invocation takes several, are not in workgroup memory; nor do two invocations
/// load them.
#[test]
fn staged_bunches_that_are_not_there_are_refused() {
    let plan = reduce_max(DType::F32, &[1 << 18, 8], &[1]).plan(&gpu()).unwrap();
    let changes: [fn(&mut ReductionParams); 5] = [
        |params| params.start = 1,
        |params| params.share = 2,
        |params| params.kept[0].stride = 12,
        |params| params.kept = vec![Dim { size: 1 << 9, ..params.kept[0] }; 2],
        |params| params.kept = vec![],
    ];
    for change in changes {
        let mut torn = plan.clone();
        let Params::Reduction(params) = &mut torn.dispatches[0].params else { panic!("{plan}") };
        change(params);
        let refusal = torn.check(&gpu()).unwrap_err().to_string();
        assert!(refusal.contains("of rows that follow one another, expected"), "{refusal}");
    }
    let with = |overrides: &[Override], stores| {
        let mut torn = plan.clone();
        let kernel = &mut torn.dispatches[0].kernel;
        kernel.overrides = overrides.to_vec();
        if let Program::Reduce { stores: own, .. } = &mut kernel.program {
            *own = stores;
        }
        torn.check(&gpu()).unwrap_err().to_string()
    };
    let group = Override::Group(256);
    for other in [Override::Ragged, Override::Pairs, Override::Runs, Override::FewRuns(2)] {
        assert!(with(&[group, other], Stores::Results).contains("there is no"), "{other:?}");
    }
    for stores in [Stores::Packs, Stores::Seams] {
        assert!(with(&[group], stores).contains("there is no"), "{stores:?}");
    }
    // Of windows all runs of a row are one.
    let windows = reduce_max(DType::Bf16, &[1 << 14, 7, 2, 7, 3], &[2, 4]).plan(&gpu()).unwrap();
    let few = windows.dispatches[0].kernel.overrides.iter().position(|&own| own == Override::FewRuns(1)).unwrap();
    for other in [None, Some(Override::FewRuns(2)), Some(Override::FewRuns(3))] {
        let mut torn = windows.clone();
        torn.dispatches[0].kernel.overrides.splice(few..=few, other);
        assert!(torn.check(&gpu()).unwrap_err().to_string().contains("there is no"), "{other:?}");
    }
    assert!(with(&[Override::Group(2)], Stores::Results).contains("4 expected at least"));
    let small = Limits { max_group_memory_bytes: 256 * 4 * 9 - 1, ..gpu() };
    assert!(plan.check(&small).unwrap_err().to_string().contains("bytes of workgroup memory"));
}

/// Those who find the winners of short slices write them, too: bunches, and what is left by itself. Invocations that keep few values
/// in registers do so only where slices are shortest or stand side by side.
#[test]
fn short_slices_are_written_by_those_who_find_their_winners() {
    let hardmax = |shape: &[u64]| Hardmax::new(DType::U8, View::new(shape).unwrap(), Slices::Along(1));
    let ones = |access| Program::Reduce { access, epilogue: Epilogue::Ones, stores: Stores::Results };
    let bunches = |len, columns, rows| {
        let turn = if columns == 1 { len } else { 1 };
        ones(Access::ShortRows { block: RowBlock { len, columns, turn }, rows, exchanged: false, staged: false })
    };
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, ..cpu() };
    for limits in [gpu(), cpu(), lavapipe.clone()] {
        assert_eq!(programs(&hardmax(&[1 << 20, 3]), &limits), [bunches(3, 1, 16)]);
        assert_eq!(programs(&hardmax(&[(1 << 20) + 1, 3]), &limits), [bunches(3, 1, 16), ones(Access::Strided)]);
        assert_eq!(programs(&hardmax(&[1 << 20, 5, 3]), &limits), [bunches(5, 3, 48)]);
        assert_eq!(programs(&hardmax(&[(1 << 20) + 9, 5, 3]), &limits), [bunches(5, 3, 48), ones(Access::Strided)]);
    }
    assert_eq!(programs(&hardmax(&[1 << 18, 5]), &lavapipe), [bunches(5, 1, 16)]);
    let writer = Program::HardmaxWrite(HardmaxWriter::ShortRows { len: 5 });
    assert_eq!(programs(&hardmax(&[1 << 18, 5]), &cpu())[1..], [writer]);
}

/// Outputs of blocks of a few short rows side by side are found in bunches, and those of larger blocks of wide columns in columns.
#[test]
fn small_blocks_are_reduced_in_bunches() {
    for (len, columns, rows) in [(2, 3, 24), (5, 4, 16), (31, 2, 16), (4, 16, 16)] {
        let block = RowBlock { len, columns, turn: 1 };
        let access = Access::ShortRows { block, rows, exchanged: false, staged: false };
        let op = arg_max(DType::U8, &[1 << 16, len, columns], &[1]);
        assert_eq!(programs(&op, &cpu()), [reduced(access, Epilogue::Index)], "{len} by {columns}");
    }
    let windows = |dtype, shape: &[u64], limits: &Limits| programs(&arg_max(dtype, shape, &[2, 4]), limits)[0];
    let bunches = |len, columns, turn, rows| {
        let block = RowBlock { len, columns, turn };
        reduced(Access::ShortRows { block, rows, exchanged: false, staged: false }, Epilogue::Index)
    };
    assert_eq!(windows(DType::U8, &[9999, 7, 2, 7, 2], &cpu()), bunches(4, 7, 2, 28));
    assert_eq!(windows(DType::F32, &[999, 14, 3, 14, 3], &cpu()), bunches(9, 14, 3, 28));
    assert_eq!(windows(DType::F32, &[999, 28, 2, 28, 2], &cpu()), bunches(2, 1, 2, 4)); // a run from each row of pixels
    let block = RowBlock { len: 4, columns: 7, turn: 2 };
    let staged = Access::ShortRows { block, rows: 28, exchanged: true, staged: true };
    assert_eq!(windows(DType::U8, &[9999, 7, 2, 7, 2], &gpu()), reduced(staged, Epilogue::Index));
    let large = arg_max(DType::U8, &[1 << 16, 9, 16], &[1]);
    assert_eq!(programs(&large, &cpu()), [reduced(Access::Columns, Epilogue::Index)]);
}

/// The winners are found, and written: whole packs at once, and of what is left zeros and ones.
#[test]
fn slices_are_searched_and_written() {
    let permuted = |shape: [u64; 2]| View::strided(shape, [1, shape[0] as i64], 0).unwrap();
    let writers = |dtype, shape: [u64; 2]| {
        let op = Hardmax::new(dtype, View::new(shape).unwrap(), Slices::Along(1));
        programs(&op, &cpu())[1..].to_vec()
    };
    let of_permuted = |shape| {
        let mut programs = programs(&Hardmax::new(DType::U8, permuted(shape), Slices::Along(1)), &cpu());
        programs.retain(|program| !matches!(program, Program::Reduce { .. })); // of which seams are another
        programs
    };
    let ones = |packs| [Program::Fill { packs }, Program::HardmaxOnes { narrow: false }];
    assert_eq!(writers(DType::F32, [256, 50_000]), ones(true));
    let on_gpus = Hardmax::new(DType::F16, View::new([256, 1001]).unwrap(), Slices::Along(1));
    assert_eq!(programs(&on_gpus, &gpu())[1..], [Program::HardmaxWrite(HardmaxWriter::Rows)]);
    assert_eq!(writers(DType::F16, [3, 77]), ones(true));
    assert_eq!(of_permuted([1 << 14, 3]), [Program::HardmaxWrite(HardmaxWriter::ShortRows { len: 3 })]);
    let short_rows = Program::HardmaxWrite(HardmaxWriter::ShortRows { len: 3 });
    assert_eq!(of_permuted([(1 << 14) + 1, 3]), [&[short_rows][..], &ones(false)].concat());
    let columns = Hardmax::new(DType::F32, View::new([16, 19, 128]).unwrap(), Slices::Along(1));
    let two = [
        reduced(Access::Columns, Epilogue::Index),
        Program::HardmaxWrite(HardmaxWriter::PackedColumns { narrow: false }),
    ];
    assert_eq!(programs(&columns, &cpu()), two);
}

/// Winners are as wide as elements where these can count a slice, and all of them are found and written in packs.
#[test]
fn winners_are_as_wide_as_elements() {
    let columns = |narrow| Program::HardmaxWrite(HardmaxWriter::PackedColumns { narrow });
    let writers = |dtype, shape: [u64; 3], limits: &Limits| -> Vec<Program> {
        let op = Hardmax::new(dtype, View::new(shape).unwrap(), Slices::Along(1));
        let programs = programs(&op, limits);
        programs
            .into_iter()
            .filter(|program| !matches!(program, Program::Reduce { .. } | Program::Merge { .. }))
            .collect()
    };
    assert_eq!(writers(DType::U8, [40, 256, 1024], &gpu()), [columns(true)]);
    assert_eq!(writers(DType::U8, [40, 257, 1024], &gpu()), [columns(false)]);
    for limits in [gpu(), cpu()] {
        assert_eq!(writers(DType::U8, [40, 23, 1024], &limits), [columns(true)]);
        assert_eq!(writers(DType::F32, [40, 23, 1024], &limits), [columns(false)]);
    }
    let writer = Program::HardmaxWrite;
    let seams = [writer(HardmaxWriter::InnerPacks), writer(HardmaxWriter::Seams)];
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, int64: true, ..Limits::default() };
    for (dtype, shape, narrow) in
        [(DType::U8, [999, 3, 1025], true), (DType::Bf16, [999, 3, 1025], true), (DType::F32, [999, 3, 1025], false)]
    {
        assert_eq!(writers(dtype, shape, &lavapipe), seams, "{dtype}");
        assert_eq!(writers(dtype, shape, &gpu()).len(), 3, "{dtype}"); // what is behind the last pack, too
        let ragged = Program::HardmaxWrite(HardmaxWriter::RaggedColumns { packed: true });
        assert_eq!(writers(dtype, shape, &gpu())[0], ragged, "{dtype}");
        assert_eq!(*writers(dtype, shape, &gpu()).last().unwrap(), Program::HardmaxOnes { narrow }, "{dtype}");
    }
    assert_eq!(writers(DType::U8, [999, 3, 1025], &cpu()), seams);
}

/// Packs of columns that share words are reduced in each of the two rows in which they lie: their turns count twice.
#[test]
fn packs_in_two_rows_take_turns_in_both() {
    let view = View::strided([10, 23, 26, 22], [1, 20, 460, 15_180], 0).unwrap();
    let op = ArgMax::new(DType::F16, view).axes([1, 2, 3]).output(ArgMaxOutput::ValuesAndIndices);
    let tuning =
        Tuning { busy_invocations: 1, max_team: 32, loads_per_member: 1, ..Tuning::of(AdapterKind::SwiftShader) };
    let limits = Limits { adapter: AdapterKind::SwiftShader, tuning: Some(tuning), ..Limits::default() };
    check_planned(&op, &op.plan(&limits), &limits);
}

/// Winners are bound in whole packs where they are taken so, by whatever a binding may have at most.
#[test]
fn winners_fit_bindings() {
    for (dtype, columns) in [(DType::U8, 17), (DType::U8, 33), (DType::F16, 33), (DType::F32, 33)] {
        let strides = [2 * columns as i64 + 6, columns as i64, 1];
        let op = Hardmax::new(dtype, View::strided([505, 2, columns], strides, 0).unwrap(), Slices::Along(1));
        for adapter in [AdapterKind::Hardware, AdapterKind::Lavapipe, AdapterKind::SwiftShader] {
            for winner_bytes in [dtype.bytes(), 4] {
                let winners = 505 * columns * winner_bytes;
                for max_binding_bytes in (winners - 32..winners + 64).filter(|bytes| bytes.is_multiple_of(4)) {
                    let limits = Limits { adapter, max_binding_bytes, ..Limits::default() };
                    check_planned(&op, &op.plan(&limits), &limits);
                }
            }
        }
    }
}

/// Of long slices side by side zeros are written, and a one for each: on GPUs only where rows end within packs.
#[test]
fn long_columns_are_zeros_and_ones() {
    let writer = |dtype, shape: [u64; 3], limits: &Limits| {
        let op = Hardmax::new(dtype, View::new(shape).unwrap(), Slices::Along(1));
        *programs(&op, limits).last().unwrap()
    };
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, int64: true, ..Limits::default() };
    let packs = |narrow| Program::HardmaxWrite(HardmaxWriter::PackedColumns { narrow });
    let seams = Program::HardmaxWrite(HardmaxWriter::Seams);
    let ragged = |packed| Program::HardmaxWrite(HardmaxWriter::RaggedColumns { packed });
    let ones = Program::HardmaxOnes { narrow: false };
    for (dtype, shape, [on_gpus, on_cpus, on_lavapipe]) in [
        (DType::F32, [40, 23, 1024], [packs(false); 3]),
        (DType::F32, [40, 24, 1024], [packs(false), ones, ones]),
        (DType::U8, [40, 95, 1024], [packs(true); 3]),
        (DType::U8, [40, 96, 1024], [packs(true), ones, ones]),
        (DType::F32, [40, 11, 1023], [ragged(true), ragged(false), seams]),
        (DType::F32, [40, 12, 1023], [ragged(true), ones, seams]),
        (DType::F32, [40, 24, 1023], [ragged(true), ones, ones]),
        (DType::F32, [40, 64, 1023], [ones; 3]),
        (DType::F64, [40, 11, 1023], [ragged(false); 3]),
        (DType::F32, [2000, 192, 3], [ones; 3]),
    ] {
        assert_eq!(writer(dtype, shape, &gpu()), on_gpus, "{dtype} {shape:?}");
        assert_eq!(writer(dtype, shape, &cpu()), on_cpus, "{dtype} {shape:?}");
        assert_eq!(writer(dtype, shape, &lavapipe), on_lavapipe, "{dtype} {shape:?}");
    }
}

/// Of rows of packs some that are no one's are counted, too: where 32 bits are too few for that, packs are written one after another.
#[test]
fn packs_of_columns_are_as_many_as_32_bits_count() {
    let limits = Limits { max_binding_bytes: 1 << 31, ..cpu() };
    let packs = HardmaxWriter::PackedColumns { narrow: false };
    for (blocks, writer) in [(80_000, packs), (158_000, HardmaxWriter::RaggedColumns { packed: false })] {
        let hardmax = Hardmax::new(DType::U8, View::new([blocks, 13, 1040]).unwrap(), Slices::Along(1));
        assert_eq!(programs(&hardmax, &limits).last(), Some(&Program::HardmaxWrite(writer)), "{blocks}");
        assert_eq!(hardmax.plan(&limits).unwrap().check(&limits), Ok(()));
    }
}

/// Ones are found by counting from the first slice's beginning on in 32 bits: no part of an output goes further.
#[test]
fn long_slices_are_written_in_parts_that_32_bits_count() {
    let limits = Limits { max_binding_bytes: 1 << 31, ..cpu() };
    for (dtype, shape) in [
        (DType::U8, [2, 4_000_000_000, 1]),
        (DType::U8, [2, 2_100_000_001, 2]),
        (DType::F16, [1, 4_280_876_801, 17]),
        (DType::F32, [1, 4_280_876_801, 17]),
        (DType::U8, [3, 2, 2_000_000_000]),
        (DType::U8, [2, 2, 3_800_000_000]),
        (DType::U8, [158_000, 130, 1040]),
    ] {
        let hardmax = Hardmax::new(dtype, View::new(shape).unwrap(), Slices::Along(1));
        let plan = hardmax.plan(&limits).unwrap();
        assert_eq!(plan.check(&limits), Ok(()));
        let mut parts = BTreeMap::new();
        for dispatch in &plan.dispatches {
            let Params::HardmaxOnes(params) = &dispatch.params else { continue };
            let (position, len) = (u64::from(params.position), u64::from(params.len));
            assert!(position + len.div_ceil(shape[2]) < u64::from(u32::MAX), "{params:?}");
            parts.insert(dispatch.bindings[1].offset_bytes, len);
        }
        assert_eq!(parts.values().sum::<u64>(), shape.iter().product::<u64>(), "{dtype} {shape:?}");
    }
}

/// A slice so long that a part of its output cannot begin near its end.
#[test]
fn slices_that_32_bits_cannot_count_are_refused() {
    let hardmax = |len| Hardmax::new(DType::U8, View::new([len]).unwrap(), Slices::From(0)).plan(&cpu());
    let limit = u64::from(u32::MAX) - 512; // twice the binding alignment
    assert!(hardmax(limit).is_ok());
    let given = u64::from(u32::MAX) - 1;
    assert_eq!(hardmax(given), Err(Error::TooLarge { what: "elements of a slice", given, limit }));
}

#[test]
fn long_rows_are_split_and_finished() {
    for limits in [gpu(), cpu()] {
        let row = reduce_max(DType::F32, &[1 << 24], &[0]);
        assert_eq!(programs(&row, &limits), split(Access::Rows, Epilogue::Value));
        let row = arg_max(DType::F16, &[1, 128_256], &[1]).output(ArgMaxOutput::ValuesAndIndices);
        assert_eq!(programs(&row, &limits), split(Access::Rows, Epilogue::Both));
        let columns = reduce_max(DType::F64, &[100_000, 16], &[0]);
        assert_eq!(programs(&columns, &limits), split(Access::Columns, Epilogue::Value));
        let columns = arg_max(DType::F64, &[100_000, 16], &[0]);
        assert_eq!(programs(&columns, &limits), split(Access::Columns, Epilogue::Index));
    }
}

#[test]
fn many_rows_are_not_split() {
    let whole = [reduced(Access::Rows, Epilogue::Value)];
    assert_eq!(programs(&reduce_max(DType::F32, &[65_536, 512], &[1]), &gpu()), whole);
    assert_eq!(programs(&reduce_max(DType::F32, &[1024, 32_768], &[1]), &cpu()), whole);
}

#[test]
fn nothing_to_write_is_nothing_to_dispatch() {
    for op in [reduce_max(DType::F32, &[0, 5], &[1]), reduce_max(DType::I64, &[3, 0, 0], &[2])] {
        let plan = op.plan(&gpu()).unwrap();
        assert_eq!((plan.dispatches, plan.output_bytes, plan.scratch_bytes), (vec![], vec![0], [0, 0]));
    }
}

#[test]
fn the_maximum_of_nothing_is_a_fill() {
    let op = reduce_max(DType::F16, &[0, 5], &[0]);
    assert_eq!(programs(&op, &gpu()), [Program::Fill { packs: false }]);
    let fill = |op: &ReduceMax| match op.plan(&gpu()).unwrap().dispatches[0].params {
        Params::Fill(fill) => (fill.len, fill.low, fill.high),
        _ => panic!("no fill"),
    };
    assert_eq!(fill(&op), (3, 0xfc00_fc00, 0xfc00_fc00));
    assert_eq!(fill(&op.empty(EmptyMax::LowestFinite)), (3, 0xfbff_fbff, 0xfbff_fbff));
    assert_eq!(fill(&reduce_max(DType::F64, &[0, 5], &[0])), (10, 0, 0xfff0_0000));
    assert_eq!(fill(&reduce_max(DType::I8, &[0, 5], &[0])), (2, 0x8080_8080, 0x8080_8080));
    assert_eq!(reduce_max(DType::F16, &[0, 5], &[0]).plan(&gpu()).unwrap().input_bytes, [0]);
}

#[test]
fn views_that_address_the_same_elements_make_equal_passes() {
    let dispatches = |op: ReduceMax| op.plan(&gpu()).unwrap().dispatches;
    let flat = dispatches(reduce_max(DType::F32, &[6, 640], &[1]));
    assert_eq!(dispatches(reduce_max(DType::F32, &[2, 3, 64, 10], &[2, 3])), flat);
    assert_eq!(dispatches(reduce_max(DType::F32, &[6, 1, 640], &[1, 2])), flat);
    // Values may be taken in any order: reversed, transposed and repeated elements of a row are the same row.
    let view = |view: View, axes: &[i64]| dispatches(ReduceMax::new(DType::F32, view).axes(axes));
    let own = View::new([6, 640]).unwrap();
    assert_eq!(view(own.reverse(1).unwrap(), &[1]), flat);
    assert_eq!(view(own.split(1, [20, 32]).unwrap().permute(&[0, 2, 1]).unwrap(), &[1, 2]), flat);
    assert_eq!(view(View::strided([6, 9, 640], [640, 0, 1], 0).unwrap(), &[1, 2]), flat);
    // So are stretches that overlap, or meet, but not those with something between.
    for (shape, strides, offset) in [
        ([6, 636, 5], [640, 1, 1], 0),
        ([6, 9, 128], [640, 64, 1], 0),
        ([6, 9, 128], [640, -64, 1], 512),
        ([6, 128, 9], [640, 1, 64], 0),
        ([6, 20, 32], [640, 32, 1], 0),
    ] {
        assert_eq!(view(View::strided(shape, strides, offset).unwrap(), &[1, 2]), flat, "{shape:?} {strides:?}");
    }
    assert_eq!(
        view(View::strided([6, 2, 35, 8, 2], [640, 320, 8, 1, 33], 0).unwrap(), &[1, 2, 3, 4]),
        view(View::strided([6, 2, 313], [640, 320, 1], 0).unwrap(), &[1, 2]),
    );
    assert_ne!(view(View::strided([6, 9, 63], [640, 64, 1], 0).unwrap(), &[1, 2]), flat);
}

/// Short runs that slide along their outputs are columns on software, of as many packs as are faster there; of few places, and of so many
/// rows that they would have to be split, they are rows.
#[test]
fn windows_that_slide_are_columns() {
    let access = |dtype: DType, packs: u64, more: u64, adapter| {
        let (len, line) = (packs * 16 / dtype.bytes() + more, 5003);
        let view = View::strided([500, line - len + 1, len], [line as i64, 1, 1], 0).unwrap();
        let limits = Limits { adapter, ..Limits::default() };
        match programs(&ArgMax::new(dtype, view).axes([2]), &limits)[0] {
            Program::Reduce { access, .. } => access,
            other => panic!("{other:?}"),
        }
    };
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        for (adapter, most) in [(AdapterKind::Lavapipe, 16), (AdapterKind::SwiftShader, 4)] {
            assert_eq!(access(dtype, 2, 0, adapter), Access::Columns, "{dtype} {adapter:?}");
            assert_eq!(access(dtype, most, 0, adapter), Access::Columns, "{dtype} {adapter:?}");
            assert_eq!(access(dtype, most, 1, adapter), Access::Rows, "{dtype} {adapter:?}");
        }
        assert_eq!(access(dtype, 2, 0, AdapterKind::Hardware), Access::Rows, "{dtype}");
    }
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, ..Limits::default() };
    let tall = View::strided([193, 237, 108, 64], [300, 1, 300, 1], 0).unwrap();
    let of_tall = ReduceMax::new(DType::F32, tall).axes([2, 3]);
    assert_eq!(programs(&of_tall, &lavapipe), [reduced(Access::Rows, Epilogue::Value)]);
    let picture = View::strided([371, 145, 30, 256], [400, 1, 400, 1], 0).unwrap();
    let of_picture = ArgMax::new(DType::U8, picture).axes([2, 3]);
    assert_eq!(programs(&of_picture, &lavapipe), [reduced(Access::Rows, Epilogue::Index)]);
    let narrow = View::strided([5000, 6, 256], [300, 1, 1], 0).unwrap();
    assert_eq!(
        programs(&ArgMax::new(DType::U8, narrow).axes([2]), &lavapipe),
        [reduced(Access::Rows, Epilogue::Index)]
    );
}

#[test]
fn plans_of_one_kernel_differ_in_parameters_only() {
    let kernel = |len| reduce_max(DType::F32, &[4096, len], &[1]).plan(&cpu()).unwrap().dispatches[0].kernel.clone();
    assert_eq!(kernel(72), kernel(96));
    assert_eq!(kernel(61), kernel(97)); // runs that end within a pack
}

#[test]
fn nan_policy_counts_for_floats_only() {
    let plan = |dtype, nan| reduce_max(dtype, &[100, 100], &[1]).nan(nan).plan(&gpu()).unwrap();
    assert_eq!(plan(DType::I32, NanPolicy::Ignore), plan(DType::I32, NanPolicy::Propagate));
    assert_ne!(plan(DType::F32, NanPolicy::Ignore), plan(DType::F32, NanPolicy::Propagate));
}

#[test]
fn a_plan_can_be_read() {
    let text = reduce_max(DType::F32, &[3, 1 << 22], &[-1]).plan(&cpu()).unwrap().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(lines[0].starts_with("ReduceMax f32 [3, 4194304] over [1]: 2 dispatches, scratch ["), "{text}");
    assert!(lines[1].starts_with("reduce_max rows f32 -> record GROUP="), "{text}");
    assert_eq!(lines[2], "reads input 0 bytes 0..50331648");
    assert!(text.contains("\n    writes scratch 0 bytes 0.."), "{text}");
    assert!(text.contains("\n  reduce_max merge f32 -> value GROUP="), "{text}");
    assert!(text.ends_with("\n    writes output 0 bytes 0..12"), "{text}");
}

#[cfg(feature = "serde")]
#[test]
fn a_plan_survives_json() {
    for limits in [gpu(), cpu()] {
        let both = arg_max(DType::Bf16, &[7, 99, 31], &[0, 2]).output(ArgMaxOutput::ValuesAndIndices);
        let plans = [
            reduce_max(DType::F32, &[1 << 24], &[0]).plan(&limits).unwrap(),
            reduce_max(DType::F64, &[0, 5], &[0]).plan(&limits).unwrap(),
            reduce_max(DType::Bool, &[0, 5], &[1]).plan(&limits).unwrap(),
            both.nan(NanPolicy::Ignore).select_last(true).plan(&limits).unwrap(),
        ];
        for plan in plans {
            let json = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<wgmax::Plan>(&json).unwrap(), plan, "{json}");
        }
        let json = serde_json::to_string(&limits).unwrap();
        assert_eq!(serde_json::from_str::<Limits>(&json).unwrap(), limits);
    }
}

#[test]
fn axes_may_come_in_any_order_and_sign() {
    let plan = |axes: Axes| ReduceMax::new(DType::F32, View::new([8, 9, 10]).unwrap()).axes(axes).plan(&gpu()).unwrap();
    assert_eq!(plan([-1, 0].into()), plan([0, 2].into()));
    assert_eq!(plan([2, -2, 0].into()), plan(Axes::All));
}

#[test]
fn what_does_not_fit_a_binding_goes_in_pieces() {
    let small = Limits { max_binding_bytes: 1 << 20, ..gpu() };
    let rows = reduced(Access::Rows, Epilogue::Value);
    let window = reduced(Access::Rows, Epilogue::Record(Operator::ReduceMax));
    assert_eq!(
        programs(&reduce_max(DType::F32, &[(1 << 18) + 1], &[0]), &small),
        [Program::Fill { packs: false }, window, window, Program::Merge { epilogue: Epilogue::Value }]
    );
    // Slabs of outputs need no partial results.
    assert_eq!(programs(&reduce_max(DType::F32, &[1 << 10, 1 << 9], &[1]), &small), [rows; 3]);
    // What is copied goes in boxes, as of Max.
    let copied = |access| Program::Max { operands: MaxOperands::new(1), access };
    let packs = MaxAccess::Packs { pairs: false };
    let of_nothing = programs(&reduce_max(DType::F32, &[(1 << 18) + 1, 1], &[1]), &small);
    assert_eq!(of_nothing, [copied(packs), copied(MaxAccess::Elements)]);
}

#[test]
fn few_invocations_take_several_outputs_each() {
    let few = Limits { max_groups: 2, ..gpu() };
    let dispatches = reduce_max(DType::F32, &[5000, 3, 2], &[2]).plan(&few).unwrap().dispatches;
    assert_eq!(dispatches.iter().map(|dispatch| dispatch.grid).collect::<Vec<_>>(), [[2, 2, 1]]);
}

/// Where a device has few workgroups invocations have all the more to do, and no more turns than a plan may: it is whole, or refused.
#[test]
fn plans_for_few_workgroups_are_whole() {
    let mut planned = 0;
    for (adapter, max_groups, max_group_invocations) in AdapterKind::ALL
        .into_iter()
        .flat_map(|adapter| [2, 3, 5, 10, 12, 40].map(|groups| [10, 16, 256].map(|group| (adapter, groups, group))))
        .flatten()
    {
        let limits = Limits { adapter, max_groups, max_group_invocations, int64: true, ..gpu() };
        for shape in [[15_212, 4320], [46_000, 691], [200_000, 129], [3, 20_000_001], [1 << 20, 33]] {
            for dtype in [DType::U8, DType::F16, DType::U32, DType::I64] {
                let view = || View::new(shape).unwrap();
                let row = View::new([shape[1]]).unwrap();
                let operations: [AnyOperation; 5] = [
                    Max::new(dtype, [view()]).into(),
                    Max::new(dtype, [view(), row, view()]).into(),
                    ReduceMax::new(dtype, view()).axes([1]).into(),
                    ArgMax::new(dtype, view()).axes([0]).into(),
                    Hardmax::new(dtype, view(), Slices::Along(0)).into(),
                ];
                for plan in operations.iter().filter_map(|op| op.plan(&limits).ok()) {
                    assert_eq!(plan.check(&limits), Ok(()), "{plan}\n{limits:?}");
                    planned += 1;
                }
            }
        }
    }
    assert!(planned > 2000, "{planned} plans");
}

#[test]
fn an_operand_across_the_output_takes_as_many_passes_as_bindings() {
    let limits = Limits { max_binding_bytes: 128 << 20, ..gpu() };
    let (rows, across) = (View::new([8192, 9600]).unwrap(), View::new([9600, 8192]).unwrap());
    let op = Max::new(DType::F32, [rows, across.permute(&[1, 0]).unwrap()]);
    let [both, one] =
        [2, 1].map(|count| Program::Max { operands: MaxOperands::new(count), access: MaxAccess::Elements });
    assert_eq!(programs(&op, &limits), [both, one, one, both, one, one, both, one, one]);
    assert_eq!(op.in_place(0).plan(&limits).unwrap().dispatches.len(), 9);
}

#[test]
fn what_goes_in_no_pieces_is_said() {
    let tiny = Limits { max_binding_bytes: 256, ..gpu() };
    let error = reduce_max(DType::F32, &[1000], &[0]).plan(&tiny).unwrap_err();
    let what = "max_storage_buffer_binding_size";
    assert_eq!(error, Error::DeviceTooSmall { what, given: 256, needed: 280 });
    let small = Limits { max_binding_bytes: 4 << 10, ..gpu() };
    let error = reduce_max(DType::F32, &[1 << 40], &[0]).plan(&small).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("dispatches of a plan, as far as they are counted (stream or shard the tensor): "),
        "{message}"
    );
    assert!(message.ends_with(" given, at most 4096 possible"), "{message}");
}

/// One plan of each kind, with its operation's own trouble: two dispatches, a constant, a place to write over.
fn various_plans() -> Vec<Plan> {
    let view = View::new([16, 8]).unwrap();
    let floor = Tensor::new([8], &[0.5_f32; 8]).unwrap();
    vec![
        reduce_max(DType::F32, &[1 << 24], &[0]).plan(&gpu()).unwrap(),
        reduce_max(DType::F64, &[0, 5], &[0]).plan(&gpu()).unwrap(),
        reduce_max(DType::F32, &[1 << 18, 9], &[1]).plan(&gpu()).unwrap(), // staged
        arg_max(DType::Bf16, &[7, 99, 31], &[0, 2]).output(ArgMaxOutput::ValuesAndIndices).plan(&cpu()).unwrap(),
        Hardmax::new(DType::F16, View::new([2, 128_256]).unwrap(), Slices::Along(1)).plan(&gpu()).unwrap(),
        Max::new(DType::F32, [view.clone(), view]).constant(floor).in_place(1).plan(&gpu()).unwrap(),
    ]
}

#[test]
fn a_portable_plan_says_all_that_the_plan_does() {
    for plan in various_plans() {
        let portable = PortablePlan::from(&plan);
        assert_eq!(portable.version, 1);
        assert_eq!(portable.input_bytes, plan.input_bytes);
        assert_eq!(portable.output_bytes, plan.output_bytes);
        assert_eq!(portable.scratch_bytes, plan.scratch_bytes);
        assert_eq!(portable.in_place, plan.in_place);
        assert_eq!(portable.dispatches.len(), plan.dispatches.len());
        let overrides: Vec<Vec<u8>> = portable.embedded.iter().map(|words| bytes_of(words)).collect();
        assert_eq!(overrides, plan.embedded);
        for (portable_pass, dispatch) in portable.dispatches.iter().zip(&plan.dispatches) {
            let shader = &portable.shaders[portable_pass.shader];
            assert_eq!(shader.wgsl, dispatch.kernel.wgsl());
            assert_eq!(shader.overrides.len(), dispatch.kernel.constants().count());
            assert!(dispatch.kernel.constants().all(|(name, value)| shader.overrides[name] == value));
            let params = bytes_of(&portable_pass.params);
            assert_eq!(params.len() % 16, 0);
            assert!(params.starts_with(&dispatch.params.to_bytes()));
            assert_eq!(portable_pass.grid, dispatch.grid);
            assert_eq!(portable_pass.bindings.len(), dispatch.bindings.len());
            for (own, binding) in portable_pass.bindings.iter().zip(&dispatch.bindings) {
                assert_eq!(slot_of(own), binding.slot);
                assert_eq!(own.access == PortableAccess::ReadWrite, binding.writes);
                assert_eq!(
                    (own.binding, own.offset_bytes, own.bytes),
                    (binding.binding, binding.offset_bytes, binding.bytes)
                );
            }
        }
    }
}

fn slot_of(binding: &PortableBinding) -> Slot {
    match binding.slot {
        PortableSlot::Input => Slot::Input(binding.index),
        PortableSlot::Output => Slot::Output(binding.index),
        PortableSlot::Scratch => Slot::Scratch(binding.index),
        PortableSlot::Embedded => Slot::Embedded(binding.index),
    }
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn a_portable_shader_stands_there_once_and_its_key_tells_it_apart() {
    let many = Max::new(DType::F32, vec![View::new([100]).unwrap(); 50]).plan(&gpu()).unwrap();
    let portable = PortablePlan::from(&many);
    assert!(portable.shaders.len() < portable.dispatches.len(), "{many}");
    let mut kernels: Vec<_> = common::kernels::kernels();
    kernels.push(wgmax::plan::Kernel { overrides: vec![Override::Group(32)], ..kernels[0].clone() });
    let keys: BTreeMap<String, PortableShader> =
        kernels.iter().map(PortableShader::from).map(|shader| (shader.key.clone(), shader)).collect();
    let mut texts: Vec<_> = kernels.iter().map(PortableShader::from).map(|s| (s.wgsl, s.overrides)).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(keys.len(), texts.len());
    // The key is the same on every machine and from every compiler.
    for PortableShader { key, wgsl, overrides, .. } in &portable.shaders {
        let overrides: String = overrides.iter().map(|(name, value)| format!("\0{name}={value}")).collect();
        assert_eq!(*key, format!("{:016x}", record::fnv(record::FNV, wgsl.bytes().chain(overrides.bytes()))));
    }
}

/// The form is stable: its names stand in `docs/plan.md`, and in other people's code.
#[cfg(feature = "serde")]
#[test]
fn the_portable_form_is_what_its_document_says() {
    let document = include_str!("../../docs/plan.md");
    let example = document.split("```json").nth(1).unwrap().split("```").next().unwrap();
    let example: serde_json::Value = serde_json::from_str(example).unwrap();
    let read: PortablePlan = serde_json::from_value(example.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), example);
    let portable = PortablePlan::from(&arg_max(DType::F32, &[1, 128_256], &[1]).plan(&gpu()).unwrap());
    let written = serde_json::to_value(&portable).unwrap();
    assert_eq!(serde_json::from_value::<PortablePlan>(written.clone()).unwrap(), portable);
    for part in ["", "/shaders/0", "/dispatches/0", "/dispatches/0/bindings/0"] {
        let [documented, own] = [&example, &written]
            .map(|whole| whole.pointer(part).unwrap().as_object().unwrap().keys().collect::<Vec<_>>());
        assert_eq!(own, documented, "{part}");
        for name in own {
            assert!(document.contains(&format!("`{name}`")), "{name} is not explained");
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn a_calibration_is_what_its_document_says() {
    let document = include_str!("../../docs/plan.md");
    let example = document.split("```json").nth(2).unwrap().split("```").next().unwrap();
    let example: serde_json::Value = serde_json::from_str(example).unwrap();
    let read: Calibration = serde_json::from_value(example.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), example);
    assert_eq!(read.tuning, Tuning::of(AdapterKind::Hardware));
    for name in example.as_object().unwrap().keys() {
        assert!(document.contains(&format!("| `{name}` |")), "{name} is not explained");
    }
}

#[cfg(feature = "serde")]
#[test]
fn an_operation_survives_json_and_may_leave_out_what_is_as_it_starts() {
    for case in common::cases::all().iter().step_by(97) {
        let json = serde_json::to_string(&case.op).unwrap();
        assert_eq!(serde_json::from_str::<AnyOperation>(&json).unwrap(), case.op, "{json}");
    }
    let read = |json: &str| serde_json::from_str::<AnyOperation>(json).map_err(|error| error.to_string());
    let op = reduce_max(DType::F32, &[2, 3], &[-1]);
    assert_eq!(read(r#"{"ReduceMax": {"dtype": "f32", "input": {"shape": [2, 3]}, "axes": [-1]}}"#), Ok(op.into()));
    for (json, expected) in [
        (
            r#"{"ReduceMax": {"dtype": "f32", "input": {"shape": [2, 3], "strides": [1]}}}"#,
            "2 dimensions but 1 strides",
        ),
        (r#"{"ReduceMax": {"dtype": "f32", "input": {"shape": [2], "strides": [-1]}}}"#, "leaves the range"),
        (r#"{"ReduceMax": {"dtype": "f32", "input": {"shape": [2]}, "axis": 1}}"#, "unknown field `axis`"),
        (
            r#"{"Max": {"dtype": "u8", "inputs": [], "constant": {"dtype": "u8", "shape": [2], "bytes": [1]}}}"#,
            "1 bytes",
        ),
    ] {
        assert!(read(json).unwrap_err().contains(expected), "{:?}", read(json));
    }
}

// The example that prints plans.

fn printed(arguments: &str, input: &str) -> Result<String, String> {
    let words = arguments.split_whitespace().map(Into::into).collect();
    example::answer(words, input.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn the_example_prints_who_reads_and_writes_what() {
    let plan = arg_max(DType::F16, &[64, 128_256], &[1]).plan(&gpu()).unwrap();
    let text = printed("argmax f16 64x128256 --axes -1", "").unwrap();
    let mut lines = text.lines().map(str::trim);
    assert_eq!(lines.next(), Some("ArgMax f16 [64, 128256] over [1], planned for WebGPU's default limits"));
    for needed in ["input 0: 16416768 bytes", "output 0: 512 bytes", "scratch 0: 3072 bytes"] {
        assert_eq!(lines.next(), Some(needed));
    }
    assert_eq!(lines.next(), Some("dispatches: 2, 16423424 bytes read and written in all"));
    for (n, dispatch) in plan.dispatches.iter().enumerate() {
        let [x, y, z] = dispatch.grid;
        assert_eq!([lines.next(), lines.next()], [Some(""), Some(&format!("{}. {}", n + 1, dispatch.kernel)[..])]);
        assert_eq!(lines.next(), Some(&format!("workgroups: {x} x {y} x {z}")[..]));
        assert!(
            lines.next().is_some_and(|line| line.starts_with("parameters: ")
                && line.contains(": 64, ")
                && !line.contains(": 0,")),
            "{text}"
        );
        for b in &dispatch.bindings {
            let access = if b.writes { "writes" } else { "reads" };
            let (number, slot, begin, end) = (b.binding, b.slot, b.offset_bytes, b.end_bytes());
            let line = format!("binding {number} {access} {slot}, bytes {begin}..{end}");
            assert_eq!(lines.next(), Some(&line[..]));
        }
    }
    assert_eq!(lines.next(), None);
    let shaders = printed("argmax f16 64x128256 --axes -1 --wgsl", "").unwrap();
    assert!(plan.dispatches.iter().all(|dispatch| shaders.contains(&dispatch.kernel.wgsl())), "{shaders}");
}

#[cfg(feature = "serde")]
#[test]
fn the_example_plans_what_its_options_say() {
    let view = |shape: &[u64]| View::new(shape).unwrap();
    let reversed = View::strided([100, 70], [-70, 1], 6930).unwrap();
    let all = ArgMax::new(DType::F16, view(&[3, 5])).keep_dims(true).nan(NanPolicy::Ignore).select_last(true);
    let cases: [(&str, AnyOperation); 8] = [
        ("reducemax i64 300x1001 --axes 0", reduce_max(DType::I64, &[300, 1001], &[0]).into()),
        (
            "reducemax u8 2x3x4 --axes -1,0 --keepdims",
            reduce_max(DType::U8, &[2, 3, 4], &[0, 2]).keep_dims(true).into(),
        ),
        (
            "argmax f16 3x5 --keepdims --nan ignore --select-last --values --index i32",
            all.index(wgmax::IndexType::I32).output(ArgMaxOutput::ValuesAndIndices).into(),
        ),
        ("hardmax bf16 4x5x6", Hardmax::new(DType::Bf16, view(&[4, 5, 6]), Slices::Along(-1)).into()),
        ("hardmax bf16 4x5x6 --axes 0", Hardmax::new(DType::Bf16, view(&[4, 5, 6]), Slices::Along(0)).into()),
        ("hardmax bf16 4x5x6 --from 1", Hardmax::new(DType::Bf16, view(&[4, 5, 6]), Slices::From(1)).into()),
        ("max u8 100x70:-70,1+6930 100x1", Max::new(DType::U8, [reversed, view(&[100, 1])]).into()),
        (
            "max f32 1 70 70 --nan ignore --in-place 2",
            Max::new(DType::F32, [view(&[1]), view(&[70]), view(&[70])]).nan(NanPolicy::Ignore).in_place(2).into(),
        ),
    ];
    for (arguments, op) in cases {
        let expected = PortablePlan::from(&op.plan(&gpu()).unwrap());
        let json = serde_json::to_string(&op).unwrap();
        for (arguments, input) in [(format!("{arguments} --json"), ""), ("- --json".into(), &json)] {
            let portable = printed(&arguments, input).unwrap();
            assert_eq!(serde_json::from_str::<PortablePlan>(&portable).unwrap(), expected, "{arguments} {input}");
        }
    }
}

#[test]
fn the_example_says_what_was_given_and_what_is_expected() {
    for (arguments, expected) in [
        ("", "no operation given"),
        ("argmax f32", "a shape expected"),
        ("argmin f32 3", "\"argmin\" given, one of reducemax, argmax, hardmax, max expected"),
        ("argmax f12 3", "\"f12\" given, one of f32, f16,"),
        ("argmax f32 3y4", "shape \"3y4\": sizes: \"3y4\" given, a whole number expected"),
        ("argmax f32 3x4:1", "shape \"3x4:1\": 2 dimensions but 1 strides"),
        ("argmax f32 3x4 5", "2 shapes given, argmax takes one"),
        ("argmax f32 3x4 --axes 1,x", "--axes: \"x\" given, a whole number expected"),
        ("argmax f32 3x4 --axes 5", "axis 5 is out of range"),
        ("hardmax f32 3x4 --axes 0,1", "[0, 1] given, hardmax takes one"),
        ("argmax f32 3x4 --nan never", "\"never\" given, one of propagate, ignore expected"),
        ("argmax f32 3x4 --in-place 0", "argmax has no --in-place"),
        ("argmax f32 3x4 --colour", "no option --colour"),
        ("argmax f32 3x4 --wgsl --json", "one of them expected"),
        ("- --axes 0", "has no --axes"),
    ] {
        let error = printed(arguments, "").unwrap_err();
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}

// Plans that nobody made like this.

#[test]
fn plans_that_contradict_themselves_are_refused() {
    type Change = fn(&mut Plan);
    let changes: &[(Change, &str)] = &[
        (|plan| plan.dispatches[0].bindings[0].slot = Slot::Input(7), "the plan has no input 7"),
        (|plan| plan.dispatches[0].bindings[0].slot = Slot::Output(3), "the plan has no output 3"),
        (|plan| plan.dispatches[0].bindings[0].slot = Slot::Scratch(2), "the plan has no scratch 2"),
        (|plan| plan.dispatches[0].bindings[0].slot = Slot::Embedded(usize::MAX), "the plan has no embedded"),
        (|plan| plan.dispatches[0].bindings[0].bytes = 0, "0 bytes, a multiple of 4"),
        (|plan| plan.dispatches[0].bindings[0].bytes -= 2, "a multiple of 4"),
        (
            |plan| plan.dispatches[0].bindings[0].offset_bytes = u64::MAX - 255,
            "bytes from byte 18446744073709551360 on",
        ),
        (|plan| plan.input_bytes.iter_mut().for_each(|bytes| *bytes = 0), "of 0 of input 0"),
        (|plan| plan.output_bytes.clear(), "the plan has no output 0"),
        (|plan| plan.dispatches[0].bindings[0].slot = Slot::Input(0), "input 0 is written, result written there"),
        (|plan| plan.in_place = Some(2), "output 0 is to be written over input 2"),
        (|plan| plan.embedded = vec![vec![1, 2, 3]], "embedded operand 0 has 3 bytes"),
        (|plan| plan.embedded = vec![vec![]], "embedded operand 0 has 0 bytes"),
        (|plan| plan.dispatches[0].params = Params::Reduction(ReductionParams::default()), "does not take"),
        (|plan| broadcast(plan).sizes = vec![2; 33], "does not take"),
        (|plan| broadcast(plan).operands.clear(), "does not take"),
        (|plan| plan.dispatches[0].kernel.overrides = vec![Override::Group(0)], "a workgroup has 0 invocations"),
        (
            |plan| plan.dispatches[0].kernel.overrides = vec![Override::Group(48)],
            "a workgroup has 48 invocations, a power",
        ),
        (|plan| plan.dispatches[0].kernel.overrides.clear(), "override GROUP is missing"),
        (|plan| plan.dispatches[0].kernel.overrides.push(Override::Team(16)), "has no override TEAM"),
        (|plan| plan.dispatches[0].kernel.overrides.push(Override::Group(256)), "override GROUP is given twice"),
        (|plan| plan.dispatches[0].bindings[1].binding = 9, "bindings [1, 9, 3] given, [1, 2, 3] expected"),
        (|plan| plan.dispatches[0].bindings[1].binding = 3, "bindings [1, 3, 3] given, [1, 2, 3] expected"),
        (|plan| plan.dispatches[0].bindings.truncate(2), "bindings [1, 2] given, [1, 2, 3] expected"),
        (|plan| plan.dispatches[0].bindings[0].writes = false, "output 0 is read, result written there"),
        (|plan| plan.dispatches[0].bindings[1].writes = true, "input 0 is written, operand read there"),
        (|plan| plan.dispatches[0].bindings[1].slot = Slot::Output(0), "output 0 is written and bound twice"),
        (|plan| plan.in_place = Some(0), "output 0 is to be written over input 0, also read"),
        (
            |plan| plan.dispatches[0].grid = [65_535, 65_535, 1],
            "[65535, 65535, 1] workgroups given, 1 in two dimensions",
        ),
        (|plan| plan.dispatches[0].grid[0] = 2, "[2, 1, 1] workgroups given, 1 in two dimensions"),
        (|plan| plan.dispatches[0].grid[2] = 2, "[1, 1, 2] workgroups given"),
        (|plan| broadcast(plan).share = 0, "0 in turn: more than 0 expected"),
        (|plan| broadcast(plan).row_len = 0, "in rows of 0"),
    ];
    let inputs = [View::new([16, 8]).unwrap(), View::new([16, 8]).unwrap()];
    let plan = Max::new(DType::F32, inputs).plan(&gpu()).unwrap();
    assert_eq!(plan.check(&gpu()), Ok(()));
    for &(change, expected) in changes {
        let mut torn = plan.clone();
        change(&mut torn);
        match torn.check(&gpu()) {
            Err(Error::InvalidPlan { problem }) => assert!(problem.contains(expected), "{problem}, not {expected}"),
            other => panic!("{other:?}, not {expected}"),
        }
    }
}

/// A team that leaves none for a unit's results would write none of them.
#[test]
fn teams_that_do_not_fit_are_refused() {
    let plan = reduce_max(DType::U8, &[64, 4096], &[1]).plan(&gpu()).unwrap();
    let group = Override::Group(256);
    for (overrides, expected) in [
        (vec![group, Override::Team(48)], "a team has 48 invocations, a power of two"),
        (vec![group, Override::Team(0)], "a team has 0 invocations, a power of two"),
        (vec![group, Override::Team(128)], "a workgroup has 2 teams, at least 4 expected"),
    ] {
        let mut torn = plan.clone();
        assert!(torn.dispatches[0].kernel.declares(Override::Team(1)), "{plan}");
        torn.dispatches[0].kernel.overrides = overrides;
        let error = torn.check(&gpu()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

/// Whatever a plan's numbers are, an invocation's loops end in time.
#[test]
fn turns_without_end_are_refused() {
    let split = reduce_max(DType::F32, &[1 << 24], &[0]).plan(&cpu()).unwrap();
    type Change = fn(&mut ReductionParams);
    let changes: [(Change, &str); 5] = [
        (|params| params.reduce_len = 0, "more than 0 expected"),
        (|params| params.run_len = 0, "more than 0 expected"),
        (|params| params.chunk_len <<= 1, "of 16777216 elements"),
        (|params| params.share = 0, "0 in turn"),
        (|params| (params.chunk_len, params.reduce_len) = (1 << 21, 1 << 28), "turns of its loops, at most"),
    ];
    for (change, expected) in changes {
        let mut torn = split.clone();
        let Params::Reduction(params) = &mut torn.dispatches[0].params else { panic!("{split}") };
        change(params);
        let error = torn.check(&cpu()).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

/// Packs that begin with words are of whole runs.
#[test]
fn packs_from_words_of_parts_of_runs_are_refused() {
    let plan = reduce_max(DType::U8, &[4096, 51], &[1]).plan(&cpu()).unwrap();
    assert!(plan.dispatches[0].kernel.overrides.contains(&Override::FromWords), "{plan}");
    for (len, expected) in [(51, ""), (17, ""), (16, "whole runs of 16, of more than a pack, expected")] {
        let mut changed = plan.clone();
        let Params::Reduction(params) = &mut changed.dispatches[0].params else { panic!("{plan}") };
        (params.reduce_len, params.chunk_len, params.run_len) = (len, len, len);
        let error = changed.check(&cpu()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(expected) && error.is_empty() == expected.is_empty(), "{error}, not {expected}");
    }
}

/// Where rows begin anywhere, panels of columns are moved back into their rows: those that are wider have no place there.
#[test]
fn rows_narrower_than_their_panels_are_refused() {
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, ..cpu() };
    let padded = View::strided([200, 30_004], [30_005, 1], 0).unwrap();
    let mut plan = ArgMax::new(DType::F32, padded).axes([0]).plan(&lavapipe).unwrap();
    let overrides = &plan.dispatches[0].kernel.overrides;
    assert!([Override::Ragged, Override::ColumnPacks(4)].iter().all(|own| overrides.contains(own)), "{plan}");
    let Params::Reduction(params) = &mut plan.dispatches[0].params else { panic!("no reduction") };
    (params.outputs, params.columns) = (15, 15);
    let error = plan.check(&lavapipe).unwrap_err().to_string();
    assert!(error.contains("15 columns in panels of 4 packs: 16 at least expected"), "{error}");
}

/// Eight invocations of lavapipe see all of a row of columns, in panels of up to 16 packs and 64 elements; those that are too many see
/// nothing. Where a row has more, panels have four.
#[test]
fn neighbours_see_all_of_a_row_of_columns() {
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, max_groups: 64, ..cpu() };
    let found = |dtype, shape: &[u64]| {
        let plan = reduce_max(dtype, shape, &[1]).plan(&lavapipe).unwrap();
        plan.check(&lavapipe).unwrap();
        let mut found = [1, 1];
        for own in &plan.dispatches[0].kernel.overrides {
            match *own {
                Override::ColumnPacks(n) => found[0] = n,
                Override::Neighbours(n) => found[1] = n,
                _ => {}
            }
        }
        found
    };
    for (dtype, shape, expected) in [
        (DType::F32, [20, 100, 64], [4, 1]), // four panels of four packs
        (DType::F32, [20, 100, 96], [4, 8]), // six
        (DType::F32, [20, 100, 80], [4, 1]), // five: three would see nothing
        (DType::F32, [20, 100, 132], [8, 8]),
        (DType::F32, [20, 100, 256], [8, 1]),
        (DType::F32, [20, 100, 512], [16, 1]),
        (DType::F32, [20, 100, 516], [4, 1]),
        (DType::F32, [1000, 16, 133], [8, 8]), // more groups than one dimension has
        (DType::F16, [20, 100, 512], [8, 1]),
        (DType::F16, [20, 100, 1024], [4, 1]),
        (DType::U8, [20, 100, 1024], [4, 1]),
        (DType::I64, [20, 100, 256], [16, 1]),
        (DType::F32, [20, 12, 512], [16, 1]),
    ] {
        assert_eq!(found(dtype, &shape), expected, "{dtype} {shape:?}");
    }
}

/// What neighbours take of rows, and panels of columns, must be there.
#[test]
fn neighbours_and_panels_without_their_rows_are_refused() {
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, ..cpu() };
    let refused = |plan: &Plan, own: Override, expected: &str| {
        let mut plan = plan.clone();
        let writes = |program| matches!(program, Program::HardmaxWrite(_));
        let n = plan.dispatches.iter().position(|dispatch| writes(dispatch.kernel.program)).unwrap_or(0);
        let kernel = &mut plan.dispatches[n].kernel;
        kernel.overrides.retain(|other| std::mem::discriminant(other) != std::mem::discriminant(&own));
        kernel.overrides.push(own);
        let error = plan.check(&lavapipe).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    };
    let columns = reduce_max(DType::F32, &[20, 100, 132], &[1]).plan(&lavapipe).unwrap();
    refused(&columns, Override::Neighbours(4), "4 neighbours see 5 panels of a row: no more expected");
    refused(&columns, Override::Neighbours(0), "0 neighbours take turns");
    refused(&columns, Override::Neighbours(3), "3 neighbours take turns");
    refused(&columns, Override::ColumnPacks(5), "there is no reduce_max columns");
    let rows = |len| Max::new(DType::U8, [[99, len], [99, 1]].map(|shape| View::new(shape).unwrap()));
    let long = rows(2048).plan(&lavapipe).unwrap();
    assert!(long.dispatches[0].kernel.overrides.contains(&Override::Neighbours(8)), "{long}");
    let short = rows(48).plan(&lavapipe).unwrap();
    refused(&short, Override::Neighbours(8), "neighbours take tiles of rows of 3 packs: 4 at least expected");
    let ones = Hardmax::new(DType::U8, View::new([900, 32, 48]).unwrap(), Slices::Along(1)).plan(&lavapipe).unwrap();
    refused(&ones, Override::ColumnPacks(4), "has no override COLUMN_PACKS");
}

/// Positions of columns and of short rows of 8 and 16 bits are told apart by what a word has room for beside an element.
#[test]
fn positions_that_are_not_told_apart_are_refused() {
    let refusal = |plan: &Plan, change: &dyn Fn(&mut ReductionParams)| {
        let mut changed = plan.clone();
        let Params::Reduction(params) = &mut changed.dispatches[0].params else { panic!("{plan}") };
        change(params);
        changed.check(&gpu()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (dtype, most) in [(DType::F16, 1 << 16), (DType::U8, 1 << 24)] {
        let plan =
            |shape: [u64; 2], axis| ArgMax::new(dtype, View::new(shape).unwrap()).axes([axis]).plan(&gpu()).unwrap();
        let [columns, short_rows] = [plan([20_000, 64], 0), plan([1 << 20, 3], 1)];
        for len in [most, most + 1] {
            let refusals = [
                refusal(&columns, &|params| {
                    (params.reduce_len, params.run_len) = (params.chunks * len, params.chunks * len);
                    params.chunk_len = len;
                }),
                refusal(&short_rows, &|params| params.reduce_len = len), // whatever its chunk is: there are none
            ];
            let expected = format!("positions among {len} elements of {dtype}: at most {most} expected");
            for refusal in refusals {
                assert_eq!(refusal.contains(&expected), len > most, "{refusal}");
            }
        }
    }
}

/// Where several rows of columns count as one, those left over are fewer, and of 8 and 16 bits two more to tell apart; and no position lies
/// behind the last.
#[test]
fn rows_left_over_that_are_not_there_are_refused() {
    let plan = arg_max(DType::F16, &[(1 << 20) + 1, 3], &[0]).plan(&gpu()).unwrap();
    let refusal = |change: &dyn Fn(&mut ReductionParams)| {
        let mut changed = plan.clone();
        let Params::Reduction(params) = &mut changed.dispatches[0].params else { panic!("{plan}") };
        change(params);
        changed.check(&gpu()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let Params::Reduction(params) = &plan.dispatches[0].params else { panic!("{plan}") };
    let columns = params.columns;
    assert!(plan.dispatches[0].kernel.overrides.contains(&Override::LooseEnds) && params.rest_len > 0, "{plan}");
    assert_eq!(refusal(&|params| params.rest_len = columns - 1), "");
    for rest_len in [0, columns] {
        let refused = format!("{rest_len} elements left over of rows of {columns}: 0..{columns} expected");
        let refused = if rest_len == 0 { String::new() } else { refused };
        assert!(refusal(&|params| params.rest_len = rest_len).contains(&refused), "{refused}");
    }
    assert_eq!(refusal(&|params| params.rest_len = 0), "");
    assert!(refusal(&|params| params.run_stride *= 2).contains("rows that follow one another expected"));
    let narrower = |params: &mut ReductionParams| {
        params.columns -= 1;
        params.run_stride -= 1;
    };
    assert!(refusal(&narrower).contains("a multiple of 8 expected"));
    for (len, is_refused) in [(0xfffe, false), (0xffff, true)] {
        let longer = |params: &mut ReductionParams| {
            (params.reduce_len, params.run_len, params.chunk_len) = (params.chunks * len, params.chunks * len, len);
        };
        assert_eq!(refusal(&longer).contains("at most 65534 expected"), is_refused, "{len}");
    }
    let mut changed = plan.clone();
    changed.dispatches[0].kernel.overrides.retain(|own| *own != Override::LooseEnds);
    assert!(changed.check(&gpu()).unwrap_err().to_string().contains("0..1 expected"));
    let mut changed = plan.clone();
    let Params::Merge(params) = &mut changed.dispatches[1].params else { panic!("{plan}") };
    params.slice_len = params.folds - 1;
    assert!(changed.check(&gpu()).unwrap_err().to_string().contains("several folds"));
}

/// What one dispatch counts as a chunk, or a short row, another counts as all of it: they must be the same.
#[test]
fn chunks_and_short_rows_are_all_of_what_is_reduced() {
    let columns = ArgMax::new(DType::F16, View::new([64, 3, 2001]).unwrap()).axes([1]).plan(&cpu()).unwrap();
    let short_rows = reduce_max(DType::F32, &[4096, 3], &[1]).plan(&cpu()).unwrap();
    type Change = fn(&mut ReductionParams);
    let changes: [(&Plan, Change, &str); 3] = [
        (&columns, |params| params.chunk_len = 1, "1 chunks of 1 of 3 elements: 3 expected"),
        (&short_rows, |params| params.chunk_len = 1, "1 chunks of 1 of 3 elements: 3 expected"),
        (&short_rows, |params| params.run_len = 1 << 20, "in runs of 1048576: one, in runs of 3, expected"),
    ];
    for (plan, change, expected) in changes {
        let mut torn = plan.clone();
        torn.dispatches[0].kernel.overrides.push(Override::Split);
        let Params::Reduction(params) = &mut torn.dispatches[0].params else { panic!("{plan}") };
        change(params);
        let error = torn.check(&cpu()).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

/// What is written of a plan, or counted, is bounded, whatever the plan.
#[test]
fn a_plan_of_any_numbers_is_written_down() {
    let mut plan = Max::new(DType::F32, vec![View::new([3, 4]).unwrap(); 2]).plan(&gpu()).unwrap();
    broadcast(&mut plan).sizes = vec![2; 33];
    broadcast(&mut plan).operands = vec![Default::default(); 41];
    plan.dispatches[0].kernel.program =
        Program::Max { operands: MaxOperands::new(u32::MAX), access: MaxAccess::Elements };
    plan.dispatches[0].bindings.iter_mut().for_each(|b| (b.offset_bytes, b.bytes) = (u64::MAX, u64::MAX));
    assert!(plan.check(&gpu()).is_err());
    assert_eq!(PortablePlan::from(&plan).dispatches.len(), 1);
    assert!(plan.to_string().contains("bytes 18446744073709551615..18446744073709551615"), "{plan}");
    assert_eq!(plan.moved_bytes(), u64::MAX);
}

#[test]
fn dimensions_that_no_uniform_buffer_holds_are_refused() {
    let whole = reduce_max(DType::F32, &[16, 8, 3], &[1]).plan(&gpu()).unwrap();
    let changes: [fn(&mut ReductionParams) -> &mut Vec<Dim>; 2] =
        [|params| &mut params.kept, |params| &mut params.outer];
    for change in changes {
        let mut torn = whole.clone();
        let Params::Reduction(params) = &mut torn.dispatches[0].params else { panic!("{whole}") };
        *change(params) = vec![Dim { size: 1, stride: 0, logical_stride: 0 }; 33];
        assert!(matches!(torn.check(&gpu()), Err(Error::InvalidPlan { .. })), "{torn}");
    }
}

#[test]
fn a_plan_for_larger_limits_is_refused() {
    let plan = reduce_max(DType::F32, &[64, 4096, 2], &[1]).plan(&gpu()).unwrap();
    let least = Limits {
        max_binding_bytes: plan
            .dispatches
            .iter()
            .flat_map(|dispatch| &dispatch.bindings)
            .map(|b| b.bytes)
            .max()
            .unwrap(),
        max_storage_bindings: plan.dispatches.iter().map(|dispatch| dispatch.bindings.len() as u32).max().unwrap(),
        max_group_invocations: 256,
        max_groups: plan.dispatches.iter().map(|dispatch| dispatch.grid[0]).max().unwrap(),
        ..gpu()
    };
    assert_eq!(plan.check(&least), Ok(()));
    type Change = fn(&mut Limits);
    let changes: [(Change, &str); 4] = [
        (|limits| limits.max_binding_bytes -= 1, "bytes of a binding"),
        (|limits| limits.max_storage_bindings -= 1, "storage bindings of a dispatch"),
        (|limits| limits.max_group_invocations -= 1, "invocations of a workgroup"),
        (|limits| limits.max_groups -= 1, "workgroups in one dimension"),
    ];
    for (change, expected) in changes {
        let mut smaller = least.clone();
        change(&mut smaller);
        match plan.check(&smaller) {
            Err(Error::TooLarge { what, given, limit }) => assert_eq!((what, given), (expected, limit + 1)),
            other => panic!("{other:?}, not {expected}"),
        }
    }
    let whole = reduce_max(DType::F32, &[64, 4096], &[1]).plan(&gpu()).unwrap();
    // Ours, since loops count in teams, the workgroup, and its memory.
    let group = "invocations of a workgroup";
    for (overrides, what, given, limit) in [
        ([Override::Group(1 << 15), Override::Team(1)], group, 1 << 15, 1 << 14),
        ([Override::Group(256), Override::Team(512)], "invocations of a team", 512, 256),
        ([Override::Group(2048), Override::Team(2)], "bytes of workgroup memory", 32 << 10, 16 << 10),
    ] {
        let mut larger = whole.clone();
        larger.dispatches[0].kernel.overrides = overrides.to_vec();
        let limits = Limits { max_group_invocations: 1 << 15, ..gpu() };
        assert_eq!(larger.check(&limits), Err(Error::TooLarge { what, given, limit }));
    }
}

/// Only lavapipe is faster with them.
#[test]
fn packs_are_64_bit_integers_on_lavapipe_where_it_has_them() {
    let lavapipe = Limits { adapter: AdapterKind::Lavapipe, ..cpu() };
    let ops: [AnyOperation; 6] = [
        reduce_max(DType::F16, &[64, 4096], &[1]).into(),
        reduce_max(DType::F16, &[64, 4096], &[0]).into(),
        ArgMax::new(DType::F32, View::new([64, 4096]).unwrap()).axes([1]).into(),
        Hardmax::new(DType::F32, View::new([64, 4096]).unwrap(), Slices::Along(1)).into(),
        Max::new(DType::F32, [View::new([64]).unwrap(), View::new([64]).unwrap()]).into(),
        Max::new(DType::F32, [View::new([64]).unwrap(), View::strided([64], [2], 0).unwrap()]).into(),
    ];
    let passes_with_packs = [1, 1, 1, 2, 1, 0];
    for (op, expected) in ops.iter().zip(passes_with_packs) {
        let plan = op.plan(&lavapipe).unwrap();
        let mut int64 = op.plan(&Limits { int64: true, ..lavapipe.clone() }).unwrap();
        let taken = int64.dispatches.iter().filter(|dispatch| dispatch.kernel.int64).count();
        assert_eq!(taken, expected, "{int64}");
        if taken > 0 {
            let error = Error::MissingFeature { feature: "SHADER_INT64" };
            assert_eq!(int64.check(&lavapipe), Err(error));
        }
        int64.dispatches.iter_mut().for_each(|dispatch| dispatch.kernel.int64 = false);
        assert_eq!(int64, plan);
        for other in [gpu(), cpu()] {
            assert_eq!(op.plan(&Limits { int64: true, ..other.clone() }), op.plan(&other));
        }
    }
}

fn broadcast(plan: &mut Plan) -> &mut BroadcastParams {
    match &mut plan.dispatches[0].params {
        Params::Broadcast(params) => params,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_case_of_the_matrix_has_a_lawful_plan() {
    for case in common::cases::all() {
        for limits in [gpu(), cpu()] {
            assert!(common::laws::lawful_plan(&case.op, &limits).is_some(), "{} is refused", case.name);
        }
    }
}
