use std::fmt;

use super::{Bunches, FIRST_OPERAND};
use crate::DType;

/// A shader: which program, over which storage type, with which overrides.
///
/// Two dispatches with equal kernels share a pipeline, whatever their shapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kernel {
    /// The program.
    pub program: Program,
    /// The storage type.
    pub dtype: DType,
    /// The values of its `override` declarations; those not named keep their defaults.
    pub overrides: Vec<Override>,
    /// Whether 16-byte packs are bound as pairs of 64-bit integers, for devices with [`Limits::int64`](crate::Limits).
    pub int64: bool,
    /// Whether every storage binding is declared `read_write`, and each slot bound once, so that one buffer may hold them
    /// all: for plans with [`Limits::shared_buffers`](crate::Limits).
    pub shared_buffers: bool,
}

/// What a shader does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Program {
    /// Writes one element everywhere.
    Fill {
        /// Packs at once, and not words.
        packs: bool,
    },
    /// Reduces elements.
    Reduce {
        /// To values or to positions.
        operator: Operator,
        /// How it comes by its elements.
        access: Access,
        /// Whether several invocations share a task.
        team: bool,
        /// What it writes.
        epilogue: Epilogue,
        /// What it stores of columns, or of bunches of short rows.
        stores: Stores,
    },
    /// Puts records together.
    Merge {
        /// Of values or of positions.
        operator: Operator,
        /// Whether several invocations share an output.
        team: bool,
        /// What it writes.
        epilogue: Epilogue,
    },
    /// Hardmax once the winners are known, of slices that stand side by side.
    HardmaxWriteColumns {
        /// What it stores of them.
        stores: Stores,
        /// Whether winners are as wide as elements of 8 or 16 bits, and not words.
        narrow: bool,
    },
    /// The same in packs, where rows end within packs and are no shorter than one.
    HardmaxWriteRaggedColumns,
    /// The same in packs, of which an invocation writes one in line after line: so many rows as are whole packs. For types of less
    /// than 64 bits: two of those are a pack.
    HardmaxWriteLines,
    /// The same of slices that follow one another.
    HardmaxWriteRows {
        /// Whether packs are written, and not output units.
        packs: bool,
    },
    /// The same of slices so short that many of them share packs.
    HardmaxWriteShortRows {
        /// Elements of a slice.
        len: u32,
    },
    /// Max, in whole packs, of operands that run along the output's rows, or have one element for all of a row.
    MaxPacks {
        /// Operands that one dispatch reads.
        operands: u32,
        /// Bit n is set if operand n has one element for all of a row.
        splats: u32,
        /// Bit n is set if operand n's packs begin anywhere, and are shifted out of words.
        shifted: u32,
        /// Whether these come out of two whole packs, which are bound beside the words.
        pairs: bool,
    },
    /// Max where rows are so short that many of them share packs.
    MaxShortRows {
        /// Operands that one dispatch reads.
        operands: u32,
        /// Elements of a row.
        len: u32,
        /// Bit n is set if operand n has one element for all of a row.
        of_rows: u32,
        /// Bit n is set if operand n has the same elements in row after row.
        of_columns: u32,
        /// Bit n is set if operand n has a part of a row, which is repeated until the row ends.
        repeated: u32,
        /// Elements of that part, of which a row is a whole number.
        part: u32,
        /// Bit n is set if operand n's packs begin anywhere, and are shifted out of words.
        shifted: u32,
    },
    /// Max of any operands.
    MaxElements {
        /// Operands that one dispatch reads.
        operands: u32,
    },
}

/// A reducing operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Operator {
    /// Values only.
    ReduceMax,
    /// Positions, and values beside them.
    ArgMax,
}

/// How a reducing kernel comes by its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Access {
    /// Unit stride along the reduction.
    Rows,
    /// Unit stride along the outputs.
    Columns,
    /// Any strides.
    Strided,
    /// Unit stride along the reduction in rows so short, one after another, that many of them share packs; or such rows side by side,
    /// in blocks one after another.
    ShortRows {
        /// Elements of a row.
        len: u32,
        /// Rows side by side, whose elements take turns; one where each lies in one piece.
        columns: u32,
        /// Rows of a bunch, which an invocation takes at once.
        rows: u32,
        /// Whether a workgroup's positions meet in workgroup memory, so that neighbours store what lies side by side.
        exchanged: bool,
    },
}

/// What a reducing kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Epilogue {
    /// Records, to scratch: what is known of a part of an output's elements.
    Record,
    /// Values.
    Value,
    /// Indices.
    Index,
    /// Values and indices.
    Both,
    /// Positions as wide as elements of 8 or 16 bits, in packs: a Hardmax's winners.
    Winner,
    /// Ones and zeros: the slices of a Hardmax, which follow one another in whole packs or bunches of them.
    Ones,
}

