//! Plans as data: what is dispatched, and within which bounds. No GPU needed. What plans do is run on paper, in
//! `tests/paper`.

mod common;

use std::collections::BTreeMap;

use wgmax::plan::{
    Access, BroadcastParams, Constant, Operator, Params, Pass, PortableAccess, PortablePlan, PortableShader, Program,
    ReductionParams, Slot, Store,
};
use wgmax::{
    AdapterKind, ArgMax, ArgMaxOutput, Axes, DType, EmptyMax, Error, Hardmax, IndexType, Limits, Max, NanPolicy,
    Operation, Plan, ReduceMax, Slices, Tensor, View,
};

fn gpu() -> Limits {
    Limits::default()
}

fn cpu() -> Limits {
    Limits { adapter: AdapterKind::Cpu, ..Limits::default() }
}

fn reduce_max(dtype: DType, shape: &[u64], axes: &[i64]) -> ReduceMax {
    ReduceMax::new(dtype, View::new(shape).unwrap()).axes(axes)
}

fn arg_max(dtype: DType, shape: &[u64], axes: &[i64]) -> ArgMax {
    ArgMax::new(dtype, View::new(shape).unwrap()).axes(axes)
}

/// The passes' programs and types, without the numbers that tuning chooses.
fn programs(op: &impl Operation, limits: &Limits) -> Vec<String> {
    let plan = op.plan(limits).unwrap();
    plan.passes.iter().map(|pass| pass.kernel.to_string().split(" GROUP").next().unwrap().into()).collect()
}

// What is chosen.

/// Every kind of plan, with its numbers, and digests of many more: a change of the policy shows in `tests/plans.txt`, and is to be meant. That plans
/// are right is tested elsewhere; that they stay as fast as they were measured is what this holds.
#[test]
fn plans_are_those_on_record() {
    let mut text = String::new();
    let mut record = |limits: &str, plan: Result<Plan, Error>| match plan {
        Ok(plan) => {
            text += &format!("{limits}: {}\n", plan.label);
            text += &format!("  inputs {:?}, outputs {:?}, ", plan.input_bytes, plan.output_bytes);
            text += &format!("scratch {:?}, constants {}, ", plan.scratch_bytes, plan.constants.len());
            text += &format!("{} bytes moved\n", plan.moved_bytes());
            plan.passes.iter().for_each(|pass| text += &pass_text(pass));
        }
        Err(error) => text += &format!("{limits}: {error}\n"),
    };
    for op in recorded_operations() {
        record("gpu", op.plan(&gpu()));
        record("cpu", op.plan(&cpu()));
    }
    let small = Limits { max_binding_bytes: 8 << 10, binding_alignment_bytes: 64, max_storage_bindings: 4, ..gpu() };
    let few = Limits { max_groups: 8, max_group_invocations: 64, max_group_memory_bytes: 1 << 10, ..small.clone() };
    for op in recorded_small_operations() {
        record("small", op.plan(&Limits { adapter: AdapterKind::Cpu, ..small.clone() }));
        record("few", op.plan(&few));
    }
    let sweeps = [("large", view_sweep(), limits_sweep()), ("small", small_view_sweep(), small_limits_sweep())];
    for (size, views, limits) in sweeps {
        for (operator, operations) in sweep(&views) {
            for (n, limits) in limits.iter().enumerate() {
                let plans = operations.iter().map(|op| format!("{:?}", op.plan(limits)));
                let digest = plans.fold(FNV_BASIS, |digest, plan| fnv(digest, &plan));
                text += &format!("{} {size} plans of {operator}, limits {n}: {digest:016x}\n", operations.len());
            }
        }
    }
    expect_test::expect_file!["plans.txt"].assert_eq(&text);
}

