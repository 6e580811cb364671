//! What a kernel chooses within its program: the values of `override` declarations.

/// The value of one `override` declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Override {
    /// Invocations of a workgroup.
    Group(u32),
    /// Invocations that share a task, a power of two: a team.
    Team(u32),
    /// Of these, the ones that take a run together while the others take other runs: a power of two.
    RunMembers(u32),
    /// NaN loses to every number.
    NansIgnored,
    /// The last of equal maxima wins.
    Last,
    /// Words of an index.
    IndexWords(u32),
    /// What is written to holds results already, of earlier dispatches.
    Accumulate,
    /// What is needed to write the output comes in several windows: what lies outside of this one is left to others.
    BoundsChecked,
    /// Elements before or after this dispatch's are kept as they are.
    PreserveEdges,
    /// An output has more than one chunk.
    Split,
    /// An output has more than one run.
    Runs,
    /// The runs of a short row, each of which lies in another bunch, where they are no more than three: they are taken with no loop.
    FewRuns(u32),
    /// What is read or written in one piece may begin or end within a pack: of a reduction a run, a row of columns or a bunch of short
    /// rows; of Max a row, or a stretch of short rows.
    Ragged,
    /// Packs side by side that an invocation of a kernel of columns takes.
    ColumnPacks(u32),
    /// An invocation of a kernel of columns takes several packs of a row one after another, a share.
    InTurn,
    /// Where several rows of columns count as one, blocks of them begin and end within a row.
    LooseEnds,
    /// Rows of columns, or stretches of short rows, that begin anywhere begin and end with words.
    WholeWords,
    /// Packs that begin anywhere come out of two whole ones, and not word by word.
    Pairs,
    /// Rows that begin anywhere have a few packs, which are taken one by one.
    FewPacks,
    /// These packs begin with words: the first one with the run's first, and the last one ends with its last.
    FromWords,
    /// Neighbouring invocations that take turns, at tiles of four packs along rows of a Max; and those that take the panels of a row of
    /// columns together.
    Neighbours(u32),
    /// Neighbours write packs side by side: an invocation of Max takes four of a row or of a column, apart from each other.
    Spread,
    /// The output is one row.
    OneRow,
    /// The records of an output come from several columns, so many outputs apart.
    Folded,
    /// What is merged are partials of shards, and not records.
    Partials,
    /// What is written everywhere is zeros.
    Zeros,
}

impl Override {
    /// That of so many neighbours, if there are several.
    pub(crate) fn of_neighbours(neighbours: u64) -> Option<Override> {
        (neighbours > 1).then_some(Override::Neighbours(neighbours as u32))
    }

    /// The name in the shader.
    pub const fn name(self) -> &'static str {
        match self {
            Override::Group(_) => "GROUP",
            Override::Team(_) => "TEAM",
            Override::RunMembers(_) => "RUN_MEMBERS",
            Override::NansIgnored => "NANS_IGNORED",
            Override::Last => "LAST",
            Override::IndexWords(_) => "INDEX_WORDS",
            Override::Accumulate => "ACCUMULATE",
            Override::BoundsChecked => "BOUNDS_CHECKED",
            Override::PreserveEdges => "PRESERVE_EDGES",
            Override::Split => "SPLIT",
            Override::Runs => "RUNS",
            Override::FewRuns(_) => "FEW_RUNS",
            Override::Ragged => "RAGGED",
            Override::ColumnPacks(_) => "COLUMN_PACKS",
            Override::InTurn => "IN_TURN",
            Override::LooseEnds => "LOOSE_ENDS",
            Override::WholeWords => "WHOLE_WORDS",
            Override::Pairs => "PAIRS",
            Override::FewPacks => "FEW_PACKS",
            Override::FromWords => "FROM_WORDS",
            Override::Neighbours(_) => "NEIGHBOURS",
            Override::Spread => "SPREAD",
            Override::OneRow => "ONE_ROW",
            Override::Folded => "FOLDED",
            Override::Partials => "PARTIALS",
            Override::Zeros => "ZEROS",
        }
    }

    /// The value, as WebGPU takes it; 1 for true.
    pub const fn value(self) -> u32 {
        match self {
            Override::Group(n)
            | Override::Team(n)
            | Override::RunMembers(n)
            | Override::IndexWords(n)
            | Override::FewRuns(n)
            | Override::ColumnPacks(n)
            | Override::Neighbours(n) => n,
            _ => 1,
        }
    }
}
