//! The operators over every type, view and set of axes: what each operator's own test and the floors go through.

use wgmax::{ArgMax, ArgMaxOutput, DType, Hardmax, IndexType, Max, Operation, ReduceMax, Slices, Tensor, View};

use super::{Data, VIEW_LEN, axes_sets, tensor, views};

/// What is done with a case: an operation, its inputs, its name.
pub trait Each: FnMut(&dyn Operation, &[&Tensor], &str) {}
impl<F: FnMut(&dyn Operation, &[&Tensor], &str)> Each for F {}

/// ReduceMax over every view and set of axes.
pub fn reduce_max(data: &[Data], mut each: impl Each) {
    over_axes(data, |dtype, view, axes, input, case| {
        each(&ReduceMax::new(dtype, view.clone()).axes(axes), &[input], case);
    });
}

/// ArgMax over every view and set of axes.
pub fn arg_max(data: &[Data], mut each: impl Each) {
    over_axes(data, |dtype, view, axes, input, case| {
        each(&ArgMax::new(dtype, view.clone()).axes(axes), &[input], case);
    });
}

/// ArgMax with the last index, and values beside it.
pub fn arg_max_with_values(data: &[Data], mut each: impl Each) {
    over_axes(data, |dtype, view, axes, input, case| {
        let op = ArgMax::new(dtype, view.clone()).axes(axes).select_last(true).index(IndexType::U32);
        each(&op.output(ArgMaxOutput::ValuesAndIndices), &[input], case);
    });
}

fn over_axes(data: &[Data], mut each: impl FnMut(DType, &View, Vec<i64>, &Tensor, &str)) {
    for dtype in DType::ALL {
        for &data in data {
            let input = tensor(dtype, VIEW_LEN, data, 1);
            for (name, view) in views() {
                for axes in axes_sets() {
                    let case = format!("{dtype} {data:?} {name} {axes:?}");
                    each(dtype, &view, axes, &input, &case);
                }
            }
        }
    }
}

/// Every kind of slices of three dimensions.
pub const SLICES: [Slices; 7] = [
    Slices::Along(0),
    Slices::Along(1),
    Slices::Along(-1),
    Slices::From(0),
    Slices::From(1),
    Slices::From(-1),
    Slices::From(3),
];

/// Hardmax over every view and kind of slices.
pub fn hardmax(data: &[Data], mut each: impl Each) {
    for dtype in DType::ALL {
        for &data in data {
            let input = tensor(dtype, VIEW_LEN, data, 1);
            for (name, view) in views() {
                for slices in SLICES {
                    let op = Hardmax::new(dtype, view.clone(), slices);
                    each(&op, &[&input], &format!("{dtype} {data:?} {name} {slices:?}"));
                }
            }
        }
    }
}

/// Max over every pair of views that broadcast together.
pub fn max(data: &[Data], mut each: impl Each) {
    let broadcastable = |a: &View, b: &View| a.shape().iter().zip(b.shape()).all(|(&a, &b)| a == b || a == 1 || b == 1);
    for dtype in DType::ALL {
        for &data in data {
            let inputs = [tensor(dtype, VIEW_LEN, data, 1), tensor(dtype, VIEW_LEN, data, 2)];
            let views = views();
            for (name_a, a) in &views {
                for (name_b, b) in views.iter().filter(|(_, b)| broadcastable(a, b)) {
                    let op = Max::new(dtype, [a.clone(), b.clone()]);
                    each(&op, &[&inputs[0], &inputs[1]], &format!("{dtype} {data:?} {name_a}, {name_b}"));
                }
            }
        }
    }
}