/// What a kernel stores of columns, those that it reduces or a Hardmax's, or of bunches of short rows. Every other kernel stores
/// results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Stores {
    /// All results, unit by unit.
    Results,
    /// Packs as such: those that lie in one row of columns, or the results of bunches of short rows.
    Packs,
    /// Of the packs in which rows of columns end all results, unit by unit.
    Seams,
}

impl Epilogue {
    /// The results that share one written unit: as many values as fill a word, else one.
    pub(crate) const fn lanes(self, dtype: DType) -> u64 {
        match self {
            Epilogue::Value | Epilogue::Both | Epilogue::Winner => dtype.lanes(),
            Epilogue::Record | Epilogue::Index | Epilogue::Ones => 1,
        }
    }
}

/// The value of one `override` declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Override {
    /// Invocations of a workgroup.
    Group(u32),
    /// Invocations that share a task, a power of two.
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
    /// The runs of a short row, where they are two or three: they are taken with no loop.
    FewRuns(u32),
    /// What is read or written in one piece may begin or end within a pack: of a reduction a run, a row of columns or a bunch of short
    /// rows; of a Hardmax a slice, or a row of columns; of Max a row, or a stretch of short rows.
    Ragged,
    /// A column kernel's invocations take four packs side by side.
    FourPacks,
    /// The rows of a column kernel lie far apart: what they begin with is asked for ahead of the rest.
    Prefetch,
    /// A column kernel compares row by row, which may be faster than to look for the winner among four rows at the end. Positions
    /// of 64-bit types know no other way.
    RowByRow,
    /// Stretches of short rows that begin anywhere begin and end with words.
    WholeWords,
    /// Packs that begin anywhere come out of two whole ones, and not word by word.
    Pairs,
    /// Rows that begin anywhere have a few packs, which are taken one by one.
    FewPacks,
    /// An invocation of Max takes four packs of a row, and its neighbours those beside each of them.
    Spread,
    /// The output is one row.
    OneRow,
    /// The records of an output come from several columns, so many outputs apart.
    Folded,
    /// What is merged are partials of shards, and not records.
    Partials,
}

impl Override {
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
            Override::FourPacks => "FOUR_PACKS",
            Override::Prefetch => "PREFETCH",
            Override::RowByRow => "ROW_BY_ROW",
            Override::WholeWords => "WHOLE_WORDS",
            Override::Pairs => "PAIRS",
            Override::FewPacks => "FEW_PACKS",
            Override::Spread => "SPREAD",
            Override::OneRow => "ONE_ROW",
            Override::Folded => "FOLDED",
            Override::Partials => "PARTIALS",
        }
    }

    /// The value, as WebGPU takes it; 1 for true.
    pub const fn value(self) -> u32 {
        match self {
            Override::Group(n)
            | Override::Team(n)
            | Override::RunMembers(n)
            | Override::IndexWords(n)
            | Override::FewRuns(n) => n,
            Override::NansIgnored
            | Override::Last
            | Override::Accumulate
            | Override::BoundsChecked
            | Override::PreserveEdges
            | Override::Split
            | Override::Runs
            | Override::Ragged
            | Override::FourPacks
            | Override::Prefetch
            | Override::RowByRow
            | Override::WholeWords
            | Override::Pairs
            | Override::FewPacks
            | Override::Spread
            | Override::OneRow
            | Override::Folded
            | Override::Partials => 1,
        }
    }
}

/// The longest rows that a reduction takes in bunches: beyond, packs of one row are as fast.
pub(crate) const LONGEST_SHORT_ROW: u64 = 64;

/// The elements of the largest blocks that it takes in bunches: the text of larger ones takes too long to compile.
pub(crate) const LARGEST_BLOCK: u64 = 128;

/// The longest rows that are written in bunches: beyond, text grows, and whole packs of one row are as fast.
pub(crate) const LONGEST_WRITTEN_ROW: u64 = 32;

impl Kernel {
    /// The entry point of every shader.
    pub const ENTRY_POINT: &'static str = "main";

    /// With packs bound as pairs of 64-bit integers, if that is asked for and there are packs.
    pub(crate) fn new(program: Program, dtype: DType, overrides: Vec<Override>, int64: bool) -> Kernel {
        Kernel { program, dtype, overrides, int64: int64 && program.takes_packs(), shared_buffers: false }
    }

    /// Whether columns can be stored in packs: values, and positions but for those of 64-bit types, two of which may be half a pack,
    /// and for those of 32-bit types from four packs side by side: lavapipe is faster word by word.
    pub(crate) fn stores_packs(dtype: DType, epilogue: Epilogue, wide: bool) -> bool {
        match epilogue {
            Epilogue::Value => true,
            Epilogue::Index if dtype.bytes() == 4 => !wide,
            Epilogue::Index | Epilogue::Winner => dtype.bytes() < 4,
            _ => false,
        }
    }

