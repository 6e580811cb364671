//! Every shader variant, and what programs have in common.

use wgmax::DType;
use wgmax::plan::{
    Access, Epilogue, HardmaxWriter, Kernel, MaxAccess, MaxOperands, Operator, Override, Program, RowBlock, Stores,
};

/// Short rows' elements, their columns, the elements in a turn and bunches' rows, also such as there are none of.
const BUNCHES: [(u64, u64, u64, u64); 24] = [
    (1, 1, 1, 4),
    (2, 1, 2, 2),
    (2, 1, 2, 4),
    (2, 1, 2, 8),
    (3, 1, 3, 4),
    (3, 1, 3, 3),
    (3, 1, 3, 16),
    (16, 1, 16, 1),
    (16, 1, 16, 4),
    (64, 1, 64, 1),
    (513, 1, 513, 4), // longer than any
    (128, 2, 1, 2),
    (256, 2, 1, 2),
    (57, 5, 1, 20),
    (4, 41, 2, 164),
    (2, 0, 1, 4),
    (2, 3, 1, 3),
    (2, 3, 1, 6),
    (2, 3, 1, 24),
    (5, 4, 1, 16),
    (4, 3, 2, 12),
    (4, 7, 2, 28),
    (6, 2, 3, 16),
    (4, 3, 3, 12),
];

/// Every program that can be named, whether or not it was written.
pub fn programs() -> Vec<Program> {
    let mut programs = [false, true].map(|packs| Program::Fill { packs }).to_vec();
    let mut writers = vec![HardmaxWriter::Rows, HardmaxWriter::InnerPacks, HardmaxWriter::Seams];
    for narrow in [false, true] {
        programs.push(Program::HardmaxOnes { narrow });
        writers.push(HardmaxWriter::RaggedColumns { packed: narrow });
        writers.push(HardmaxWriter::PackedColumns { narrow });
    }
    writers.extend([1, 2, 3, 7, 16, 32, 33].map(|len| HardmaxWriter::ShortRows { len }));
    programs.extend(writers.into_iter().map(Program::HardmaxWrite));
    for count in [0, 1, 2, 7, 32] {
        let any = MaxOperands::new(count);
        programs.push(Program::Max { operands: any, access: MaxAccess::Elements });
        let columns = [0, 0b10, u32::MAX].map(|of_columns| MaxOperands { of_columns, ..any });
        programs.extend(columns.map(|operands| Program::Max { operands, access: MaxAccess::Columns }));
        for (of_rows, shifted) in [(0, 0), (0b10, 0b101), (u32::MAX, u32::MAX), (0, u32::MAX)] {
            let operands = MaxOperands { of_rows, shifted, ..any };
            let accesses = [false, true].map(|pairs| MaxAccess::Packs { pairs });
            programs.extend(accesses.map(|access| Program::Max { operands, access }));
        }
    }
    for (count, lens) in [(0, &[3][..]), (3, &[1, 2, 3, 7, 16, 32, 33]), (32, &[3])] {
        for (of_rows, of_columns, shifted) in [(0, 0, 0), (0b001, 0b010, 0b100), (0b011, 0b010, 0b101)] {
            let operands = MaxOperands { count, of_rows, of_columns, shifted };
            let short_rows = |&len| Program::Max { operands, access: MaxAccess::ShortRows { len } };
            programs.extend(lens.iter().map(short_rows));
        }
    }
    use Epilogue::{Both, Index, Ones, Record, Value, Winner};
    for epilogue in [Record(Operator::ReduceMax), Record(Operator::ArgMax), Value, Index, Both, Winner, Ones] {
        programs.push(Program::Merge { epilogue });
        let short_rows =
            |(len, columns, turn, rows)| {
                let block = RowBlock { len, columns, turn };
                [(false, false), (true, false), (false, true), (true, true)]
                    .map(|(exchanged, staged)| Access::ShortRows { block, rows, exchanged, staged })
            };
        let short_rows = BUNCHES.map(short_rows).concat();
        let accesses = [&[Access::Rows, Access::Columns, Access::Strided], &short_rows[..]].concat();
        let stores = [Stores::Results, Stores::Packs, Stores::Seams];
        let reduce = |&access| stores.map(|stores| Program::Reduce { access, epilogue, stores });
        programs.extend(accesses.iter().flat_map(reduce));
    }
    programs
}

