//! ArgMax on the GPU against the reference, bit for bit.

mod common;

use common::{check_cases, matrix};

#[test]
fn every_type_view_axes_and_edge() {
    check_cases(matrix::arg_max());
}

#[test]
fn last_index_and_values_beside() {
    check_cases(matrix::arg_max_last_with_values());
}

#[test]
fn ignored_nans() {
    check_cases(matrix::arg_max_ignoring_nans());
}
