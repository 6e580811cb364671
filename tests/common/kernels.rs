//! Every shader variant, and what programs have in common.

use wgmax::DType;
use wgmax::plan::{Access, Constant, Kernel, Operator, Program, Store};

/// Every program that can be named, whether or not it was written.
pub fn programs() -> Vec<Program> {
    let mut programs = vec![Program::Fill, Program::HardmaxWriteColumns];
    programs.extend([false, true].map(|packs| Program::HardmaxWriteRows { packs }));
    for operands in [0, 1, 2, 7, 32] {
        programs.push(Program::MaxElements { operands });
        programs.extend([0, 0b10, u32::MAX].map(|splats| Program::MaxPacks { operands, splats }));
    }
    for operator in [Operator::ReduceMax, Operator::ArgMax] {
        for store in [Store::Record, Store::Value, Store::Index, Store::Both] {
            for team in [false, true] {
                programs.push(Program::Merge { operator, team, store });
                let accesses = [Access::Rows, Access::Columns, Access::Strided];
                programs.extend(accesses.map(|access| Program::Reduce { operator, access, team, store }));
            }
        }
    }
    programs
}

/// Every constant, each with some value.
pub const CONSTANTS: [Constant; 13] = [
    Constant::Group(64),
    Constant::Team(16),
    Constant::NansIgnored,
    Constant::Last,
    Constant::IndexWords(1),
    Constant::Accumulate,
    Constant::BoundsChecked,
    Constant::PreserveEdges,
    Constant::Split,
    Constant::Runs,
    Constant::Ragged,
    Constant::Wide,
    Constant::Prefetch,
];

/// Every program that was written, of every type: with the constants that it must have, and with all that go together.
pub fn kernels() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let types = DType::ALL.into_iter().flat_map(|dtype| [(dtype, false), (dtype, true)]);
    for (program, (dtype, int64)) in types.flat_map(|own| programs().into_iter().map(move |program| (program, own))) {
        let kernel = Kernel { program, dtype, constants: vec![], int64 };
        if !kernel.exists() || int64 && !program.takes_packs() {
            continue;
        }
        let with = |wanted: fn(&Constant) -> bool| {
            let constants = CONSTANTS.into_iter().filter(|&own| kernel.declares(own) && wanted(&own)).collect();
            Kernel { constants, ..kernel.clone() }
        };
        kernels.push(with(|own| matches!(own, Constant::Group(_) | Constant::Team(_))));
        kernels.push(with(|own| *own != Constant::Wide));
        if kernel.declares(Constant::Wide) {
            kernels.push(with(|own| !matches!(own, Constant::Prefetch | Constant::Ragged)));
        }
    }
    kernels
}

/// The program for one invocation a task: whether there is a team is tuning's choice.
pub fn without_team(mut program: Program) -> Program {
    if let Program::Reduce { team, .. } | Program::Merge { team, .. } = &mut program {
        *team = false;
    }
    program
}
