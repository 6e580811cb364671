//! Every kind of plan in numbers, and digests of many more: a change of the policy shows in `record.txt`, and is to be
//! meant. That plans are right is tested elsewhere; that they stay as fast as they were measured is what this holds.
//!
//! What has only another name in the crate has the same numbers. Where a change is meant, `UPDATE_EXPECT=1 cargo test
//! --test plan record` writes the file anew.

use wgmax::plan::{PortableAccess, PortableBinding, PortableDispatch, PortablePlan, PortableSlot};
use wgmax::{
    AdapterKind, ArgMax, ArgMaxOutput, DType, Error, Hardmax, IndexType, Limits, Max, NanPolicy, Operation, Parts,
    Plan, ReduceMax, Slices, Tensor, View,
};

use super::bounds::{axes_sweep, limits_sweep, view_sweep};
use super::common::Random;
use super::{arg_max, cpu, gpu, reduce_max};

const HEAD: &str = "\
# Plans in numbers. To write this file anew: UPDATE_EXPECT=1 cargo test --test plan record
#
# An operation, then what is planned for each device: the bytes of inputs, outputs and scratch, and the bytes moved.
# A line for each dispatch: workgroups | values of overrides | words of the parameters that are not 0, as
# number:value | bindings, as numbers, r or w, slot, first byte+bytes. Slots are inputs, outputs, scratch and embedded operands.
";

#[test]
fn plans_are_those_on_record() {
    let mut text = HEAD.to_string();
    let devices = [("gpu", gpu()), ("cpu 4", cpu()), ("cpu 8", Limits { adapter: AdapterKind::Lavapipe, ..cpu() })];
    for (name, op) in recorded_operations() {
        text += &record(&name, &*op, &devices);
    }
    let small = Limits { max_binding_bytes: 8 << 10, binding_alignment_bytes: 64, max_storage_bindings: 4, ..gpu() };
    let few = Limits { max_groups: 8, max_group_invocations: 64, max_group_memory_bytes: 1 << 10, ..small.clone() };
    let devices = [("small", Limits { adapter: AdapterKind::SwiftShader, ..small }), ("few", few)];
    for (name, op) in recorded_small_operations() {
        text += &record(&name, &*op, &devices);
    }
    text.push('\n');
    let sweeps = [("large", view_sweep(), limits_sweep()), ("small", small_view_sweep(), small_limits_sweep())];
    for (size, views, limits) in sweeps {
        for (operator, operations) in sweep(&views) {
            for (n, limits) in limits.iter().enumerate() {
                let plans = operations.iter().map(|op| op.plan(limits));
                text += &format!("{size} {operator}, limits {n}: {}\n", digest(plans));
            }
        }
    }
    for elements in [1 << 9, 1 << 16, 1 << 24, 1 << 33] {
        for operator in ["ReduceMax", "ArgMax", "Hardmax", "Max"] {
            let mut dice = Dice(Random::new(elements));
            let plans = (0..300).map(|_| dice.operation(operator, elements).plan(&dice.limits(elements)));
            let plans = plans.inspect(counts_workgroups);
            text += &format!("By chance, {operator} of at most {elements} elements: {}\n", digest(plans));
        }
    }
    for (name, op) in growing_operations() {
        text += &format!("{name} is planned like its half up to n = {}\n", most_planned_alike(op));
    }
    expect_test::expect_file!["record.txt"].assert_eq(&text);
}

/// The operation's plan for each device, those that are planned for alike together.
fn record(name: &str, op: &dyn Operation, devices: &[(&str, Limits)]) -> String {
    let mut plans: Vec<(String, String)> = Vec::new();
    for (device, limits) in devices {
        let plan = numbers(&op.plan(limits));
        match plans.iter_mut().find(|(_, known)| *known == plan) {
            Some((alike, _)) => *alike += &format!(", {device}"),
            None => plans.push((device.to_string(), plan)),
        }
    }
    let plans = plans.iter().map(|(devices, plan)| format!(" {devices}: {plan}"));
    format!("\n{name}\n{}", plans.collect::<String>())
}

