//! ArgMax on the GPU against the reference, bit for bit.

use crate::common::{Data, cases, check_cases};

#[test]
fn every_type_view_axes_and_edge() {
    check_cases(&cases::arg_max(&Data::ALL));
}

#[test]
fn last_index_and_values_beside() {
    check_cases(&cases::arg_max_last_with_values(&cases::LAST_DATA));
}

#[test]
fn ignored_nans() {
    check_cases(&cases::arg_max_ignoring_nans());
}