/// Every constant, each with some value.
pub const OVERRIDES: [Override; 26] = [
    Override::Group(64),
    Override::Team(16),
    Override::RunMembers(4),
    Override::NansIgnored,
    Override::Last,
    Override::IndexWords(1),
    Override::Accumulate,
    Override::BoundsChecked,
    Override::PreserveEdges,
    Override::Split,
    Override::Runs,
    Override::FewRuns(3),
    Override::Ragged,
    Override::ColumnPacks(4),
    Override::InTurn,
    Override::LooseEnds,
    Override::WholeWords,
    Override::Pairs,
    Override::FewPacks,
    Override::FromWords,
    Override::Neighbours(8),
    Override::Spread,
    Override::OneRow,
    Override::Folded,
    Override::Partials,
    Override::Zeros,
];

/// Every program that was written, of every type, without and with teams: with the overrides that it must have, and with all
/// that go together, these also for shared buffers.
pub fn kernels() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let types = DType::ALL.into_iter().flat_map(|dtype| [(dtype, false), (dtype, true)]);
    let programs = types.flat_map(|own| programs().into_iter().map(move |program| (program, own)));
    for ((program, (dtype, int64)), team) in programs.flat_map(|own| [(own, None), (own, Some(Override::Team(16)))]) {
        let kernel = Kernel { program, dtype, overrides: team.into_iter().collect(), int64, shared_buffers: false };
        let knows_teams = team.is_none_or(|team| kernel.declares(team));
        if !kernel.exists() || !knows_teams || int64 && !program.takes_packs() {
            continue;
        }
        let with = |wanted: fn(&Override) -> bool| {
            let mut overrides: Vec<Override> =
                OVERRIDES.into_iter().filter(|&own| kernel.declares(own) && wanted(&own)).collect();
            if overrides.contains(&Override::ColumnPacks(4)) {
                overrides.retain(|own| *own != Override::InTurn); // panels of one pack
            }
            let own = Kernel { overrides, ..kernel.clone() };
            match is_staged(program) {
                true => in_one_piece(own),
                false => own,
            }
        };
        kernels.push(with(|own| matches!(own, Override::Group(_) | Override::Team(_))));
        kernels.push(with(|own| *own != Override::ColumnPacks(4)));
        kernels.push(Kernel { shared_buffers: true, ..with(|own| *own != Override::ColumnPacks(4)) });
        if matches!(program, Program::Reduce { access: Access::ShortRows { staged: false, .. }, .. }) {
            kernels.push(with(|own| *own != Override::Ragged)); // bunches of one stretch, not of two
        }
        if kernel.declares(Override::ColumnPacks(4)) {
            kernels.push(with(|own| *own != Override::Ragged));
            kernels.push(with(|_| true));
            for (packs, kernel) in [(8, with(|own| *own != Override::Ragged)), (16, with(|_| true))] {
                let wider = |own| if let Override::ColumnPacks(_) = own { Override::ColumnPacks(packs) } else { own };
                kernels.push(Kernel { overrides: kernel.overrides.into_iter().map(wider).collect(), ..kernel });
            }
        }
    }
    kernels
}

fn is_staged(program: Program) -> bool {
    matches!(program, Program::Reduce { access: Access::ShortRows { staged: true, .. }, .. })
}

/// Staged bunches begin with packs, and rows have one run or, in windows, what is one.
fn in_one_piece(kernel: Kernel) -> Kernel {
    let has_one_row = matches!(kernel.program, Program::Reduce { access: Access::ShortRows { rows: 1, .. }, .. });
    let one = |own| match own {
        Override::Ragged | Override::Pairs => None,
        Override::FewRuns(_) => Some(Override::FewRuns(1)),
        Override::IndexWords(_) if has_one_row => Some(Override::IndexWords(2)), // of one word nothing is exchanged
        _ => Some(own),
    };
    Kernel { overrides: kernel.overrides.into_iter().filter_map(one).collect(), ..kernel }
}

/// The program that stores result by result: packs are stored where outputs allow it.
pub fn storing_results(mut program: Program) -> Program {
    if let Program::Reduce { stores, .. } = &mut program {
        *stores = Stores::Results;
    }
    program
}