/// All that a host would be told to do, and nothing of what it is called.
fn numbers(plan: &Result<Plan, Error>) -> String {
    let plan = match plan {
        Ok(plan) => plan,
        Err(Error::TooLarge { given, limit, .. }) => return format!("refused, {given} of at most {limit}\n"),
        Err(Error::DeviceTooSmall { given, needed, .. }) => return format!("refused, {given} of at least {needed}\n"),
        Err(_) => return "refused\n".into(),
    };
    let portable = PortablePlan::from(plan);
    let PortablePlan { input_bytes, output_bytes, scratch_bytes, .. } = &portable;
    let mut text =
        format!("in {input_bytes:?} out {output_bytes:?} scratch {scratch_bytes:?} moved {}", plan.moved_bytes());
    if let Some(input) = portable.in_place {
        text += &format!(" over input {input}");
    }
    if !portable.embedded.is_empty() {
        text += &format!(" embedded {:?}", portable.embedded);
    }
    text.push('\n');
    for dispatch in &portable.dispatches {
        let mut overrides: Vec<u32> = portable.shaders[dispatch.shader].overrides.values().copied().collect();
        overrides.sort_unstable_by(|a, b| b.cmp(a)); // in an order that no name gives
        text += &dispatch_line(dispatch, &overrides);
    }
    text
}

fn dispatch_line(dispatch: &PortableDispatch, overrides: &[u32]) -> String {
    let words = dispatch.params.iter().enumerate().filter(|(_, word)| **word != 0);
    let words = words.map(|(n, &word)| format!("{n}:{}", word as i32)); // strides are signed
    let list = |values: &[u32]| spaced(values.iter().map(u32::to_string));
    let bindings = dispatch.bindings.chunk_by(|a, b| bound(a) == bound(b)).map(|alike| {
        let numbers: Vec<String> = alike.iter().map(|own| own.binding.to_string()).collect();
        format!("{} {}", numbers.join("+"), bound(&alike[0]))
    });
    let bindings = bindings.collect::<Vec<_>>().join(", ");
    format!("  {} | {} | {} | {bindings}\n", list(&dispatch.grid), list(overrides), spaced(words))
}

/// What is bound, at whichever number.
fn bound(own: &PortableBinding) -> String {
    let access = if own.access == PortableAccess::ReadWrite { 'w' } else { 'r' };
    let slot = match own.slot {
        PortableSlot::Input => 'i',
        PortableSlot::Output => 'o',
        PortableSlot::Scratch => 's',
        PortableSlot::Embedded => 'c',
    };
    format!("{access} {slot}{} {}+{}", own.index, own.offset_bytes, own.bytes)
}

fn spaced(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" ")
}

