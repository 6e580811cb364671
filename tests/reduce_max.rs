//! ReduceMax on the GPU against the reference, bit for bit.

mod common;

use common::{check_cases, matrix};

#[test]
fn every_type_view_axes_and_edge() {
    check_cases(matrix::reduce_max());
}

#[test]
fn ignored_nans() {
    check_cases(matrix::reduce_max_ignoring_nans());
}

#[test]
fn empty_reductions() {
    check_cases(matrix::empty_reductions());
}

#[test]
fn long_reductions() {
    check_cases(matrix::long_reductions()); // of every operator
}
