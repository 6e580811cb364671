//! The matrix of every operator: types, views, axes, options and edge data, as cases. Each is defined here alone: the
//! operators' own tests and the floors take groups of them, and every route to a GPU takes the same [`sample`].

use std::collections::HashSet;

use wgmax::plan::{Kernel, Program};
use wgmax::{
    AdapterKind, AnyOperation, ArgMax, ArgMaxOutput, DType, EmptyMax, Hardmax, IndexType, Limits, Max, NanPolicy,
    Operation, ReduceMax, Slices, Tensor, View,
};

use super::{Data, VIEW_LEN, axes_sets, tensor, views};

#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub op: AnyOperation,
    inputs: Vec<Input>,
    /// What it shows that its kernels do not.
    shows: Option<String>,
}

/// What an input tensor is made from.
#[derive(Clone)]
struct Input {
    dtype: DType,
    len: u64,
    data: Data,
    seed: u64,
}

impl Case {
    /// The kernels that it is planned to run.
    pub fn kernels(&self, adapter: AdapterKind) -> Vec<Kernel> {
        let plan = self.op.plan(&Limits { adapter, ..Limits::default() }).unwrap();
        plan.dispatches.into_iter().map(|dispatch| dispatch.kernel).collect()
    }

    /// What it shows, run by these kernels.
    pub fn features(&self, kernels: &[Kernel]) -> Vec<String> {
        kernels.iter().flat_map(features).chain(self.shows.clone()).collect()
    }

    fn new(name: String, op: impl Into<AnyOperation>, dtype: DType, inputs: &[(u64, Data, u64)]) -> Case {
        let input = |&(len, data, seed): &(u64, Data, u64)| Input { dtype, len, data, seed };
        Case { name, op: op.into(), inputs: inputs.iter().map(input).collect(), shows: None }
    }

    pub fn inputs(&self) -> Vec<Tensor> {
        self.inputs.iter().map(|own| tensor(own.dtype, own.len, own.data, own.seed)).collect()
    }
}

/// One type of each class, whose types share all text but constants, and of 16-bit floats both. Every type meets every view and all
/// axes in [`reduce_max`] and [`arg_max`]; with options of an operator one of each class does.
pub const CLASSES: [DType; 8] =
    [DType::I8, DType::U16, DType::F16, DType::Bf16, DType::I32, DType::F32, DType::U64, DType::F64];

/// One of them, or that of which alone there are fills.
pub fn is_one_of_its_class(dtype: DType) -> bool {
    CLASSES.contains(&dtype) || dtype == DType::U32
}

const FLOATS: [DType; 4] = [DType::F32, DType::F16, DType::Bf16, DType::F64];

const SLICES: [Slices; 7] = [
    Slices::Along(0),
    Slices::Along(1),
    Slices::Along(-1),
    Slices::From(0),
    Slices::From(1),
    Slices::From(-1),
    Slices::From(3),
];

/// Cases that differ only in their data follow one another: every type with every view and everything of `each`.
fn over_views<T>(
    dtypes: &[DType],
    each: &[T],
    data: &[Data],
    make: impl Fn(DType, &View, &T) -> (String, AnyOperation),
) -> Vec<Case> {
    let mut cases = Vec::new();
    for &dtype in dtypes {
        for (view_name, view) in views() {
            for own in each {
                for &data in data {
                    let (name, op) = make(dtype, &view, own);
                    let name = format!("{dtype} {data:?} {view_name} {name}");
                    cases.push(Case::new(name, op, dtype, &[(VIEW_LEN, data, 1)]));
                }
            }
        }
    }
    cases
}