/// FNV-1a of nothing, in 64 bits. (The standard library's hasher may change with Rust.)
pub const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a of more bytes.
pub fn fnv(hash: u64, bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// A plan counts the workgroups that the device has before it is made: none is refused since one of its dispatches has too many.
fn counts_workgroups(plan: &Result<Plan, Error>) {
    assert!(!matches!(plan, Err(Error::TooLarge { what: "workgroups", .. })), "{plan:?}");
}

/// Many plans in a line: how many there are, and a hash of their numbers.
fn digest(plans: impl Iterator<Item = Result<Plan, Error>>) -> String {
    let mut digest = FNV;
    let (mut made, mut refused, mut dispatches) = (0, 0, 0);
    for plan in plans {
        match &plan {
            Ok(plan) => (made, dispatches) = (made + 1, dispatches + plan.dispatches.len()),
            Err(_) => refused += 1,
        }
        digest = fnv(digest, numbers(&plan).bytes());
    }
    format!("{made} plans of {dispatches} dispatches, {refused} refused: {digest:016x}")
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
    for adapter in [AdapterKind::Hardware, AdapterKind::SwiftShader] {
        for (max_binding_bytes, binding_alignment_bytes, max_groups, max_storage_bindings) in
            [(1 << 20, 256, 65_535, 8), (64 << 10, 32, 9, 4), (4 << 10, 64, 65_535, 4)]
        {
            let limits = Limits { adapter, max_binding_bytes, binding_alignment_bytes, ..Limits::default() };
            all.push(Limits { max_groups, max_storage_bindings, ..limits });
        }
    }
    all
}

type Growing = fn(u64) -> Box<dyn Operation>;

/// What grows until a counter of 32 bits has no room for it.
fn growing_operations() -> [(&'static str, Growing); 7] {
    [
        ("ReduceMax u8 [n]", |n| Box::new(reduce_max(DType::U8, &[n], &[0]))),
        ("ReduceMax u8 [n, 2] over 1", |n| Box::new(reduce_max(DType::U8, &[n, 2], &[1]))),
        ("ReduceMax u8 [2], n apart", |n| {
            Box::new(ReduceMax::new(DType::U8, View::strided([2], [n as i64], 0).unwrap()).axes([0]))
        }),
        ("ArgMax u8 [2, n] over 1", |n| Box::new(arg_max(DType::U8, &[2, n], &[1]))),
        ("Hardmax u8 [n, 4] along 1", |n| {
            Box::new(Hardmax::new(DType::U8, View::new([n, 4]).unwrap(), Slices::Along(1)))
        }),
        ("Max u8 [n]", |n| Box::new(Max::new(DType::U8, [View::new([n]).unwrap()]))),
        ("Max u8 [2, 1], n apart, and [2]", |n| {
            let column = View::strided([2, 1], [n as i64, 1], 0).unwrap();
            Box::new(Max::new(DType::U8, [column, View::new([2]).unwrap()]))
        }),
    ]
}

/// The greatest n, between 2^29 and 2^33, whose plan has as many dispatches as that of 2^29.
fn most_planned_alike(op: Growing) -> u64 {
    let limits = Limits { max_binding_bytes: 1 << 36, ..gpu() };
    let dispatches = |n| op(n).plan(&limits).map(|plan| plan.dispatches.len());
    let alike = dispatches(1 << 29).unwrap();
    let (mut most, mut too_many) = (1 << 29, 1 << 33);
    while too_many - most > 1 {
        let n = (most + too_many) / 2;
        if dispatches(n) == Ok(alike) { most = n } else { too_many = n }
    }
    most
}

/// Operations and limits by chance, the same ones on every machine.
struct Dice(Random);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0.below(sides)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.below(sides) == 0
    }

    /// At and around what something is counted in, and anything; the product of all sizes stays at most `most`.
    fn size(&mut self, most: u64) -> u64 {
        let size = match self.below(6) {
            0 => 1 + self.below(5),
            1 => (1 << self.below(34)) + self.below(3) - 1,
            2 => 16 * (1 + self.below(300)),
            3 => most - self.below(most.min(70_000)),
            _ => 1 + self.below(5000),
        };
        size.clamp(1, most)
    }

    fn shape(&mut self, elements: u64) -> Vec<u64> {
        let mut left = elements;
        let mut shape: Vec<u64> = Vec::new();
        for _ in 0..1 + self.below(4) {
            shape.push(self.size(left));
            left /= shape.last().unwrap();
        }
        let inner_first = self.below(shape.len() as u64) as usize;
        shape.rotate_left(inner_first);
        shape
    }

    /// Row-major but for one of the things that a layout can have: another order, gaps, a reversed, a repeated or an
    /// overlapping dimension.
    fn view(&mut self, shape: &[u64]) -> View {
        let rank = shape.len();
        let mut strides = vec![1_i64; rank];
        let order: Vec<usize> = if self.one_in(4) { (0..rank).collect() } else { (0..rank).rev().collect() };
        let gap = if self.one_in(4) { self.below(40) as i64 } else { 0 };
        let mut next = 1;
        for d in order {
            strides[d] = next;
            next = next * shape[d] as i64 + gap;
        }
        let d = self.below(rank as u64) as usize;
        let mut offset = if self.one_in(3) { self.below(100) } else { 0 };
        match self.below(8) {
            0 => {
                offset += (shape[d] - 1) * strides[d] as u64;
                strides[d] = -strides[d];
            }
            1 => strides[d] = 0,
            2 => strides[d] = 1,
            _ => {}
        }
        View::strided(shape, strides, offset).unwrap()
    }

    fn input(&mut self, shape: &[u64]) -> Parts {
        if !self.one_in(5) || shape[0] < 3 {
            return self.view(shape).into();
        }
        let first = 1 + self.below(shape[0] - 2);
        let second = 1 + self.below(shape[0] - first - 1);
        let lens = [first, second, shape[0] - first - second];
        let part = |len| self.view(&[&[len], &shape[1..]].concat());
        Parts::new(lens.map(part)).unwrap()
    }

    fn operation(&mut self, operator: &str, elements: u64) -> Box<dyn Operation> {
        let dtype = self.pick(&DType::ALL);
        let nan = self.pick(&[NanPolicy::Propagate, NanPolicy::Ignore]);
        let shape = self.shape(elements);
        let input = self.input(&shape);
        let axes = axes_sweep(shape.len());
        let axes = axes[self.below(axes.len() as u64) as usize].clone();
        match operator {
            "ReduceMax" => Box::new(ReduceMax::new(dtype, input).nan(nan).axes(axes)),
            "ArgMax" => {
                let output = self.pick(&[ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices]);
                let op = ArgMax::new(dtype, input).nan(nan).output(output).select_last(self.one_in(2));
                Box::new(op.index(self.pick(&[IndexType::I64, IndexType::I32])).axes(axes))
            }
            "Hardmax" => {
                let axis = self.below(shape.len() as u64) as i64;
                let slices = self.pick(&[Slices::Along(axis), Slices::From(axis)]);
                Box::new(Hardmax::new(dtype, input, slices).nan(nan))
            }
            _ => {
                let inner = shape[self.below(shape.len() as u64) as usize..].to_vec();
                let mut inputs = vec![input];
                for _ in 0..self.pick(&[0, 1, 1, 1, 2, 8, 33]) {
                    let shape = self.pick(&[&shape, &inner]);
                    inputs.push(self.input(shape));
                }
                let op = Max::new(dtype, inputs).nan(nan);
                Box::new(if self.one_in(3) { op.in_place(0) } else { op })
            }
        }
    }

    /// Bindings from such that a tensor of so many elements goes in many pieces to such that it fits.
    fn limits(&mut self, elements: u64) -> Limits {
        Limits {
            adapter: self.pick(&AdapterKind::ALL),
            int64: false,
            max_binding_bytes: 600 + elements * 8 / self.pick(&[1, 1, 8, 30, 100]),
            binding_alignment_bytes: self.pick(&[16, 32, 64, 256]),
            max_storage_bindings: self.pick(&[4, 8, 64]),
            max_group_invocations: self.pick(&[1, 64, 256, 1024]),
            max_group_memory_bytes: self.pick(&[16, 512, 4 << 10, 16 << 10]),
            max_groups: self.pick(&[2, 16, 4096, 65_535, 65_535]),
            shared_buffers: false,
            tuning: None,
        }
    }
}