    /// Whether it has that override.
    pub(crate) fn has(&self, own: Override) -> bool {
        self.overrides.contains(&own)
    }

    /// The bunches of short rows that it reduces, if there is such a text.
    pub(crate) fn bunches(&self) -> Option<Bunches> {
        let Program::Reduce { operator, access: Access::ShortRows { len, columns, rows, .. }, epilogue, .. } =
            self.program
        else {
            return None;
        };
        let [len, columns, rows] = [len, columns, rows].map(u64::from);
        let bunches = Bunches { dtype: self.dtype, operator, epilogue, len, columns, rows };
        Some(bunches).filter(|own| own.are_valid(self.has(Override::Ragged)))
    }

    fn stores(&self, access: Access, team: bool, epilogue: Epilogue, stores: Stores) -> bool {
        let wide = self.has(Override::FourPacks);
        let columns = access == Access::Columns && Kernel::stores_packs(self.dtype, epilogue, wide);
        match stores {
            Stores::Results => epilogue != Epilogue::Winner,
            Stores::Packs => columns || self.bunches_fill_packs(),
            Stores::Seams => columns && !team && !wide,
        }
    }

    /// Whether the results of bunches of short rows are whole packs.
    fn bunches_fill_packs(&self) -> bool {
        let exchanged =
            matches!(self.program, Program::Reduce { access: Access::ShortRows { exchanged: true, .. }, .. });
        let Some(bunches) = self.bunches().filter(|_| !exchanged) else { return false };
        match bunches.epilogue {
            Epilogue::Value => bunches.fill_result_packs(self.dtype.bytes()),
            Epilogue::Index => bunches.fill_result_packs(if self.has(Override::IndexWords(1)) { 4 } else { 8 }),
            _ => false,
        }
    }

    /// Whether there is such a shader: not everything that can be named was written, or is planned.
    pub fn exists(&self) -> bool {
        match self.program {
            Program::Reduce { access, team, epilogue, stores, operator } => {
                stored(operator, epilogue, false)
                    && self.stores(access, team, epilogue, stores)
                    && (epilogue != Epilogue::Ones || writes(access, team))
                    && match access {
                        Access::Rows | Access::Strided | Access::Columns => true,
                        Access::ShortRows { rows, exchanged, .. } => {
                            !team
                                && (!exchanged || epilogue == Epilogue::Index && rows > 1)
                                && epilogue != Epilogue::Record
                                && self.bunches().is_some()
                        }
                    }
            }
            Program::Merge { operator, team, epilogue } => {
                stored(operator, epilogue, true) && (epilogue != Epilogue::Ones || team)
            }
            Program::MaxPacks { operands, pairs, .. } => {
                let any = self.program.paired_operands().next().is_some();
                operands <= u32::BITS && pairs == any && !(pairs && self.shared_buffers)
            }
            Program::MaxElements { operands } => operands <= u32::BITS,
            Program::MaxShortRows { operands, len, part, .. } => {
                operands <= u32::BITS
                    && (2..=LONGEST_WRITTEN_ROW).contains(&len.into())
                    && part > 0
                    && len.is_multiple_of(part)
            }
            Program::HardmaxWriteShortRows { len } => (2..=LONGEST_WRITTEN_ROW).contains(&len.into()),
            Program::HardmaxWriteColumns { stores, narrow } => {
                let as_wide = narrow || self.dtype.bytes() == 4; // as elements, so that packs of winners begin anywhere
                (!narrow || self.dtype.bytes() < 4)
                    && match stores {
                        Stores::Results => !narrow,
                        Stores::Packs => as_wide || !self.has(Override::Ragged),
                        Stores::Seams => as_wide,
                    }
            }
            Program::Fill { .. } | Program::HardmaxWriteRaggedColumns | Program::HardmaxWriteRows { .. } => true,
            Program::HardmaxWriteLines => self.dtype.bytes() < 8,
        }
    }
}

/// Whether a kernel, or one that merges, may store that.
fn stored(operator: Operator, epilogue: Epilogue, merges: bool) -> bool {
    match operator {
        Operator::ReduceMax => epilogue == Epilogue::Value || epilogue == Epilogue::Record && !merges,
        Operator::ArgMax => {
            epilogue != Epilogue::Value && !(merges && matches!(epilogue, Epilogue::Record | Epilogue::Winner))
        }
    }
}

/// Whoever finds a slice's winner writes it: teams or, by themselves, invocations that take bunches or units of some slices.
fn writes(access: Access, team: bool) -> bool {
    match access {
        Access::Rows => team,
        Access::Strided | Access::ShortRows { .. } => !team,
        Access::Columns => false,
    }
}