/// Every group of cases, with the number of kinds of data that its cases come in runs of.
fn groups() -> Vec<(Vec<Case>, usize)> {
    let all = Data::ALL.len();
    vec![
        (reduce_max(&Data::ALL), all),
        (reduce_max_ignoring_nans(), all),
        (empty_reductions(), 1),
        (arg_max(&Data::ALL), all),
        (arg_max_last_with_values(&LAST_DATA), LAST_DATA.len()),
        (arg_max_ignoring_nans(), IGNORED_DATA.len()),
        (hardmax(&Data::ALL), all),
        (hardmax_ignoring_nans(), IGNORED_DATA.len()),
        (max_of_pairs(&Data::ALL), all),
        (max_ignoring_nans(), IGNORED_DATA.len()),
        (max_with_constants(), 1),
        (max_of_many(&[1, 2, 7, 8, 9, 17, 100]), 1),
        (max_of_views(), 1),
        (long_reductions(), 1),
    ]
}

pub fn all() -> Vec<Case> {
    groups().into_iter().flat_map(|(cases, _)| cases).collect()
}

/// What every route runs, and the kind of adapter to plan it for.
///
/// Of a run of n kinds of data every (n - 1)-th is taken, so that data take turns while everything else stays in every
/// combination; and of these every other one, since each operator's own tests take all. Then compiling is what costs: a case
/// whose plan needs a kernel not seen yet is taken only, and always, if that shows a program with one of its overrides, or an operator
/// with a type, for the first time, or the case something else.
pub fn sample() -> Vec<(Case, AdapterKind)> {
    let in_turns = |(cases, data): (Vec<Case>, usize)| cases.into_iter().step_by((data - 1).max(1));
    let (mut kernels, mut seen) = (HashSet::new(), HashSet::new());
    let mut sample = Vec::new();
    for (n, case) in groups().into_iter().flat_map(in_turns).enumerate() {
        for adapter in [AdapterKind::Hardware, AdapterKind::SwiftShader] {
            let own = case.kernels(adapter);
            let shown = case.features(&own);
            let is_new = shown.iter().any(|feature| !seen.contains(feature));
            let is_known = || own.iter().all(|kernel| kernels.contains(kernel));
            if is_new || n.is_multiple_of(2) && is_known() {
                seen.extend(shown);
                kernels.extend(own);
                sample.push((case.clone(), adapter));
            }
        }
    }
    sample
}

/// What a kernel shows: its program, whatever numbers that has, also with each of its overrides, and its operator with its type.
fn features(kernel: &Kernel) -> Vec<String> {
    let program = format!("{:?}", kernel.program).replace(|c: char| c.is_ascii_digit(), "");
    let operator = match kernel.program {
        Program::Reduce { epilogue, .. } | Program::Merge { epilogue } => epilogue.operator().to_string(),
        _ => program.split(' ').next().unwrap_or_default().to_string(),
    };
    let overrides = kernel.overrides.iter().map(|constant| format!("{program} {}", constant.name()));
    overrides.chain([format!("{operator} {}", kernel.dtype), program.clone()]).collect()
}

pub fn reduce_max(data: &[Data]) -> Vec<Case> {
    over_views(&DType::ALL, &axes_sets(), data, |dtype, view, axes| {
        (format!("ReduceMax {axes:?}"), ReduceMax::new(dtype, view.clone()).axes(axes.clone()).into())
    })
}

pub fn reduce_max_ignoring_nans() -> Vec<Case> {
    over_views(&FLOATS, &axes_sets(), &Data::ALL, |dtype, view, axes| {
        let op = ReduceMax::new(dtype, view.clone()).axes(axes.clone()).nan(NanPolicy::Ignore).keep_dims(true);
        (format!("ReduceMax {axes:?} ignoring NaN"), op.into())
    })
}

pub fn empty_reductions() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for empty in [EmptyMax::Least, EmptyMax::LowestFinite] {
            for (shape, axes) in
                [([0, 5, 3], vec![0]), ([2, 0, 3], vec![1, 2]), ([2, 3, 0], vec![0, 1]), ([0, 0, 7], vec![0, 1])]
            {
                let name = format!("{dtype} ReduceMax {shape:?} {axes:?} {empty:?}");
                let op = ReduceMax::new(dtype, contiguous(&shape)).axes(axes).empty(empty);
                cases.push(Case::new(name, op, dtype, &[(0, Data::Random, 3)]));
            }
        }
    }
    cases
}