/// Operations by names of their own: what the crate calls them may change.
#[derive(Default)]
struct Named(Vec<(String, Box<dyn Operation>)>);

impl Named {
    fn add(&mut self, name: impl Into<String>, op: impl Operation + 'static) {
        self.0.push((name.into(), Box::new(op)));
    }

    /// Both reductions of a whole tensor.
    fn add_reductions(&mut self, dtype: DType, shape: &[u64], axes: &[i64]) {
        self.add(format!("ReduceMax {dtype} {shape:?} over {axes:?}"), reduce_max(dtype, shape, axes));
        let both = arg_max(dtype, shape, axes).output(ArgMaxOutput::ValuesAndIndices);
        self.add(format!("ArgMax {dtype} {shape:?} over {axes:?}"), both);
    }

    fn add_hardmax(&mut self, dtype: DType, shape: &[u64], slices: Slices) {
        let which = match slices {
            Slices::Along(axis) => format!("along {axis}"),
            Slices::From(axis) => format!("from {axis}"),
        };
        self.add(format!("Hardmax {dtype} {shape:?} {which}"), Hardmax::new(dtype, view(shape), slices));
    }
}

fn view(shape: &[u64]) -> View {
    View::new(shape).unwrap()
}

fn recorded_operations() -> Vec<(String, Box<dyn Operation>)> {
    let mut ops = Named::default();
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
        // Several runs, with other outputs' between them.
        (DType::F16, &[256, 256, 128], &[0, 2]),
        (DType::F32, &[64, 64, 128], &[0, 2]),
        // Rows around the length from which an invocation takes several.
        (DType::F32, &[50_000, 28], &[1]),
        (DType::F32, &[50_000, 32], &[1]),
        (DType::F16, &[9_000, 7, 96], &[2]),
        (DType::F16, &[1000, 256], &[1]),
        // More than one invocation may loop over.
        (DType::U8, &[1 << 26], &[0]),
        (DType::F16, &[3, 1 << 26], &[1]),
        (DType::F32, &[1 << 25, 3], &[0]),
        (DType::U8, &[1 << 23, 16], &[0]),
        (DType::I64, &[2, 1 << 21, 3], &[0, 1]),
    ] {
        ops.add_reductions(dtype, shape, axes);
    }
    let strided = View::strided([40, 30, 20], [1200, -40, 2], 1199).unwrap();
    ops.add("ReduceMax f32, every other element, over the last", ReduceMax::new(DType::F32, strided.clone()).axes([2]));
    let last = ArgMax::new(DType::F16, strided).axes([0, 2]).index(IndexType::U32).select_last(true);
    ops.add("ArgMax f16, every other element, over the first and last", last);
    let overlapping = View::strided([4, 1 << 17, 1 << 17], [1 << 20, 3, 2], 0).unwrap();
    let positions = ReduceMax::new(DType::U8, overlapping).axes([1, 2]);
    ops.add("ReduceMax u8 of more positions than 32 bits count, though not many elements", positions);
    for (dtype, shape, slices) in [
        (DType::F32, &[4096, 1000][..], Slices::Along(1)),
        (DType::F16, &[16, 128_256], Slices::Along(1)),
        (DType::F32, &[8, 80, 8400], Slices::Along(1)),
        (DType::U8, &[4, 5, 6, 7], Slices::From(1)),
        (DType::F64, &[1 << 20], Slices::Along(0)),
        (DType::I8, &[9, 1], Slices::Along(1)),
    ] {
        ops.add_hardmax(dtype, shape, slices);
    }
    let two = |a: &[u64], b: &[u64]| [view(a), view(b)];
    ops.add("Max f32 of two of 2^22", Max::new(DType::F32, two(&[1 << 22], &[1 << 22])));
    ops.add("Max f16 [16, 128, 32, 32], [128, 1, 1]", Max::new(DType::F16, two(&[16, 128, 32, 32], &[128, 1, 1])));
    ops.add("Max u8 [2048, 1], [1, 2047]", Max::new(DType::U8, two(&[2048, 1], &[1, 2047])));
    let across = [view(&[30, 40]), view(&[40, 30]).permute(&[1, 0]).unwrap()];
    ops.add("Max i64 [30, 40], another across", Max::new(DType::I64, across));
    ops.add(
        "Max f32 of nine of [1001], written over the fourth",
        Max::new(DType::F32, vec![view(&[1001]); 9]).in_place(3),
    );
    let floor = Tensor::new([], &[0.5_f32]).unwrap();
    let floored = Max::new(DType::F32, [view(&[1 << 20])]).constant(floor).nan(NanPolicy::Ignore);
    ops.add("Max f32 of 2^20 and a constant, ignoring NaN", floored);
    ops.0
}

