//! The cases that every route to a GPU takes, natively. The other routes are in `tests/web`.

mod common;

use std::collections::HashSet;

use common::matrix::{self, Case};
use common::{first_difference, gpus, run};
use wgmax::plan::Kernel;
use wgmax::{AdapterKind, Limits, Operation};

const ADAPTERS: [AdapterKind; 2] = [AdapterKind::Gpu, AdapterKind::Cpu];

/// On the device of default limits, as in a browser; each case planned as for a GPU and as for a CPU.
#[test]
fn the_sample_is_bit_equal() {
    let gpu = &gpus()[1];
    let mut equal = 0;
    for case in matrix::sample() {
        let inputs = case.inputs();
        let inputs: Vec<_> = inputs.iter().collect();
        let expected = case.op.reference(&inputs).unwrap();
        for adapter in ADAPTERS {
            let limits = Limits { adapter, ..gpu.kernels().limits().clone() };
            let got = run(gpu, &case.op, &limits, &inputs).unwrap_or_else(|error| panic!("{}: {error}", case.name));
            if let Some(difference) = first_difference(&expected, &got) {
                panic!("{}: {difference}\n{}", case.name, case.op.plan(&limits).unwrap());
            }
            equal += 1;
        }
    }
    println!("{equal} cases bit-equal"); // tests/web/run.sh reads this
}

#[test]
fn the_sample_reaches_every_kernel_that_the_whole_matrix_reaches() {
    let kernels = |cases: Vec<Case>| -> HashSet<Kernel> {
        let limits = ADAPTERS.map(|adapter| Limits { adapter, ..Limits::default() });
        let plans = cases.iter().flat_map(|case| limits.iter().map(|limits| case.op.plan(limits).unwrap()));
        plans.flat_map(|plan| plan.passes).map(|pass| pass.kernel).collect()
    };
    let sample = kernels(matrix::sample());
    let missed: Vec<String> = kernels(matrix::all()).difference(&sample).map(ToString::to_string).collect();
    assert!(missed.is_empty(), "{} missed: {missed:?}", missed.len());
    println!("{} kernels", sample.len());
}