impl Program {
    /// The bindings of the words of a Max's operands whose packs are bound, too, and which operands these are.
    pub(crate) fn paired_operands(self) -> impl Iterator<Item = (u32, u32)> {
        let (operands, paired) = match self {
            Program::MaxPacks { operands, splats, shifted, pairs: true } => {
                (operands.min(u32::BITS), shifted & !splats)
            }
            _ => (0, 0),
        };
        let numbers = (0..operands).filter(move |n| paired >> n & 1 == 1);
        (FIRST_OPERAND + operands..).zip(numbers)
    }

    /// Whether it reads or writes whole packs.
    pub const fn takes_packs(self) -> bool {
        match self {
            Program::Reduce { access, .. } => !matches!(access, Access::Strided),
            Program::Fill { packs } | Program::HardmaxWriteRows { packs } => packs,
            Program::HardmaxWriteColumns { stores, .. } => matches!(stores, Stores::Packs),
            Program::HardmaxWriteRaggedColumns
            | Program::HardmaxWriteLines
            | Program::HardmaxWriteShortRows { .. }
            | Program::MaxPacks { .. }
            | Program::MaxShortRows { .. } => true,
            Program::Merge { epilogue, .. } => matches!(epilogue, Epilogue::Ones),
            Program::MaxElements { .. } => false,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::ReduceMax => "reduce_max",
            Operator::ArgMax => "arg_max",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Access::Rows => f.write_str("rows"),
            Access::Columns => f.write_str("columns"),
            Access::Strided => f.write_str("strided"),
            Access::ShortRows { len, columns, rows, exchanged } => {
                let columns = if *columns > 1 { format!(" in {columns} columns") } else { String::new() };
                write!(f, "rows of {len}{columns} by {rows}{}", if *exchanged { ", exchanged" } else { "" })
            }
        }
    }
}

impl fmt::Display for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Epilogue::Record => "record",
            Epilogue::Value => "value",
            Epilogue::Index => "index",
            Epilogue::Both => "both",
            Epilogue::Winner => "winner",
            Epilogue::Ones => "ones",
        })
    }
}

impl fmt::Display for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stores::Results => "",
            Stores::Packs => " in packs",
            Stores::Seams => " of seams",
        })
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.program {
            Program::Fill { packs } => write!(f, "fill {}{}", self.dtype, if packs { " in packs" } else { "" })?,
            Program::Reduce { operator, access, epilogue, stores, .. } => {
                write!(f, "{operator} {access} {} -> {epilogue}{stores}", self.dtype)?;
            }
            Program::Merge { operator, epilogue, .. } => {
                write!(f, "{operator} merge {} -> {epilogue}", self.dtype)?;
            }
            Program::HardmaxWriteColumns { stores, narrow } => {
                let narrow = if narrow { " narrow winners" } else { "" };
                write!(f, "hardmax_write_columns{narrow} {}{stores}", self.dtype)?;
            }
            Program::HardmaxWriteRows { packs } => {
                write!(f, "hardmax_write_rows {}{}", self.dtype, if packs { " in packs" } else { "" })?;
            }
            Program::HardmaxWriteRaggedColumns => write!(f, "hardmax_write_ragged_columns {}", self.dtype)?,
            Program::HardmaxWriteLines => write!(f, "hardmax_write_lines {}", self.dtype)?,
            Program::HardmaxWriteShortRows { len } => write!(f, "hardmax_write_short_rows of {len} {}", self.dtype)?,
            Program::MaxPacks { operands, splats, shifted, pairs } => {
                let (splats, shifted) = (splats.count_ones(), shifted.count_ones());
                write!(f, "max_packs {} of {operands}, {splats} splat, {shifted} shifted", self.dtype)?;
                f.write_str(if pairs { " in pairs" } else { "" })?;
            }
            Program::MaxShortRows { operands, len, of_rows, of_columns, repeated, part, shifted } => {
                let [of_rows, of_columns, repeated, shifted] =
                    [of_rows, of_columns, repeated, shifted].map(u32::count_ones);
                write!(f, "max_short_rows of {len} {} of {operands}, ", self.dtype)?;
                write!(f, "{of_rows} of rows, {of_columns} of columns, {shifted} shifted")?;
                if repeated > 0 {
                    write!(f, ", {repeated} repeated after {part}")?;
                }
            }
            Program::MaxElements { operands } => write!(f, "max_elements {} of {operands}", self.dtype)?,
        }
        for own in &self.overrides {
            write!(f, " {}={}", own.name(), own.value())?;
        }
        let marks = [(self.int64, " int64"), (self.shared_buffers, " shared_buffers")];
        marks.into_iter().filter(|(is_so, _)| *is_so).try_for_each(|(_, mark)| f.write_str(mark))
    }
}