pub fn arg_max(data: &[Data]) -> Vec<Case> {
    over_views(&DType::ALL, &axes_sets(), data, |dtype, view, axes| {
        (format!("ArgMax {axes:?}"), ArgMax::new(dtype, view.clone()).axes(axes.clone()).into())
    })
}

pub const LAST_DATA: [Data; 4] = [Data::Edges, Data::Ties, Data::Nans, Data::Zeros];

pub fn arg_max_last_with_values(data: &[Data]) -> Vec<Case> {
    over_views(&CLASSES, &axes_sets(), data, |dtype, view, axes| {
        let op = ArgMax::new(dtype, view.clone())
            .axes(axes.clone())
            .select_last(true)
            .index(IndexType::U32)
            .output(ArgMaxOutput::ValuesAndIndices);
        (format!("ArgMax {axes:?}, the last with its value"), op.into())
    })
}

const IGNORED_DATA: [Data; 3] = [Data::Edges, Data::Nans, Data::ZerosAndNans];

/// The first of equals or the last by turns.
pub fn arg_max_ignoring_nans() -> Vec<Case> {
    let each: Vec<(Vec<i64>, bool)> =
        axes_sets().into_iter().enumerate().map(|(n, axes)| (axes, n.count_ones() % 2 == 1)).collect();
    over_views(&FLOATS, &each, &IGNORED_DATA, |dtype, view, (axes, last)| {
        let op = ArgMax::new(dtype, view.clone())
            .axes(axes.clone())
            .keep_dims(true)
            .nan(NanPolicy::Ignore)
            .select_last(*last)
            .index(IndexType::I32)
            .output(ArgMaxOutput::ValuesAndIndices);
        (format!("ArgMax {axes:?} ignoring NaN, last {last}"), op.into())
    })
}

pub fn hardmax(data: &[Data]) -> Vec<Case> {
    over_views(&DType::ALL, &SLICES, data, |dtype, view, &slices| {
        (format!("Hardmax {slices:?}"), Hardmax::new(dtype, view.clone(), slices).into())
    })
}

pub fn hardmax_ignoring_nans() -> Vec<Case> {
    over_views(&FLOATS, &SLICES, &IGNORED_DATA, |dtype, view, &slices| {
        let op = Hardmax::new(dtype, view.clone(), slices).nan(NanPolicy::Ignore);
        (format!("Hardmax {slices:?} ignoring NaN"), op.into())
    })
}

pub fn max_of_pairs(all_data: &[Data]) -> Vec<Case> {
    let broadcastable = |a: &View, b: &View| a.shape().iter().zip(b.shape()).all(|(&a, &b)| a == b || a == 1 || b == 1);
    let views = views();
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for (name_a, a) in &views {
            for (name_b, b) in views.iter().filter(|(_, b)| broadcastable(a, b)) {
                for &data in all_data {
                    let name = format!("{dtype} {data:?} Max {name_a}, {name_b}");
                    let op = Max::new(dtype, [a.clone(), b.clone()]);
                    cases.push(Case::new(name, op, dtype, &[(VIEW_LEN, data, 1), (VIEW_LEN, data, 2)]));
                }
            }
        }
    }
    cases
}

pub fn max_ignoring_nans() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in FLOATS {
        for shapes in [[[10, 64], [10, 64]], [[10, 64], [1, 64]], [[10, 64], [10, 1]], [[10, 63], [10, 63]]] {
            for data in IGNORED_DATA {
                let op = Max::new(dtype, shapes.map(|shape| contiguous(&shape))).nan(NanPolicy::Ignore);
                let name = format!("{dtype} {data:?} Max {shapes:?} ignoring NaN");
                cases.push(Case::new(name, op, dtype, &[(640, data, 1), (640, data, 2)]));
            }
        }
    }
    cases
}

