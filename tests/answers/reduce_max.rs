//! ReduceMax on the GPU against the reference, bit for bit.

use crate::common::{Data, cases, check_cases};

#[test]
fn every_type_view_axes_and_edge() {
    check_cases(&cases::reduce_max(&Data::ALL));
}

#[test]
fn ignored_nans() {
    check_cases(&cases::reduce_max_ignoring_nans());
}

#[test]
fn empty_reductions() {
    check_cases(&cases::empty_reductions());
}
