use std::fmt;

use crate::DType;

/// A shader: which program, over which storage type, with which constants.
///
/// Two passes with equal kernels share a pipeline, whatever their shapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kernel {
    /// The program.
    pub program: Program,
    /// The storage type.
    pub dtype: DType,
    /// The values of its `override` declarations; those not named keep their defaults.
    pub constants: Vec<Constant>,
    /// Whether 16-byte packs are bound as pairs of 64-bit integers, for devices with [`Limits::int64`](crate::Limits).
    pub int64: bool,
}

/// What a shader does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Program {
    /// Writes one element everywhere.
    Fill,
    /// Reduces elements.
    Reduce {
        /// To values or to positions.
        operator: Operator,
        /// How it comes by its elements.
        access: Access,
        /// Whether several invocations share a task.
        team: bool,
        /// What it writes.
        store: Store,
    },
    /// Puts records together.
    Merge {
        /// Of values or of positions.
        operator: Operator,
        /// Whether several invocations share an output.
        team: bool,
        /// What it writes.
        store: Store,
    },
    /// Hardmax once the winners are known, of slices that stand side by side.
    HardmaxWriteColumns,
    /// The same of slices that follow one another.
    HardmaxWriteRows {
        /// Whether slices are whole packs, and are written as such.
        packs: bool,
    },
    /// Max of operands that run along the output's rows in whole packs, or have one element for all of a row.
    MaxPacks {
        /// Operands that one dispatch reads.
        operands: u32,
        /// Bit n is set if operand n has one element for all of a row.
        splats: u32,
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
}

/// What a reducing kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Store {
    /// Records, to scratch: what is known of a part of an output's elements.
    Record,
    /// Values.
    Value,
    /// Indices.
    Index,
    /// Values and indices.
    Both,
}

impl Store {
    /// The results that share one written unit: as many values as fill a word, else one.
    pub(crate) const fn lanes(self, dtype: DType) -> u64 {
        match self {
            Store::Value | Store::Both => dtype.lanes(),
            Store::Record | Store::Index => 1,
        }
    }
}

/// The value of one `override` declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Constant {
    /// Invocations of a workgroup.
    Group(u32),
    /// Invocations that share a task, a power of two.
    Team(u32),
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
    /// A run, or a row of columns, may begin or end within a pack.
    Ragged,
    /// A column kernel's invocations take four packs side by side.
    Wide,
    /// The rows of a column kernel lie far apart: what they begin with is asked for ahead of the rest.
    Prefetch,
}

impl Constant {
    /// The name in the shader.
    pub const fn name(self) -> &'static str {
        match self {
            Constant::Group(_) => "GROUP",
            Constant::Team(_) => "TEAM",
            Constant::NansIgnored => "NANS_IGNORED",
            Constant::Last => "LAST",
            Constant::IndexWords(_) => "INDEX_WORDS",
            Constant::Accumulate => "ACCUMULATE",
            Constant::BoundsChecked => "BOUNDS_CHECKED",
            Constant::PreserveEdges => "PRESERVE_EDGES",
            Constant::Split => "SPLIT",
            Constant::Runs => "RUNS",
            Constant::Ragged => "RAGGED",
            Constant::Wide => "WIDE",
            Constant::Prefetch => "PREFETCH",
        }
    }

    /// The value, as WebGPU takes it; 1 for true.
    pub const fn value(self) -> u32 {
        match self {
            Constant::Group(n) | Constant::Team(n) | Constant::IndexWords(n) => n,
            Constant::NansIgnored
            | Constant::Last
            | Constant::Accumulate
            | Constant::BoundsChecked
            | Constant::PreserveEdges
            | Constant::Split
            | Constant::Runs
            | Constant::Ragged
            | Constant::Wide
            | Constant::Prefetch => 1,
        }
    }
}

impl Kernel {
    /// The entry point of every shader.
    pub const ENTRY_POINT: &'static str = "main";

    /// With packs bound as pairs of 64-bit integers, if that is asked for and there are packs.
    pub(crate) fn new(program: Program, dtype: DType, constants: Vec<Constant>, int64: bool) -> Kernel {
        Kernel { program, dtype, constants, int64: int64 && program.takes_packs() }
    }

    /// Whether there is such a shader: not everything that can be named was written, or is planned.
    pub fn exists(&self) -> bool {
        let stored = |operator, store, merges: bool| match operator {
            Operator::ReduceMax => store == Store::Value || store == Store::Record && !merges,
            Operator::ArgMax => store != Store::Value && !(store == Store::Record && merges),
        };
        match self.program {
            Program::Reduce { operator, access, team, store } => {
                let by_pack = operator == Operator::ReduceMax || self.dtype.bytes() < 8;
                stored(operator, store, false) && (access != Access::Columns || by_pack && !team)
            }
            Program::Merge { operator, store, .. } => stored(operator, store, true),
            Program::MaxPacks { operands, .. } | Program::MaxElements { operands } => operands <= u32::BITS,
            Program::Fill | Program::HardmaxWriteColumns | Program::HardmaxWriteRows { .. } => true,
        }
    }
}

impl Program {
    /// Whether it reads or writes whole packs.
    pub const fn takes_packs(self) -> bool {
        match self {
            Program::Reduce { access, .. } => matches!(access, Access::Rows | Access::Columns),
            Program::HardmaxWriteRows { packs } => packs,
            Program::MaxPacks { .. } => true,
            Program::Fill | Program::Merge { .. } | Program::HardmaxWriteColumns | Program::MaxElements { .. } => false,
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

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.program {
            Program::Fill => write!(f, "fill {}", self.dtype)?,
            Program::Reduce { operator, access, store, .. } => {
                let (access, store) = (lowercase(access), lowercase(store));
                write!(f, "{operator} {access} {} -> {store}", self.dtype)?;
            }
            Program::Merge { operator, store, .. } => {
                write!(f, "{operator} merge {} -> {}", self.dtype, lowercase(store))?;
            }
            Program::HardmaxWriteColumns => write!(f, "hardmax_write_columns {}", self.dtype)?,
            Program::HardmaxWriteRows { packs } => {
                write!(f, "hardmax_write_rows {}{}", self.dtype, if packs { " in packs" } else { "" })?;
            }
            Program::MaxPacks { operands, splats } => {
                write!(f, "max_packs {} of {operands}, {} splat", self.dtype, splats.count_ones())?;
            }
            Program::MaxElements { operands } => write!(f, "max_elements {} of {operands}", self.dtype)?,
        }
        for constant in &self.constants {
            write!(f, " {}={}", constant.name(), constant.value())?;
        }
        if self.int64 { f.write_str(" int64") } else { Ok(()) }
    }
}

fn lowercase(name: impl fmt::Debug) -> String {
    format!("{name:?}").to_ascii_lowercase()
}
