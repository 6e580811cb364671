//! Tensors beyond one binding on the GPU against the reference, bit for bit.

mod common;

use common::{Data, axes_sets, check_within, tensor};
use wgmax::{
    ArgMax, ArgMaxOutput, DType, EmptyMax, Hardmax, Max, NanPolicy, Operation, ReduceMax, Slices, Tensor, View,
};

/// What a binding has room for in most of these tests: some windows of [`views`].
const WINDOW_BYTES: u64 = 4 << 10;

fn check(op: &impl Operation, inputs: &[&Tensor], case: &str) {
    let expected = op.reference(inputs).unwrap_or_else(|error| panic!("{case}: reference: {error}"));
    check_within(WINDOW_BYTES, op, inputs, &expected, case);
}

/// One of each width: what windows do to a type is a matter of its width.
const TYPES: [DType; 4] = [DType::U8, DType::F16, DType::F32, DType::I64];

/// Elements that every one of [`views`] lies in.
const LEN: u64 = 7 * 30 * 40;

fn views() -> Vec<(&'static str, View)> {
    let view = |shape: [u64; 3]| View::new(shape).unwrap();
    let rows = view([7, 30, 40]);
    let columns = view([7, 37, 32]);
    vec![
        ("contiguous rows", rows.clone()),
        ("contiguous columns", columns.clone()),
        ("one long row", view([1, 1, LEN])),
        ("long columns", view([1, LEN / 35, 35])),
        ("two long rows", view([1, 2, LEN / 2])),
        ("short rows", view([LEN / 6, 2, 3])),
        ("permuted 021", rows.permute(&[0, 2, 1]).unwrap()),
        ("permuted 210", rows.permute(&[2, 1, 0]).unwrap()),
        ("permuted 102", columns.permute(&[1, 0, 2]).unwrap()),
        ("permuted 120", rows.permute(&[1, 2, 0]).unwrap()),
        ("sliced", rows.slice(2, 3, 31, 1).unwrap().slice(0, 1, 5, 1).unwrap()),
        ("every other", rows.slice(2, 1, 19, 2).unwrap()),
        ("reversed inner", rows.reverse(2).unwrap()),
        ("reversed outer", columns.reverse(0).unwrap().reverse(1).unwrap()),
        ("broadcast outer", View::strided([3, 31, 270], [0, 270, 1], 7).unwrap()),
        ("broadcast inner", View::strided([7, 1100, 3], [1100, 1, 0], 3).unwrap()),
        ("odd offset", View::strided([7, 29, 40], [1160, 40, 1], 13).unwrap()),
        ("overlapping", View::strided([31, 21, 63], [160, 107, 1], 5).unwrap()),
    ]
}

#[test]
fn reductions_of_every_type_view_and_axes() {
    for dtype in TYPES {
        let edges = tensor(dtype, LEN, Data::Edges, 1);
        let ties = tensor(dtype, LEN, Data::Ties, 1);
        for (name, view) in views() {
            for (n, axes) in axes_sets().into_iter().enumerate() {
                let case = format!("{dtype} {name} {axes:?}");
                check(&ReduceMax::new(dtype, view.clone()).axes(axes.clone()), &[&edges], &case);
                let op = ArgMax::new(dtype, view.clone()).axes(axes);
                match n % 2 {
                    0 => check(&op, &[&ties], &case),
                    _ => check(&op.select_last(true).output(ArgMaxOutput::ValuesAndIndices), &[&ties], &case),
                }
            }
        }
    }
}

#[test]
fn ignored_nans() {
    for dtype in [DType::F16] {
        for data in [Data::Edges, Data::Nans] {
            let input = tensor(dtype, LEN, data, 2);
            for (name, view) in views().into_iter().step_by(4) {
                for axes in axes_sets() {
                    let case = format!("{dtype} {data:?} {name} {axes:?}");
                    let op = ArgMax::new(dtype, view.clone()).axes(axes).output(ArgMaxOutput::ValuesAndIndices);
                    check(&op.nan(NanPolicy::Ignore).select_last(true), &[&input], &case);
                }
            }
        }
    }
}

#[test]
fn hardmax_of_every_type_view_and_axis() {
    for dtype in TYPES {
        let input = tensor(dtype, LEN, Data::Ties, 1);
        for (name, view) in views() {
            for slices in [Slices::Along(0), Slices::Along(1), Slices::Along(2), Slices::From(0), Slices::From(1)] {
                let op = Hardmax::new(dtype, view.clone(), slices);
                check(&op, &[&input], &format!("{dtype} {name} {slices:?}"));
            }
        }
    }
}

#[test]
fn max_of_every_type_and_pairs_of_views() {
    let broadcastable = |a: &View, b: &View| a.shape().iter().zip(b.shape()).all(|(&a, &b)| a == b || a == 1 || b == 1);
    for dtype in TYPES {
        let inputs = [tensor(dtype, LEN, Data::Edges, 1), tensor(dtype, LEN, Data::Edges, 2)];
        let views = views();
        for (name_a, a) in &views {
            for (name_b, b) in views.iter().filter(|(_, b)| broadcastable(a, b)) {
                let op = Max::new(dtype, [a.clone(), b.clone()]);
                check(&op, &[&inputs[0], &inputs[1]], &format!("{dtype} {name_a}, {name_b}"));
            }
        }
        let rows = View::new([93, 89]).unwrap();
        for (name, other) in [("row", [1, 89]), ("column", [93, 1]), ("scalar", [1, 1])] {
            let op = Max::new(dtype, [rows.clone(), View::new(other).unwrap()]);
            check(&op, &[&inputs[0], &inputs[1]], &format!("{dtype} {name}"));
            let op = op.in_place(0);
            check(&op, &[&inputs[0], &inputs[1]], &format!("{dtype} {name}, in place"));
        }
        let many = Max::new(dtype, vec![rows.clone(); 9]); // more than WebGPU's default bindings
        let data: Vec<Tensor> = (0..9).map(|n| tensor(dtype, LEN, Data::Edges, n)).collect();
        check(&many, &data.iter().collect::<Vec<_>>(), &format!("{dtype} 9 inputs"));
    }
}

#[test]
fn the_maximum_of_nothing_is_written_everywhere() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::F64] {
        let input = tensor(dtype, 0, Data::Random, 1);
        let op = ReduceMax::new(dtype, View::new([0, 20_001]).unwrap()).axes([0]).empty(EmptyMax::LowestFinite);
        check(&op, &[&input], &dtype.to_string());
    }
}
