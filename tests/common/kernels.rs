//! Every shader variant, and what programs have in common.

use wgmax::DType;
use wgmax::plan::{Access, Constant, Kernel, Operator, Program, Store};

pub fn kernels() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for dtype in DType::ALL {
        let mut push = |program, constants: &[Constant]| {
            let packs = matches!(
                program,
                Program::Reduce { access: Access::Rows | Access::Columns, .. }
                    | Program::HardmaxRows { access: Access::Rows, .. }
                    | Program::HardmaxRows { packs: true, .. }
                    | Program::HardmaxWriteRows { packs: true }
                    | Program::MaxPacks { .. }
            );
            let constants = constants.to_vec();
            let kernel = |int64| Kernel { program, dtype, constants: constants.clone(), int64 };
            kernels.extend([false, true].into_iter().filter(|&int64| packs || !int64).map(kernel));
        };
        push(Program::Fill, &[Constant::Group(64)]);
        let rows = [false, true].map(|packs| Program::HardmaxWriteRows { packs });
        for program in rows.into_iter().chain([Program::HardmaxWriteColumns]) {
            push(program, &[Constant::Group(64)]);
            push(program, &[Constant::Group(64), Constant::Guarded, Constant::Continues]);
        }
        let nans: &[Constant] = if dtype.is_float() { &[Constant::NansIgnored] } else { &[] };
        push(Program::HardmaxColumns, &[&[Constant::Group(64)], nans].concat());
        for (access, packs) in [Access::Rows, Access::Strided].into_iter().flat_map(|a| [(a, false), (a, true)]) {
            push(Program::HardmaxRows { access, team: false, packs }, &[&[Constant::Group(64)], nans].concat());
            let team = [Constant::Group(64), Constant::Team(16)];
            push(Program::HardmaxRows { access, team: true, packs }, &[&team, nans].concat());
        }
        for operands in [0, 1, 2, 7, 32] {
            let constants = [&[Constant::Group(64), Constant::Continues], nans].concat();
            push(Program::MaxElements { operands }, &constants);
            push(Program::MaxElements { operands }, &[&constants[..], &[Constant::Keeps, Constant::Guarded]].concat());
            for splats in [0, 0b10, u32::MAX] {
                push(Program::MaxPacks { operands, splats }, &constants);
            }
        }
        for operator in [Operator::ReduceMax, Operator::ArgMax] {
            for access in [Access::Rows, Access::Columns, Access::Strided, Access::Finish, Access::FinishPieces] {
                if access == Access::Columns && operator == Operator::ArgMax && dtype.bytes() == 8 {
                    continue; // never planned
                }
                let stores: &[Store] = match operator {
                    Operator::ReduceMax => &[Store::Partial, Store::Piece, Store::Value],
                    Operator::ArgMax if access == Access::FinishPieces => &[Store::Index, Store::Both],
                    Operator::ArgMax => &[Store::Partial, Store::Piece, Store::Index, Store::Both],
                };
                for &store in stores {
                    for team in [false, true] {
                        let mut constants = vec![Constant::Group(64)];
                        if team && access != Access::Columns {
                            constants.push(Constant::Team(16));
                        }
                        if access == Access::Rows {
                            constants.push(Constant::Ragged);
                        }
                        if access == Access::Columns {
                            // They know no teams: four packs side by side here, one that may end within a pack there.
                            constants.extend(if team {
                                vec![Constant::Wide]
                            } else {
                                vec![Constant::Far, Constant::Ragged]
                            });
                        }
                        if !matches!(access, Access::Finish | Access::FinishPieces) {
                            constants.extend([Constant::Split, Constant::Runs]);
                        }
                        if dtype.is_float() {
                            constants.push(Constant::NansIgnored);
                        }
                        if operator == Operator::ArgMax {
                            constants.push(Constant::Last);
                            if matches!(store, Store::Index | Store::Both) {
                                constants.push(Constant::IndexWords(1));
                            }
                        }
                        push(Program::Reduce { operator, access, team, store }, &constants);
                    }
                }
            }
        }
    }
    kernels
}

/// The program for one invocation a task: whether there is a team is tuning's choice.
pub fn without_team(mut program: Program) -> Program {
    if let Program::Reduce { team, .. } | Program::HardmaxRows { team, .. } = &mut program {
        *team = false;
    }
    program
}
