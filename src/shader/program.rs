//! Programs: what shaders do, and the values of their `override` declarations.

use std::fmt;
use std::ops::Range;

use crate::DType;

/// What a shader does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Program {
    /// Writes one element everywhere, of whatever type, as words.
    Fill {
        /// Packs at once, and not words.
        packs: bool,
    },
    /// Reduces elements.
    Reduce {
        /// How it comes by its elements.
        access: Access,
        /// What it writes.
        epilogue: Epilogue,
        /// What it stores of columns, or of bunches of short rows.
        stores: Stores,
    },
    /// Puts records together.
    Merge {
        /// What it writes.
        epilogue: Epilogue,
    },
    /// Hardmax once the winners are known, in packs.
    HardmaxWrite(HardmaxWriter),
    /// The same over zeros: a one for each winner.
    HardmaxOnes {
        /// Whether winners are as wide as elements of 8 or 16 bits, and not words.
        narrow: bool,
    },
    /// Max.
    Max {
        /// Operands that one dispatch reads.
        operands: MaxOperands,
        /// How it comes by their elements.
        access: MaxAccess,
    },
}

/// What writes packs of a Hardmax whose winners are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum HardmaxWriter {
    /// Slices that stand side by side, whose rows are whole packs.
    PackedColumns {
        /// Whether winners are as wide as elements of 8 or 16 bits, and not words.
        narrow: bool,
    },
    /// The same where rows end within packs, and winners are as wide as elements: the packs that lie in one row.
    InnerPacks,
    /// Then the packs in which rows end.
    Seams,
    /// Or, where rows are no shorter than a pack, packs one after another, whatever lies in them.
    RaggedColumns {
        /// Whether it takes winners in packs, as wide as elements of 8, 16 or 32 bits, and not words one by one.
        packed: bool,
    },
    /// Slices that follow one another.
    Rows,
    /// Slices so short that many of them share packs.
    ShortRows {
        /// Elements of a slice.
        len: u32,
    },
}

/// How a Max comes by its operands' elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum MaxAccess {
    /// In whole packs: operands run along the output's rows, or have one element for all of a row.
    Packs {
        /// Whether packs that begin anywhere come out of two whole ones, which are bound beside the words.
        pairs: bool,
    },
    /// In bunches of rows so short that many of them share packs.
    ShortRows {
        /// Elements of a row.
        len: u32,
    },
    /// In tiles of columns, of four packs side by side or, where neighbours spread, below one another, whose operands lie as the output
    /// does or have the same elements in every row.
    Columns,
    /// Element by element, whatever the operands are.
    Elements,
}

/// The operands of a Max, and what they have of the output's rows, where its kernel asks for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MaxOperands {
    /// How many there are.
    pub count: u32,
    /// Bit n is set if operand n has one element for all of a row.
    pub of_rows: u32,
    /// Bit n is set if operand n has the same elements in row after row.
    pub of_columns: u32,
    /// Bit n is set if operand n's packs begin anywhere, and are shifted out of words.
    pub shifted: u32,
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
        /// What follows from end to end.
        block: RowBlock,
        /// Rows of a bunch, which an invocation takes at once.
        rows: u64,
        /// Whether a workgroup's positions meet in workgroup memory, so that neighbours store what lies side by side.
        exchanged: bool,
        /// Whether bunches follow one another from end to end, one for each invocation: those of a workgroup are loaded by neighbours
        /// side by side, and found in workgroup memory.
        staged: bool,
    },
}

/// A short row, or a block of some that lie side by side and take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RowBlock {
    /// Elements of a row.
    pub len: u64,
    /// Rows side by side; one where each lies in one piece.
    pub columns: u64,
    /// Elements of a row in a turn: of one in one piece all.
    pub turn: u64,
}

impl RowBlock {
    /// A row in one piece.
    pub(crate) fn row(len: u64) -> RowBlock {
        RowBlock { len, columns: 1, turn: len }
    }

    pub(crate) fn elements(&self) -> u64 {
        self.len.saturating_mul(self.columns)
    }

    /// Whether rows have two dimensions.
    pub(crate) fn is_window(&self) -> bool {
        (2..self.len).contains(&self.turn)
    }
}

/// What a reducing kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Epilogue {
    /// Records, to scratch: what an operator knows of a part of an output's elements.
    Record(Operator),
    /// Values.
    Value,
    /// Indices.
    Index,
    /// Values and indices.
    Both,
    /// Positions as wide as elements of 8 or 16 bits: a Hardmax's winners.
    Winner,
    /// Ones and zeros: the slices of a Hardmax, which follow one another in whole packs or bunches of them.
    Ones,
}

/// What a kernel stores of the columns that it reduces, or of bunches of short rows. Every other kernel stores results.
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
    /// The operator whose results these are: with positions, or of values alone.
    pub const fn operator(self) -> Operator {
        match self {
            Epilogue::Record(operator) => operator,
            Epilogue::Value => Operator::ReduceMax,
            Epilogue::Index | Epilogue::Both | Epilogue::Winner | Epilogue::Ones => Operator::ArgMax,
        }
    }

    /// Whether it is not known yet what comes of it.
    pub(crate) const fn is_record(self) -> bool {
        matches!(self, Epilogue::Record(_))
    }

    /// The results that share one written unit: as many values as fill a word, else one.
    pub(crate) const fn lanes(self, dtype: DType) -> u64 {
        match self {
            Epilogue::Value | Epilogue::Both | Epilogue::Winner => dtype.lanes(),
            Epilogue::Record(_) | Epilogue::Index | Epilogue::Ones => 1,
        }
    }
}

/// The longest rows that a reduction takes in bunches: beyond, packs of one row are as fast.
pub(crate) const LONGEST_SHORT_ROW: u64 = 64;

