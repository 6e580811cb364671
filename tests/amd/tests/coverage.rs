//! Which shaders are compiled: every program and access that is planned for GPUs, over every type, with every override.

#[path = "../../common/kernels.rs"]
#[allow(dead_code)] // other tests use more of it
mod kernels;

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use wgmax::plan::{
    Access, Epilogue, HardmaxWriter, Kernel, MaxAccess, MaxOperands, Operator, Override, Program, RowBlock, Stores,
};
use wgmax_amd_tests::{kind, planned, task};

/// Rows that no operand repeats are one long row.
const NO_BUNCH: Program = Program::Max { operands: MaxOperands::new(2), access: MaxAccess::ShortRows { len: 2 } };

/// GPUs exchange the positions of bunches, store values of columns in words, too, and write
/// what packs of a Hardmax have of two rows.
const NEVER_ON_GPUS: [Program; 4] = [
    Program::Reduce {
        access: Access::ShortRows {
            block: RowBlock { len: 2, columns: 1, turn: 2 },
            rows: 8,
            exchanged: false,
            staged: false,
        },
        epilogue: Epilogue::Index,
        stores: Stores::Packs,
    },
    Program::Reduce { access: Access::Columns, epilogue: Epilogue::Value, stores: Stores::Seams },
    Program::HardmaxWrite(HardmaxWriter::InnerPacks),
    Program::HardmaxWrite(HardmaxWriter::Seams),
];

/// What is planned where buffers are shared, or have no bindings left; and for invocations that work by themselves.
const NO_KINDS: [Program; 9] = [
    NO_BUNCH,
    NEVER_ON_GPUS[0],
    NEVER_ON_GPUS[1],
    NEVER_ON_GPUS[2],
    NEVER_ON_GPUS[3],
    Program::Max {
        operands: MaxOperands { shifted: 1, ..MaxOperands::new(2) },
        access: MaxAccess::Packs { pairs: false },
    },
    Program::Max {
        operands: MaxOperands { of_rows: 1, shifted: 1, ..MaxOperands::new(2) },
        access: MaxAccess::Packs { pairs: false },
    },
    Program::Reduce { access: Access::Rows, epilogue: Epilogue::Record(Operator::ReduceMax), stores: Stores::Results },
    Program::Merge { epilogue: Epilogue::Winner },
];

/// Those of devices that read one element after another.
const NO_OVERRIDES: [Override; 5] =
    [Override::ColumnPacks(4), Override::InTurn, Override::WholeWords, Override::FromWords, Override::Neighbours(8)];

#[test]
fn every_kind_of_program_is_compiled() {
    hold_to(|own| vec![(kind(own.program), own.has_team())], &NO_KINDS.map(|own| (own, false)));
}

#[test]
fn every_program_and_access_is_compiled_over_every_type() {
    let all_alike = |program| match program {
        Program::Max { access: MaxAccess::Packs { .. }, .. } => {
            Program::Max { operands: MaxOperands::new(2), access: MaxAccess::Packs { pairs: false } }
        }
        Program::Max { access: MaxAccess::ShortRows { .. }, .. } => NO_BUNCH,
        Program::HardmaxWrite(HardmaxWriter::RaggedColumns { .. }) => {
            Program::HardmaxWrite(HardmaxWriter::RaggedColumns { packed: true })
        }
        other => task(kind(other)),
    };
    let planned = |program: &Program| !NEVER_ON_GPUS.contains(&kind(*program));
    hold_to(
        |own| Some(own.program).filter(planned).map(|program| (all_alike(program), own.dtype)).into_iter().collect(),
        &[],
    );
}

#[test]
fn every_override_is_compiled() {
    let named = |own: &Kernel| own.constants().map(|(name, _)| name).collect();
    hold_to(named, &NO_OVERRIDES.map(Override::name));
}

/// Panics if what there is of all kernels is not compiled, or is though it is said that no plan for GPUs has it.
fn hold_to<T: Eq + Hash + Debug>(what: impl Fn(&Kernel) -> Vec<T>, never_planned: &[T]) {
    let planned: HashSet<T> = planned().unwrap().iter().flat_map(&what).collect();
    let all: HashSet<T> = kernels::kernels().iter().flat_map(&what).collect();
    let missing: Vec<&T> = all.iter().filter(|own| !planned.contains(own) && !never_planned.contains(own)).collect();
    assert!(missing.is_empty(), "{} of {} are not compiled: {missing:#?}", missing.len(), all.len());
    let needless: Vec<&T> = never_planned.iter().filter(|own| planned.contains(own)).collect();
    assert!(needless.is_empty(), "said never to be planned for GPUs, and planned: {needless:#?}");
}
