//! ReduceMax on the GPU against the reference, bit for bit.

mod common;

use common::{Data, VIEW_LEN, axes_sets, check, matrix, tensor, views};
use wgmax::{DType, EmptyMax, NanPolicy, ReduceMax, View};

#[test]
fn every_type_view_axes_and_edge() {
    matrix::reduce_max(&Data::ALL, |op, inputs, case| check(op, inputs, case));
}

#[test]
fn ignored_nans() {
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
        for data in Data::ALL {
            let input = tensor(dtype, VIEW_LEN, data, 2);
            for (name, view) in views() {
                for axes in axes_sets() {
                    let op = ReduceMax::new(dtype, view.clone()).axes(axes.clone()).nan(NanPolicy::Ignore);
                    check(&op, &[&input], &format!("{dtype} {data:?} {name} {axes:?}"));
                }
            }
        }
    }
}

#[test]
fn empty_reductions() {
    for dtype in DType::ALL {
        for empty in [EmptyMax::Least, EmptyMax::LowestFinite] {
            let input = tensor(dtype, 0, Data::Random, 3);
            for (shape, axes) in
                [([0, 5, 3], vec![0]), ([2, 0, 3], vec![1, 2]), ([2, 3, 0], vec![0, 1]), ([0, 0, 7], vec![0, 1])]
            {
                let op = ReduceMax::new(dtype, View::new(shape).unwrap()).axes(axes).empty(empty);
                check(&op, &[&input], &format!("{dtype} {shape:?} {empty:?}"));
            }
        }
    }
}