/// The elements of the largest blocks that it takes in bunches: larger ones are no faster, and their text takes long to compile.
pub(crate) const LARGEST_BLOCK: u64 = 512;

/// The longest rows that are written in bunches: beyond, text grows, and whole packs of one row are as fast.
pub(crate) const LONGEST_WRITTEN_ROW: u64 = 32;

/// The packs that an invocation of Max takes at once: side by side of columns, and those apart that spread ones take.
pub(crate) const TILE_PACKS: u64 = 4;

/// The binding of a Max kernel's first operand; 0 holds the parameters and 1 the output.
pub(crate) const FIRST_OPERAND: u32 = 2;

impl MaxOperands {
    /// So many, of which nothing is asked.
    pub const fn new(count: u32) -> MaxOperands {
        MaxOperands { count, of_rows: 0, of_columns: 0, shifted: 0 }
    }

    /// Their numbers: a mask has room for no more.
    pub(crate) fn numbers(self) -> Range<u32> {
        0..self.count.min(u32::BITS)
    }

    /// A bit for each of which words are bound, and not packs.
    pub(crate) fn words(self, access: MaxAccess) -> u32 {
        match access {
            MaxAccess::Packs { pairs: true } => self.of_rows,
            MaxAccess::Packs { pairs: false } => self.of_rows | self.shifted,
            MaxAccess::ShortRows { .. } | MaxAccess::Columns => self.of_columns | self.shifted,
            MaxAccess::Elements => u32::MAX,
        }
    }

    /// Whether nothing is said of them that such a kernel does not ask for.
    pub(crate) fn are_asked_for(self, access: MaxAccess) -> bool {
        match access {
            MaxAccess::Packs { .. } => self.of_columns == 0,
            MaxAccess::ShortRows { .. } => true,
            MaxAccess::Columns => self.of_rows | self.shifted == 0,
            MaxAccess::Elements => self == MaxOperands::new(self.count),
        }
    }
}

impl Program {
    /// The bindings of the words of a Max's operands whose packs are bound, too, and which operands these are.
    pub(crate) fn paired_operands(self) -> impl Iterator<Item = (u32, u32)> {
        let operands = match self {
            Program::Max { operands, access: MaxAccess::Packs { pairs: true } } => operands,
            _ => MaxOperands::new(0),
        };
        let paired = operands.shifted & !operands.of_rows;
        let Range { end, .. } = operands.numbers();
        (FIRST_OPERAND + end..).zip(operands.numbers().filter(move |n| paired >> n & 1 == 1))
    }

    /// Whether it reads or writes whole packs.
    pub const fn takes_packs(self) -> bool {
        match self {
            Program::Reduce { access, .. } => !matches!(access, Access::Strided),
            Program::Fill { packs } => packs,
            Program::HardmaxOnes { .. } => false,
            Program::HardmaxWrite(HardmaxWriter::Seams) => false,
            Program::HardmaxWrite(_) => true,
            Program::Merge { epilogue, .. } => matches!(epilogue, Epilogue::Ones),
            Program::Max { access, .. } => !matches!(access, MaxAccess::Elements),
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
            Access::ShortRows { block, rows, exchanged, staged } => {
                let RowBlock { len, columns, turn } = block;
                let columns = if *columns > 1 { format!(" in {columns} columns") } else { String::new() };
                let turns = if block.is_window() { format!(" of {turn}") } else { String::new() };
                let staged = if *staged { ", staged" } else { "" };
                let exchanged = if *exchanged { ", exchanged" } else { "" };
                write!(f, "rows of {len}{columns}{turns} by {rows}{staged}{exchanged}")
            }
        }
    }
}

impl fmt::Display for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Epilogue::Record(_) => "record",
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

impl HardmaxWriter {
    /// With the type.
    pub(super) fn write(self, dtype: DType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, winners) = match self {
            HardmaxWriter::PackedColumns { narrow } => ("packed_columns", narrow_winners(narrow)),
            HardmaxWriter::InnerPacks => ("inner_packs", narrow_winners(dtype.bytes() < 4)),
            HardmaxWriter::Seams => ("seams", narrow_winners(dtype.bytes() < 4)),
            HardmaxWriter::RaggedColumns { packed: true } => ("ragged_columns", " packed winners"),
            HardmaxWriter::RaggedColumns { packed: false } => ("ragged_columns", ""),
            HardmaxWriter::Rows => ("rows", ""),
            HardmaxWriter::ShortRows { len } => return write!(f, "hardmax_write_short_rows of {len} {dtype}"),
        };
        write!(f, "hardmax_write_{what}{winners} {dtype}")
    }
}

/// What is said of winners as wide as elements.
pub(super) const fn narrow_winners(narrow: bool) -> &'static str {
    if narrow { " narrow winners" } else { "" }
}

impl MaxAccess {
    /// With the type and the number of operands.
    pub(super) fn write(self, operands: MaxOperands, dtype: DType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MaxOperands { count, of_rows, of_columns, shifted } = operands;
        let [of_rows, of_columns, shifted] = [of_rows, of_columns, shifted].map(u32::count_ones);
        match self {
            MaxAccess::Packs { pairs } => {
                write!(f, "max_packs {dtype} of {count}, {of_rows} splat, {shifted} shifted")?;
                f.write_str(if pairs { " in pairs" } else { "" })
            }
            MaxAccess::ShortRows { len } => {
                write!(f, "max_short_rows of {len} {dtype} of {count}, ")?;
                write!(f, "{of_rows} of rows, {of_columns} of columns, {shifted} shifted")
            }
            MaxAccess::Columns => write!(f, "max_columns {dtype} of {count}, {of_columns} of columns"),
            MaxAccess::Elements => write!(f, "max_elements {dtype} of {count}"),
        }
    }
}
