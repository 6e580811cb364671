//! ArgMax on the GPU against the reference, bit for bit.

mod common;

use common::{Data, VIEW_LEN, axes_sets, check, matrix, tensor, views};
use wgmax::{ArgMax, ArgMaxOutput, DType, IndexType, NanPolicy};

#[test]
fn every_type_view_axes_and_edge() {
    matrix::arg_max(&Data::ALL, |op, inputs, case| check(op, inputs, case));
}

#[test]
fn last_index_and_values_beside() {
    matrix::arg_max_with_values(&[Data::Edges, Data::Ties, Data::Nans, Data::Zeros], |op, inputs, case| {
        check(op, inputs, case)
    });
}

#[test]
fn ignored_nans() {
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
        for (data, last) in [(Data::Edges, false), (Data::Edges, true), (Data::Nans, false), (Data::Nans, true)] {
            let input = tensor(dtype, VIEW_LEN, data, 2);
            for (name, view) in views() {
                for axes in axes_sets() {
                    let op = ArgMax::new(dtype, view.clone())
                        .axes(axes.clone())
                        .nan(NanPolicy::Ignore)
                        .select_last(last)
                        .index(IndexType::I32)
                        .output(ArgMaxOutput::ValuesAndIndices);
                    check(&op, &[&input], &format!("{dtype} {data:?} last {last} {name} {axes:?}"));
                }
            }
        }
    }
}