pub fn max_with_constants() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for shape in [vec![], vec![8, 1], vec![30], vec![2, 8, 30], vec![3, 1, 1, 1]] {
            let floor = tensor(dtype, shape.iter().product(), Data::EdgesWithoutNan, 4);
            let floor = Tensor::from_bytes(dtype, shape.clone(), floor.bytes().to_vec()).unwrap();
            let op = Max::new(dtype, [contiguous(&[2, 8, 30])]).constant(floor);
            cases.push(Case::new(format!("{dtype} Max floor of {shape:?}"), op, dtype, &[(480, Data::Edges, 3)]));
        }
    }
    cases
}

pub fn max_of_many(counts: &[u64]) -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in [DType::F32, DType::I8, DType::F64] {
        for &count in counts {
            for in_place in [None, Some(0), Some(count as usize - 1)] {
                let op = Max::new(dtype, vec![contiguous(&[129]); count as usize]);
                let op = in_place.map_or(op.clone(), |input| op.in_place(input));
                let inputs: Vec<_> = (0..count).map(|seed| (129, Data::Random, seed)).collect();
                cases.push(Case::new(format!("{dtype} Max of {count}, in place {in_place:?}"), op, dtype, &inputs));
            }
        }
    }
    cases
}

/// Inputs that are views of one buffer, the first's or the second's.
pub fn max_of_views() -> Vec<Case> {
    let view = |strides: [i64; 3], offset| View::strided([4, 5, 33], strides, offset).unwrap();
    let rows = || contiguous(&[4, 5, 33]);
    let layouts = [
        ("an offset of whole packs", [rows(), view([165, 33, 1], 672)]),
        ("an odd offset", [rows(), view([165, 33, 1], 661)]),
        ("rows apart", [view([330, 66, 1], 0), view([330, 66, 1], 33)]),
        ("every other element", [view([330, 66, 2], 0), view([330, 66, 2], 1)]),
        ("overlapping rows", [view([16, 3, 1], 5), view([16, 3, 1], 6)]),
        ("reverse", [rows(), view([-165, -33, -1], 659)]),
        ("a row of it", [rows(), view([0, 0, 1], 33)]),
    ];
    let mut cases = Vec::new();
    for dtype in CLASSES {
        for (own, other) in [(1, 0), (0, 1)] {
            for (layout, views) in &layouts {
                let op = Max::new(dtype, views.clone()).view_of(own, other);
                let mut inputs = [(1400, Data::Edges, 1); 2];
                inputs[own].0 = 0; // nobody looks at it
                let name = format!("{dtype} Max of views of one buffer, {layout}, input {own} of {other}");
                let shows = Some(format!("{dtype} views of one buffer, {layout}"));
                cases.push(Case { shows, ..Case::new(name, op, dtype, &inputs) });
            }
        }
    }
    cases
}

/// Long enough to be split over workgroups and finished by another dispatch, on every kind of adapter.
pub fn long_reductions() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for (n, (shape, axes)) in
            [([1, 70_001], [1]), ([2, 30_000], [1]), ([9_000, 8], [0]), ([9_001, 7], [0])].into_iter().enumerate()
        {
            let data = [Data::Random, Data::EdgesWithoutNan, Data::Ties, Data::Edges][n];
            let view = || contiguous(&shape);
            let ops: [(&str, AnyOperation); 4] = [
                ("ReduceMax", ReduceMax::new(dtype, view()).axes(axes).into()),
                ("ArgMax", ArgMax::new(dtype, view()).axes(axes).into()),
                (
                    "ArgMax with its value",
                    ArgMax::new(dtype, view()).axes(axes).output(ArgMaxOutput::ValuesAndIndices).into(),
                ),
                ("Hardmax", Hardmax::new(dtype, view(), Slices::Along(axes[0])).into()),
            ];
            for (name, op) in ops {
                let name = format!("{dtype} {data:?} {name} {shape:?} {axes:?}");
                cases.push(Case::new(name, op, dtype, &[(shape.iter().product(), data, 5)]));
            }
        }
    }
    cases
}

fn contiguous(shape: &[u64]) -> View {
    View::new(shape).unwrap()
}