/// What does not fit in bindings of some kilobytes.
fn recorded_small_operations() -> Vec<(String, Box<dyn Operation>)> {
    let mut ops = Named::default();
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
        ops.add_reductions(dtype, shape, axes);
    }
    let repeated = View::strided([3, 1100, 3], [1100, 1, 0], 3).unwrap();
    ops.add("ArgMax f32 of repeated elements", ArgMax::new(DType::F32, repeated).axes([1, 2]));
    for rows in [64, 65, 100] {
        let overlapping = View::strided([rows, 300], [1, 1], 0).unwrap();
        let name = format!("ReduceMax f32 of {rows} overlapping rows: more than workgroups, though not many elements");
        ops.add(name, ReduceMax::new(DType::F32, overlapping).axes([1]));
    }
    // Slabs along a dimension that is not the first, of one source; and none of several.
    ops.add("ReduceMax f32 [1, 90, 120] over [2]", reduce_max(DType::F32, &[1, 90, 120], &[2]));
    let two = Parts::new([view(&[64, 4, 16]), view(&[32, 4, 16])]).unwrap();
    ops.add("ReduceMax f32 [64 + 32, 4, 16] over [0]", ReduceMax::new(DType::F32, two).axes([0]));
    let repeated = |rows| View::strided([rows, 700, 5], [0, 1, 0], 2).unwrap();
    for (which, last) in [("first", false), ("last", true)] {
        let repeated = Parts::new([repeated(3), repeated(2)]).unwrap();
        let op = ArgMax::new(DType::F32, repeated).select_last(last);
        ops.add(format!("ArgMax f32 of two parts of repeated elements, the {which}"), op);
    }
    ops.add_hardmax(DType::I64, &[1, 70, 30], Slices::Along(2));
    let across = view(&[30, 11, 40]).permute(&[2, 1, 0]).unwrap();
    ops.add("ReduceMax f32 [40, 11, 30] across, over [1]", ReduceMax::new(DType::F32, across.clone()).axes([1]));
    ops.add("ArgMax f16 [40, 11, 30] across, over [0, 2]", ArgMax::new(DType::F16, across).axes([0, 2]));
    let parts = Parts::new([view(&[3, 40, 9]), view(&[9, 4, 40]).permute(&[1, 2, 0]).unwrap()]).unwrap();
    ops.add("ReduceMax u8 [3 + 4, 40, 9] over [0]", ReduceMax::new(DType::U8, parts.clone()).axes([0]));
    ops.add("ReduceMax f32 [3 + 4, 40, 9] over [1]", ReduceMax::new(DType::F32, parts.clone()).axes([1]));
    ops.add("ArgMax f16 [3 + 4, 40, 9] over [1, 2]", ArgMax::new(DType::F16, parts.clone()).axes([1, 2]));
    ops.add("Hardmax f16 [3 + 4, 40, 9] along 0", Hardmax::new(DType::F16, parts.clone(), Slices::Along(0)));
    ops.add_hardmax(DType::F32, &[7000], Slices::Along(0));
    ops.add_hardmax(DType::U8, &[2, 3, 1500], Slices::Along(1));
    ops.add_hardmax(DType::I64, &[70, 30], Slices::Along(1));
    ops.add("ReduceMax f16 [0, 9001] over [0]", ReduceMax::new(DType::F16, view(&[0, 9001])).axes([0]));
    let rows = Max::new(DType::U8, [view(&[93, 189]), view(&[93, 1])]);
    ops.add("Max u8 [93, 189], [93, 1], written over the first", rows.clone().in_place(0));
    ops.add("Max u8 [93, 189], [93, 1]", rows);
    let across = [view(&[70, 90]), view(&[90, 70]).permute(&[1, 0]).unwrap()];
    ops.add("Max f16 [70, 90], another across", Max::new(DType::F16, across));
    let first = view(&[7, 40, 9]);
    let whole_and_parts = Max::new(DType::F32, [first.into(), parts]).in_place(0);
    ops.add("Max f32 [7, 40, 9], [3 + 4, 40, 9], written over the first", whole_and_parts);
    ops.0
}
