//! The cases that every route to a GPU takes, natively. The other routes are in `tests/web`.

mod common;

use std::collections::HashSet;

use common::cases;
use common::{check_planned, gpus};
use wgmax::{AdapterKind, Limits, Operation};

/// On the device of default limits, as in a browser.
#[test]
fn the_sample_is_bit_equal() {
    let gpu = &gpus()[1];
    let sample = cases::sample();
    for (case, adapter) in &sample {
        let inputs = case.inputs();
        let inputs: Vec<_> = inputs.iter().collect();
        let expected = case.op.reference(&inputs).unwrap();
        let limits = Limits { adapter: *adapter, ..gpu.kernels().limits().clone() };
        check_planned(gpu, &limits, &case.op, &inputs, &expected, &case.name);
    }
    println!("{0} of {0} cases bit-equal", sample.len()); // tests/web/run.sh reads this
}

#[test]
fn the_sample_shows_what_the_whole_matrix_shows() {
    let adapters = [AdapterKind::Hardware, AdapterKind::SwiftShader];
    let all = cases::all();
    let all: HashSet<String> =
        all.iter().flat_map(|case| adapters.map(|own| case.features(&case.kernels(own)))).flatten().collect();
    let sample = cases::sample();
    let shown: HashSet<String> =
        sample.iter().flat_map(|(case, adapter)| case.features(&case.kernels(*adapter))).collect();
    let kernels: HashSet<_> = sample.iter().flat_map(|(case, adapter)| case.kernels(*adapter)).collect();
    let missed: Vec<_> = all.difference(&shown).collect();
    assert!(missed.is_empty(), "{} missed: {missed:?}", missed.len());
    println!("{} cases, {} kernels, {} features", sample.len(), kernels.len(), shown.len());
}