/// Not the standard library's hasher, which may change with Rust.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv(digest: u64, text: &str) -> u64 {
    text.bytes().fold(digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Far more operations than can be written down, by operator.
fn sweep(views: &[View]) -> [(&'static str, Vec<Box<dyn Operation>>); 4] {
    let [mut reduce_max, mut arg_max, mut hardmax, mut max]: [Vec<Box<dyn Operation>>; 4] = Default::default();
    for (n, view) in views.iter().cloned().enumerate() {
        let dtype = [DType::F32, DType::U8, DType::I64, DType::F16][n % 4];
        for axes in axes_sweep(view.rank()) {
            reduce_max.push(Box::new(ReduceMax::new(dtype, view.clone()).axes(axes.clone())));
            let op = ArgMax::new(dtype, view.clone()).axes(axes).index(IndexType::U32);
            arg_max.push(Box::new(op.output(ArgMaxOutput::ValuesAndIndices)));
        }
        let rank = view.rank() as i64;
        for slices in (0..rank).map(Slices::Along).chain((0..rank).map(Slices::From)) {
            hardmax.push(Box::new(Hardmax::new(dtype, view.clone(), slices)));
        }
        let flat = View::new(view.shape()).unwrap();
        let row = View::new(view.shape().last().copied().into_iter().collect::<Vec<_>>()).unwrap();
        max.push(Box::new(Max::new(dtype, [view.clone(), row.clone()])));
        max.push(Box::new(Max::new(dtype, [flat.clone(), view.clone(), row]).in_place(0)));
        max.push(Box::new(Max::new(dtype, vec![view; 9])));
    }
    [("ReduceMax", reduce_max), ("ArgMax", arg_max), ("Hardmax", hardmax), ("Max", max)]
}

/// Shapes, strides and offsets around packs, windows and alignments.
fn small_view_sweep() -> Vec<View> {
    let strided = |shape: &[u64], strides: &[i64], offset| View::strided(shape, strides, offset).unwrap();
    let mut views = Vec::new();
    for (a, b) in [(1, 1), (3, 31), (16, 32), (33, 257), (64, 1024), (257, 300), (1025, 5)] {
        views.push(View::new([a, b]).unwrap());
        views.push(View::new([b, a]).unwrap().permute(&[1, 0]).unwrap());
        views.push(strided(&[a, b], &[b as i64 + 3, 1], 5));
        views.push(strided(&[2, a, b], &[0, b as i64, 1], 64));
        views.push(strided(&[a, 3, b], &[3 * b as i64, -(b as i64), 1], 2 * b));
        views.push(View::new([5, a, b]).unwrap().permute(&[2, 0, 1]).unwrap());
    }
    views
}

/// Bindings, workgroups and bindings a stage so few that most of the sweep goes in pieces, or not at all.
fn small_limits_sweep() -> Vec<Limits> {
    let mut all = Vec::new();
    for adapter in [AdapterKind::Gpu, AdapterKind::Cpu] {
        for (max_binding_bytes, binding_alignment_bytes, max_groups, max_storage_bindings) in
            [(1 << 20, 256, 65_535, 8), (64 << 10, 32, 9, 4), (4 << 10, 64, 65_535, 4)]
        {
            let limits = Limits { adapter, max_binding_bytes, binding_alignment_bytes, ..Limits::default() };
            all.push(Limits { max_groups, max_storage_bindings, ..limits });
        }
    }
    all
}

/// A line for the dispatch, one for its parameters but for those that are 0, and one for what it binds.
fn pass_text(pass: &Pass) -> String {
    let params = format!("{:?}", pass.params);
    let (name, fields) = params.split_once('(').unwrap();
    let fields = fields.split_once('{').unwrap().1.trim_end_matches(['}', ')', ' ']);
    let zero = |field: &&str| !field.ends_with(": 0") && !field.ends_with(": []");
    let fields: Vec<&str> = fields.split(", ").map(str::trim).filter(zero).collect();
    let bind = |b: &wgmax::plan::Binding| {
        let access = if b.writes { "writes" } else { "reads" };
        format!("{} {access} {} {}+{}", b.binding, b.slot, b.offset_bytes, b.bytes)
    };
    let bindings: Vec<String> = pass.bindings.iter().map(bind).collect();
    format!("  {} {:?}\n    {name}: {}\n    {}\n", pass.kernel, pass.grid, fields.join(", "), bindings.join("; "))
}

fn recorded_operations() -> Vec<Box<dyn Operation>> {
    let view = |shape: &[u64]| View::new(shape).unwrap();
    let mut ops: Vec<Box<dyn Operation>> = Vec::new();
    for (dtype, shape, axes) in [
        (DType::F32, &[64, 128_256][..], &[1][..]),
        (DType::F16, &[1, 128_256], &[1]),
        (DType::F32, &[16_384, 512], &[1]),
        (DType::U8, &[8400, 80], &[1]),
        (DType::F32, &[1 << 24], &[0]),
        (DType::I64, &[300, 1001], &[1]),
        (DType::F32, &[8, 80, 8400], &[1]),
        (DType::Bf16, &[262_144, 32], &[0]),
        (DType::U8, &[100, 33], &[0]),
        (DType::I64, &[1, 150, 65_536], &[1]),
        (DType::F32, &[16, 64, 56, 56], &[0, 2, 3]),
        (DType::F16, &[7, 999, 3], &[2]),
        (DType::F64, &[3, 5, 7], &[0, 2]),
        // Rows around the length from which an invocation takes several.
        (DType::F32, &[50_000, 28], &[1]),
        (DType::F32, &[50_000, 32], &[1]),
        (DType::F16, &[9_000, 7, 96], &[2]),
        // More than one invocation may loop over.
        (DType::U8, &[1 << 26], &[0]),
        (DType::F16, &[3, 1 << 26], &[1]),
        (DType::F32, &[1 << 25, 3], &[0]),
        (DType::U8, &[1 << 23, 16], &[0]),
        (DType::I64, &[2, 1 << 21, 3], &[0, 1]),
    ] {
        ops.push(Box::new(reduce_max(dtype, shape, axes)));
        ops.push(Box::new(arg_max(dtype, shape, axes).output(ArgMaxOutput::ValuesAndIndices)));
    }
    let strided = View::strided([40, 30, 20], [1200, -40, 2], 1199).unwrap();
    ops.push(Box::new(ReduceMax::new(DType::F32, strided.clone()).axes([2])));
    ops.push(Box::new(ArgMax::new(DType::F16, strided).axes([0, 2]).index(IndexType::U32).select_last(true)));
    for (dtype, shape, slices) in [
        (DType::F32, &[4096, 1000][..], Slices::Along(1)),
        (DType::F16, &[16, 128_256], Slices::Along(1)),
        (DType::F32, &[8, 80, 8400], Slices::Along(1)),
        (DType::U8, &[4, 5, 6, 7], Slices::From(1)),
        (DType::F64, &[1 << 20], Slices::Along(0)),
        (DType::I8, &[9, 1], Slices::Along(1)),
    ] {
        ops.push(Box::new(Hardmax::new(dtype, view(shape), slices)));
    }
    let two = |a: &[u64], b: &[u64]| [view(a), view(b)];
    ops.push(Box::new(Max::new(DType::F32, two(&[1 << 22], &[1 << 22]))));
    ops.push(Box::new(Max::new(DType::F16, two(&[16, 128, 32, 32], &[128, 1, 1]))));
    ops.push(Box::new(Max::new(DType::U8, two(&[2048, 1], &[1, 2047]))));
    ops.push(Box::new(Max::new(DType::I64, [view(&[30, 40]), view(&[40, 30]).permute(&[1, 0]).unwrap()])));
    ops.push(Box::new(Max::new(DType::F32, vec![view(&[1001]); 9]).in_place(3)));
    let floor = Tensor::new([], &[0.5_f32]).unwrap();
    ops.push(Box::new(Max::new(DType::F32, [view(&[1 << 20])]).constant(floor).nan(NanPolicy::Ignore)));
    ops
}

/// What does not fit in bindings of some kilobytes.
fn recorded_small_operations() -> Vec<Box<dyn Operation>> {
    let view = |shape: &[u64]| View::new(shape).unwrap();
    let parts = wgmax::Parts::new([view(&[3, 40, 9]), view(&[9, 4, 40]).permute(&[1, 2, 0]).unwrap()]).unwrap();
    let mut ops: Vec<Box<dyn Operation>> = Vec::new();
    for (dtype, shape, axes) in [
        (DType::F32, &[5000][..], &[0][..]),
        (DType::U8, &[3, 9001], &[1]),
        (DType::F16, &[90, 120], &[1]),
        (DType::I64, &[40, 70], &[0]),
        (DType::F32, &[2, 3, 1300], &[0, 2]),
        (DType::U8, &[9000, 2], &[1]),
        (DType::F16, &[9000, 1], &[0]),
        (DType::I64, &[2, 40, 3, 11], &[1, 3]),
    ] {
        ops.push(Box::new(reduce_max(dtype, shape, axes)));
        ops.push(Box::new(arg_max(dtype, shape, axes).output(ArgMaxOutput::ValuesAndIndices)));
    }
    let repeated = View::strided([3, 1100, 3], [1100, 1, 0], 3).unwrap();
    ops.push(Box::new(ArgMax::new(DType::F32, repeated).axes([1, 2])));
    let across = view(&[30, 11, 40]).permute(&[2, 1, 0]).unwrap();
    ops.push(Box::new(ReduceMax::new(DType::F32, across.clone()).axes([1])));
    ops.push(Box::new(ArgMax::new(DType::F16, across).axes([0, 2])));
    ops.push(Box::new(ReduceMax::new(DType::U8, parts.clone()).axes([0])));
    ops.push(Box::new(ReduceMax::new(DType::F32, parts.clone()).axes([1])));
    ops.push(Box::new(ArgMax::new(DType::F16, parts.clone()).axes([1, 2])));
    ops.push(Box::new(Hardmax::new(DType::F16, parts.clone(), Slices::Along(0))));
    ops.push(Box::new(Hardmax::new(DType::F32, view(&[7000]), Slices::Along(0))));
    ops.push(Box::new(Hardmax::new(DType::U8, view(&[2, 3, 1500]), Slices::Along(1))));
    ops.push(Box::new(Hardmax::new(DType::I64, view(&[70, 30]), Slices::Along(1))));
    ops.push(Box::new(ReduceMax::new(DType::F16, view(&[0, 9001])).axes([0])));
    let rows = Max::new(DType::U8, [view(&[93, 189]), view(&[93, 1])]);
    ops.push(Box::new(rows.clone().in_place(0)));
    ops.push(Box::new(rows));
    ops.push(Box::new(Max::new(DType::F16, [view(&[70, 90]), view(&[90, 70]).permute(&[1, 0]).unwrap()])));
    let first = view(&[7, 40, 9]);
    ops.push(Box::new(Max::new(DType::F32, [first.into(), parts]).in_place(0)));
    ops
}

#[test]
fn one_dispatch_where_one_is_enough() {
    for limits in [gpu(), cpu()] {
        assert_eq!(programs(&reduce_max(DType::F32, &[4096, 64], &[1]), &limits), ["reduce_max_rows f32 -> value"]);
        assert_eq!(
            programs(&reduce_max(DType::U8, &[64, 16, 1024], &[1]), &limits),
            ["reduce_max_columns u8 -> value"]
        );
        assert_eq!(programs(&reduce_max(DType::F32, &[5, 3], &[1]), &limits), ["reduce_max_strided f32 -> value"]);
        assert_eq!(programs(&arg_max(DType::F16, &[4096, 64], &[1]), &limits), ["arg_max_rows f16 -> index"]);
        assert_eq!(programs(&arg_max(DType::I64, &[64, 16, 1024], &[1]), &limits), ["arg_max_strided i64 -> index"]);
    }
}

#[test]
fn long_rows_are_split_and_finished() {
    for limits in [gpu(), cpu()] {
        assert_eq!(
            programs(&reduce_max(DType::F32, &[1 << 24], &[0]), &limits),
            ["reduce_max_rows f32 -> partial", "reduce_max_finish f32 -> value"]
        );
        assert_eq!(
            programs(&arg_max(DType::F16, &[1, 128_256], &[1]).output(ArgMaxOutput::ValuesAndIndices), &limits),
            ["arg_max_rows f16 -> partial", "arg_max_finish f16 -> both"]
        );
        assert_eq!(
            programs(&reduce_max(DType::F64, &[100_000, 16], &[0]), &limits),
            ["reduce_max_columns f64 -> partial", "reduce_max_finish f64 -> value"]
        );
        assert_eq!(
            programs(&arg_max(DType::F64, &[100_000, 16], &[0]), &limits),
            ["arg_max_strided f64 -> partial", "arg_max_finish f64 -> index"]
        );
    }
}

#[test]
fn many_rows_are_not_split() {
    assert_eq!(programs(&reduce_max(DType::F32, &[65_536, 512], &[1]), &gpu()), ["reduce_max_rows f32 -> value"]);
    assert_eq!(programs(&reduce_max(DType::F32, &[1024, 32_768], &[1]), &cpu()), ["reduce_max_rows f32 -> value"]);
}

#[test]
fn nothing_to_write_is_nothing_to_dispatch() {
    for op in [reduce_max(DType::F32, &[0, 5], &[1]), reduce_max(DType::I64, &[3, 0, 0], &[2])] {
        let plan = op.plan(&gpu()).unwrap();
        assert_eq!((plan.passes, plan.output_bytes, plan.scratch_bytes), (vec![], vec![0], [0, 0]));
    }
}

#[test]
fn the_maximum_of_nothing_is_a_fill() {
    let op = reduce_max(DType::F16, &[0, 5], &[0]);
    assert_eq!(programs(&op, &gpu()), ["fill f16"]);
    let fill = |op: &ReduceMax| match op.plan(&gpu()).unwrap().passes[0].params {
        Params::Fill(fill) => (fill.words, fill.low, fill.high),
        _ => panic!("no fill"),
    };
    assert_eq!(fill(&op), (3, 0xfc00_fc00, 0xfc00_fc00));
    assert_eq!(fill(&op.empty(EmptyMax::LowestFinite)), (3, 0xfbff_fbff, 0xfbff_fbff));
    assert_eq!(fill(&reduce_max(DType::F64, &[0, 5], &[0])), (10, 0, 0xfff0_0000));
    assert_eq!(fill(&reduce_max(DType::I8, &[0, 5], &[0])), (2, 0x8080_8080, 0x8080_8080));
    assert_eq!(op_input_bytes(&reduce_max(DType::F16, &[0, 5], &[0])), [0]);
}

fn op_input_bytes(op: &impl Operation) -> Vec<u64> {
    op.plan(&gpu()).unwrap().input_bytes
}

#[test]
fn views_that_address_the_same_elements_make_equal_passes() {
    let passes = |op: ReduceMax| op.plan(&gpu()).unwrap().passes;
    let flat = passes(reduce_max(DType::F32, &[6, 640], &[1]));
    assert_eq!(passes(reduce_max(DType::F32, &[2, 3, 64, 10], &[2, 3])), flat);
    assert_eq!(passes(reduce_max(DType::F32, &[6, 1, 640], &[1, 2])), flat);
    // Values may be taken in any order: reversed, transposed and repeated elements of a row are the same row.
    let view = |view: View, axes: &[i64]| passes(ReduceMax::new(DType::F32, view).axes(axes));
    let own = View::new([6, 640]).unwrap();
    assert_eq!(view(own.reverse(1).unwrap(), &[1]), flat);
    assert_eq!(view(own.split(1, [20, 32]).unwrap().permute(&[0, 2, 1]).unwrap(), &[1, 2]), flat);
    assert_eq!(view(View::strided([6, 9, 640], [640, 0, 1], 0).unwrap(), &[1, 2]), flat);
}

#[test]
fn plans_of_one_kernel_differ_in_parameters_only() {
    let kernel = |len| reduce_max(DType::F32, &[4096, len], &[1]).plan(&cpu()).unwrap().passes[0].kernel.clone();
    assert_eq!(kernel(64), kernel(96));
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
    assert!(lines[0].starts_with("ReduceMax f32 [3, 4194304] over [1]: 2 passes, scratch ["), "{text}");
    assert!(lines[1].starts_with("reduce_max_rows f32 -> partial GROUP="), "{text}");
    assert_eq!(lines[2], "reads input 0 bytes 0..50331648");
    assert!(text.contains("\n    writes scratch 0 bytes 0.."), "{text}");
    assert!(text.contains("\n  reduce_max_finish f32 -> value GROUP="), "{text}");
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

// Bounds that every plan keeps.

/// What a shader can know of a reducing pass.
struct Kernel {
    operator: Operator,
    access: Access,
    store: Store,
    group: u64,
    team: u64,
    /// Elements of a word, or 1.
    lanes: u64,
    pack: u64,
    /// Packs that an invocation of a column kernel takes.
    column_packs: u64,
}

impl Kernel {
    fn new(pass: &Pass) -> Kernel {
        let Program::Reduce { operator, access, team, store } = pass.kernel.program else { panic!("no reduction") };
        let constants = &pass.kernel.constants;
        let group = constants.iter().find_map(|c| if let Constant::Group(n) = c { Some(*n) } else { None });
        let members = constants.iter().find_map(|c| if let Constant::Team(n) = c { Some(*n) } else { None });
        assert_eq!(team, members.is_some());
        let element_bytes = pass.kernel.dtype.bytes();
        Kernel {
            operator,
            access,
            store,
            group: group.unwrap().into(),
            team: members.unwrap_or(1).into(),
            lanes: 4_u64.div_ceil(element_bytes),
            pack: 16 / element_bytes,
            column_packs: if constants.contains(&Constant::Wide) { 4 } else { 1 },
        }
    }

    fn store_lanes(&self) -> u64 {
        if matches!(self.store, Store::Value | Store::Both) { self.lanes } else { 1 }
    }
}

fn reduction(pass: &Pass) -> &ReductionParams {
    let Params::Reduction(params) = &pass.params else { panic!("no reduction") };
    params
}

/// The most loop iterations that one invocation of a pass makes, nested loops counted together, read off the shaders.
fn most_steps(pass: &Pass) -> u64 {
    let k = Kernel::new(pass);
    let p = reduction(pass);
    let (chunk, run) = (u64::from(p.chunk_len), u64::from(p.run_len).max(1));
    let (kept, outer) = (p.kept.len() as u64, p.outer.len() as u64);
    let runs = if chunk.is_multiple_of(run) { chunk / run } else { (chunk + run - 2) / run + 1 };
    let len = run.min(chunk);
    // An ArgMax takes each tile's maximum at once, over the lanes of a word.
    let lane_steps = if k.operator == Operator::ArgMax { k.lanes - 1 } else { 0 };
    let packs = len / k.pack;
    let tiles = packs / (4 * k.team) + packs.div_ceil(k.team).min(3);
    let search = match k.access {
        Access::Rows => runs * (1 + outer + tiles + lane_steps * (tiles + 2)),
        Access::Strided => runs * (1 + outer + len.div_ceil(k.team)),
        // One pack at a time at the end of a row, else all in one loop, row by row or four rows at once.
        Access::Columns if u64::from(p.columns).is_multiple_of(k.pack * k.column_packs) && k.column_packs > 1 => {
            runs * (1 + outer + (4 * lane_steps + 1) * len)
        }
        Access::Columns if u64::from(p.columns).is_multiple_of(k.pack) => {
            let one = runs * (1 + outer + (lane_steps + 1) * (len / 4 + 3));
            let all = if k.column_packs > 1 { runs * (1 + outer + (lane_steps + 1) * (len + 3)) } else { 0 };
            (one * k.column_packs).max(all)
        }
        Access::Columns => k.column_packs * runs * (1 + outer + (lane_steps + 1) * len),
        Access::Finish | Access::FinishPieces => u64::from(p.chunks).div_ceil(k.team),
    };
    let locate = match (k.operator, k.access) {
        (Operator::ReduceMax, _) => k.lanes,
        (Operator::ArgMax, Access::Rows) => 4 * k.pack + 2 * outer,
        (Operator::ArgMax, Access::Columns) => k.column_packs * k.pack * (4 + outer),
        (Operator::ArgMax, Access::Strided | Access::Finish | Access::FinishPieces) => 0,
    };
    let task = kept + search + locate + 3; // and the words of a partial result
    match k.access {
        Access::Columns => task + k.column_packs * (1 + 2 * k.pack + 3 * k.pack),
        _ if k.team > 1 => task + u64::from(k.team.ilog2()) + k.store_lanes(),
        _ => u64::from(p.share) * (k.store_lanes() * (task + 1) + 1),
    }
}

/// Bytes of the elements that a view sees, no more than those from its first to its last.
fn seen_bytes(view: &View, dtype: DType) -> u64 {
    if view.is_empty() {
        return 0;
    }
    let reach = |&(size, stride): &(&u64, &i64)| (size - 1) * stride.unsigned_abs();
    let span = 1 + view.shape().iter().zip(view.strides()).map(|pair| reach(&pair)).sum::<u64>();
    span.min(view.len()) * dtype.bytes()
}

/// Everything that holds for every plan.
fn check_bounds(op: &impl Operation, view: &View, dtype: DType, limits: &Limits, case: &str) {
    let plan = match op.plan(limits) {
        Ok(plan) => plan,
        Err(Error::TooLarge { .. }) => return,
        Err(error) => panic!("{case}: {error}"),
    };
    assert_eq!(op.plan(limits).unwrap(), plan, "{case}: another plan the second time");
    let case = format!("{case} {limits:?}\n{plan}");
    let scratch: u64 = plan.scratch_bytes.iter().sum();
    assert!(scratch <= seen_bytes(view, dtype) / 64 + (64 << 10), "{case}");
    let needs = op.inputs().unwrap();
    assert!(plan.input_bytes.iter().zip(&needs).all(|(&bytes, need)| bytes <= need.bytes), "{case}");
    for pass in &plan.passes {
        let [x, y, z] = pass.grid;
        assert!(x >= 1 && y >= 1 && z == 1 && x <= limits.max_groups && y <= limits.max_groups, "{case}");
        let invocations = pass.kernel.constants.iter().find_map(|c| match c {
            Constant::Group(n) => Some(*n),
            _ => None,
        });
        let invocations = invocations.unwrap();
        assert!(invocations >= 1 && invocations <= limits.max_group_invocations.max(1), "{case}");
        assert!(pass.bindings.len() as u64 <= limits.max_storage_bindings.into(), "{case}");
        for b in &pass.bindings {
            assert!(b.bytes > 0 && b.bytes <= limits.max_binding_bytes && b.bytes.is_multiple_of(4), "{case}");
            assert!(b.offset_bytes.is_multiple_of(limits.binding_alignment_bytes), "{case}");
            let slot_bytes = match b.slot {
                Slot::Input(n) => plan.input_bytes[n],
                Slot::Output(n) => plan.output_bytes[n],
                Slot::Scratch(n) => plan.scratch_bytes[n],
                Slot::Constant(n) => plan.constants[n].len() as u64,
            };
            assert!(b.offset_bytes + b.bytes <= slot_bytes, "{case}");
            assert_eq!(b.writes, !matches!(b.slot, Slot::Input(_)) && b.binding >= 3, "{case}");
        }
        let groups = u64::from(x) * u64::from(y);
        let Program::Reduce { .. } = pass.kernel.program else {
            let Params::Fill(fill) = &pass.params else { panic!("{case}") };
            assert!(groups * u64::from(invocations) >= fill.words.into(), "{case}");
            continue;
        };
        let (k, p) = (Kernel::new(pass), reduction(pass));
        assert!(k.team.is_power_of_two() && k.team <= k.group, "{case}");
        let (outputs, chunks) = (u64::from(p.outputs), u64::from(p.chunks));
        if !matches!(k.access, Access::Finish | Access::FinishPieces) {
            assert_eq!(chunks, u64::from(p.reduce_len).div_ceil(p.chunk_len.into()), "{case}");
        }
        let tasks = outputs * if matches!(k.store, Store::Partial | Store::Piece) { chunks } else { 1 };
        let invocations_needed = match k.access {
            Access::Columns => {
                let columns = u64::from(p.columns);
                outputs / columns * chunks * columns.div_ceil(k.pack * k.column_packs)
            }
            _ if k.team > 1 => tasks * k.team,
            _ => tasks.div_ceil(k.store_lanes() * u64::from(p.share)),
        };
        let groups_needed = invocations_needed.div_ceil(k.group);
        assert!(groups >= groups_needed, "{case}");
        assert!(groups * 2 <= 3 * groups_needed.max(2), "half the workgroups are surplus: {case}");
        assert!(most_steps(pass) <= 32_768, "{} steps: {case}", most_steps(pass));
    }
}

fn limits_sweep() -> Vec<Limits> {
    let huge = |adapter| Limits {
        subgroup_size: 8,
        adapter,
        max_binding_bytes: 2 << 30,
        binding_alignment_bytes: 16,
        max_storage_bindings: 64,
        max_group_invocations: 1024,
        max_group_memory_bytes: 48 << 10,
        max_groups: 65_535,
    };
    let least = |adapter| Limits { adapter, max_group_invocations: 1, max_groups: 4096, ..Limits::default() };
    [AdapterKind::Gpu, AdapterKind::Cpu]
        .into_iter()
        .flat_map(|adapter| [Limits { adapter, ..Limits::default() }, huge(adapter), least(adapter)])
        .collect()
}

fn view_sweep() -> Vec<View> {
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
    ]);
    views
}

/// `[]`, each axis, the first half, the last half, all but the first, all.
fn axes_sweep(rank: usize) -> Vec<Vec<i64>> {
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

#[test]
fn axes_may_come_in_any_order_and_sign() {
    let plan = |axes: Axes| ReduceMax::new(DType::F32, View::new([8, 9, 10]).unwrap()).axes(axes).plan(&gpu()).unwrap();
    assert_eq!(plan([-1, 0].into()), plan([0, 2].into()));
    assert_eq!(plan([2, -2, 0].into()), plan(Axes::All));
}

#[test]
fn what_does_not_fit_a_binding_goes_in_pieces() {
    let small = Limits { max_binding_bytes: 1 << 20, ..gpu() };
    let rows = "reduce_max_rows f32 -> ";
    assert_eq!(
        programs(&reduce_max(DType::F32, &[(1 << 18) + 1], &[0]), &small),
        [&format!("{rows}piece"), &format!("{rows}piece"), "reduce_max_finish f32 -> value"]
    );
    // Slabs of outputs need no partial results.
    assert_eq!(programs(&reduce_max(DType::F32, &[1 << 10, 1 << 9], &[1]), &small), vec![format!("{rows}value"); 3]);
    assert_eq!(
        programs(&reduce_max(DType::F32, &[(1 << 18) + 1, 1], &[1]), &small),
        ["reduce_max_columns f32 -> value"; 2]
    );
    // And so does what takes more workgroups than the device has.
    let few = Limits { max_groups: 2, ..gpu() };
    assert_eq!(reduce_max(DType::F32, &[5000, 3, 2], &[2]).plan(&few).unwrap().passes.len(), 40);
}

#[test]
fn an_operand_across_the_output_takes_as_many_passes_as_bindings() {
    let limits = Limits { max_binding_bytes: 128 << 20, ..gpu() };
    let (rows, across) = (View::new([8192, 9600]).unwrap(), View::new([9600, 8192]).unwrap());
    let op = Max::new(DType::F32, [rows, across.permute(&[1, 0]).unwrap()]);
    let (fill, max) = ("fill f32", "max_elements f32 of");
    let (both, one) = (&format!("{max} 2")[..], &format!("{max} 1")[..]);
    assert_eq!(programs(&op, &limits), [fill, fill, fill, both, one, one, both, one, one, both, one, one]);
    // Written over, it needs no element to begin with.
    assert_eq!(op.in_place(0).plan(&limits).unwrap().passes.len(), 9);
}

#[test]
fn what_goes_in_no_pieces_is_said() {
    let tiny = Limits { max_binding_bytes: 256, ..gpu() };
    let error = reduce_max(DType::F32, &[1000], &[0]).plan(&tiny).unwrap_err();
    let what = "max_storage_buffer_binding_size";
    assert_eq!(error, Error::DeviceTooSmall { what, given: 256, needed: 280 });
    let small = Limits { max_binding_bytes: 4 << 10, ..gpu() };
    let error = reduce_max(DType::F32, &[1 << 40], &[0]).plan(&small).unwrap_err();
    assert!(matches!(error, Error::TooLarge { what: "passes", limit: 4096, .. }), "{error:?}");
}

/// One plan of each kind, with its operation's own trouble: two passes, a constant, a place to write over.
fn various_plans() -> Vec<Plan> {
    let view = View::new([16, 8]).unwrap();
    let floor = Tensor::new([8], &[0.5_f32; 8]).unwrap();
    vec![
        reduce_max(DType::F32, &[1 << 24], &[0]).plan(&gpu()).unwrap(),
        reduce_max(DType::F64, &[0, 5], &[0]).plan(&gpu()).unwrap(),
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
        assert_eq!(portable.passes.len(), plan.passes.len());
        let constants: Vec<Vec<u8>> = portable.constants.iter().map(|words| bytes_of(words)).collect();
        assert_eq!(constants, plan.constants);
        for (portable_pass, pass) in portable.passes.iter().zip(&plan.passes) {
            let shader = &portable.shaders[portable_pass.shader];
            assert_eq!(shader.wgsl, pass.kernel.wgsl());
            assert_eq!(shader.constants.len(), pass.kernel.constants.len());
            assert!(pass.kernel.constants.iter().all(|c| shader.constants[c.name()] == c.value()));
            let params = bytes_of(&portable_pass.params);
            assert_eq!(params.len() % 16, 0);
            assert!(params.starts_with(&pass.params.to_bytes()));
            assert_eq!(portable_pass.grid, pass.grid);
            for (own, binding) in portable_pass.bindings.iter().zip(&pass.bindings) {
                assert_eq!(format!("{:?} {}", own.slot, own.index).to_lowercase(), binding.slot.to_string());
                assert_eq!(own.access == PortableAccess::ReadWrite, binding.writes);
                assert_eq!(
                    (own.binding, own.offset_bytes, own.bytes),
                    (binding.binding, binding.offset_bytes, binding.bytes)
                );
            }
        }
    }
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn a_portable_shader_stands_there_once_and_its_key_tells_it_apart() {
    let many = Max::new(DType::F32, vec![View::new([100]).unwrap(); 50]).plan(&gpu()).unwrap();
    let portable = PortablePlan::from(&many);
    assert!(portable.shaders.len() < portable.passes.len(), "{many}");
    let mut kernels: Vec<_> = common::kernels::kernels();
    kernels.push(wgmax::plan::Kernel { constants: vec![Constant::Group(32)], ..kernels[0].clone() });
    let keys: BTreeMap<String, PortableShader> =
        kernels.iter().map(PortableShader::from).map(|shader| (shader.key.clone(), shader)).collect();
    let mut texts: Vec<_> = kernels.iter().map(PortableShader::from).map(|s| (s.wgsl, s.constants)).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(keys.len(), texts.len());
    // The key is the same on every machine and from every compiler.
    let fill = wgmax::plan::Kernel { program: Program::Fill, dtype: DType::F32, constants: vec![Constant::Group(64)] };
    assert_eq!(PortableShader::from(&fill).key.len(), 16);
}

/// The form is stable: its names stand in `docs/plan.md`, and in other people's code.
#[cfg(feature = "serde")]
#[test]
fn the_portable_form_is_what_its_document_says() {
    let document = include_str!("../docs/plan.md");
    let example = document.split("```json").nth(1).unwrap().split("```").next().unwrap();
    let example: serde_json::Value = serde_json::from_str(example).unwrap();
    let read: PortablePlan = serde_json::from_value(example.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), example);
    let portable = PortablePlan::from(&arg_max(DType::F32, &[1, 128_256], &[1]).plan(&gpu()).unwrap());
    let written = serde_json::to_value(&portable).unwrap();
    assert_eq!(serde_json::from_value::<PortablePlan>(written.clone()).unwrap(), portable);
    for part in ["", "/shaders/0", "/passes/0", "/passes/0/bindings/0"] {
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
fn an_operation_survives_json_and_may_leave_out_what_is_as_it_starts() {
    use wgmax::AnyOperation;
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

// Plans that nobody made like this.

#[test]
fn plans_that_contradict_themselves_are_refused() {
    type Change = fn(&mut Plan);
    let changes: [(Change, &str); 16] = [
        (|plan| plan.passes[0].bindings[0].slot = Slot::Input(7), "the plan has no input 7"),
        (|plan| plan.passes[0].bindings[0].slot = Slot::Output(3), "the plan has no output 3"),
        (|plan| plan.passes[0].bindings[0].slot = Slot::Scratch(2), "the plan has no scratch 2"),
        (|plan| plan.passes[0].bindings[0].slot = Slot::Constant(usize::MAX), "the plan has no constant"),
        (|plan| plan.passes[0].bindings[0].bytes = 0, "0 bytes, a multiple of 4"),
        (|plan| plan.passes[0].bindings[0].bytes -= 2, "a multiple of 4"),
        (|plan| plan.passes[0].bindings[0].offset_bytes = u64::MAX - 255, "bytes from byte 18446744073709551360 on"),
        (|plan| plan.input_bytes.iter_mut().for_each(|bytes| *bytes = 0), "of 0 of input 0"),
        (|plan| plan.output_bytes.clear(), "the plan has no output 0"),
        (|plan| plan.passes.iter_mut().for_each(|pass| pass.bindings[0].slot = Slot::Input(0)), "input 0 is written"),
        (|plan| plan.in_place = Some(2), "output 0 is to be written over input 2"),
        (|plan| plan.constants = vec![vec![1, 2, 3]], "constant 0 has 3 bytes"),
        (|plan| plan.constants = vec![vec![]], "constant 0 has 0 bytes"),
        (|plan| plan.passes[0].params = Params::Reduction(ReductionParams::default()), "does not take"),
        (|plan| broadcast(plan).sizes = vec![2; 33], "does not take"),
        (|plan| broadcast(plan).operands.clear(), "does not take"),
    ];
    let inputs = [View::new([16, 8]).unwrap(), View::new([16, 8]).unwrap()];
    let plan = Max::new(DType::F32, inputs).plan(&gpu()).unwrap();
    assert_eq!(plan.check(&gpu()), Ok(()));
    for (change, expected) in changes {
        let mut torn = plan.clone();
        change(&mut torn);
        match torn.check(&gpu()) {
            Err(Error::InvalidPlan { problem }) => assert!(problem.contains(expected), "{problem}, not {expected}"),
            other => panic!("{other:?}, not {expected}"),
        }
    }
}

fn broadcast(plan: &mut Plan) -> &mut BroadcastParams {
    match &mut plan.passes[0].params {
        Params::Broadcast(params) => params,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_plan_made_here_is_whole() {
    for case in common::cases::all() {
        for limits in [gpu(), cpu()] {
            let plan = case.op.plan(&limits).unwrap();
            assert_eq!(plan.check(&limits), Ok(()), "{}: {plan}", case.name);
        }
    }
}
