use std::fmt;

use super::text::shader;
use super::tuning::Tuning;
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
    /// Reduces.
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
    /// Hardmax of slices that follow one another, in one dispatch.
    HardmaxRows {
        /// How it comes by its elements.
        access: Access,
        /// Whether several invocations share a slice.
        team: bool,
        /// Whether slices are whole packs, and are written as such.
        packs: bool,
    },
    /// Hardmax of slices that stand side by side, in one dispatch.
    HardmaxColumns,
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
    /// Partial results of a split reduction.
    Finish,
    /// Partial results of the pieces of a reduction beyond one binding; positions have 64 bits.
    FinishPieces,
}

impl Access {
    const fn name(self) -> &'static str {
        match self {
            Access::Rows => "rows",
            Access::Columns => "columns",
            Access::Strided => "strided",
            Access::Finish => "finish",
            Access::FinishPieces => "finish_pieces",
        }
    }
}

/// What a reducing kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Store {
    /// Partial results, to scratch.
    Partial,
    /// Partial results of a piece of a larger reduction, to scratch.
    Piece,
    /// Values.
    Value,
    /// Indices.
    Index,
    /// Values and indices.
    Both,
}

impl Store {
    /// The results that share one written unit: as many values as fill a word, else one.
    pub(super) const fn lanes(self, dtype: DType) -> u64 {
        match self {
            Store::Value | Store::Both => dtype.lanes(),
            Store::Partial | Store::Piece | Store::Index => 1,
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
    /// The output holds a result already, of earlier dispatches.
    Continues,
    /// What is needed to write the output comes in several windows: what lies outside of this one is left to others.
    Guarded,
    /// Elements before or after this dispatch's are kept as they are.
    Keeps,
    /// An output has more than one chunk.
    Split,
    /// An output has more than one run.
    Runs,
    /// A run, or a row of columns, may begin or end within a pack.
    Ragged,
    /// A column kernel's invocations take four packs side by side.
    Wide,
    /// The rows of a column kernel lie far apart: what they begin with is asked for ahead of the rest.
    Far,
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
            Constant::Continues => "CONTINUES",
            Constant::Guarded => "GUARDED",
            Constant::Keeps => "KEEPS",
            Constant::Split => "SPLIT",
            Constant::Runs => "RUNS",
            Constant::Ragged => "RAGGED",
            Constant::Wide => "WIDE",
            Constant::Far => "FAR",
        }
    }

    /// The value, as WebGPU takes it; 1 for true.
    pub const fn value(self) -> u32 {
        match self {
            Constant::Group(n) | Constant::Team(n) | Constant::IndexWords(n) => n,
            Constant::NansIgnored
            | Constant::Last
            | Constant::Continues
            | Constant::Guarded
            | Constant::Keeps
            | Constant::Split
            | Constant::Runs
            | Constant::Ragged
            | Constant::Wide
            | Constant::Far => 1,
        }
    }
}

impl Kernel {
    /// The entry point of every shader.
    pub const ENTRY_POINT: &'static str = "main";

    /// With packs as the policy has them.
    pub(super) fn new(program: Program, dtype: DType, constants: Vec<Constant>, tuning: &Tuning) -> Kernel {
        Kernel { program, dtype, constants, int64: tuning.int64 && program.takes_packs() }
    }

    /// The complete WGSL text. It declares what it needs and no more: `params` at binding 0, then the pass's bindings
    /// ([`Kernel::bindings`]). Of Max's operands it takes the first 32: [`Plan::check`](crate::Plan::check) allows no more.
    pub fn wgsl(&self) -> String {
        let parts: Vec<&str> = match self.program {
            Program::Fill => vec![shader!("fill")],
            Program::Reduce { operator, access, team, store } => {
                let mut parts = self.reducing_parts(operator, access);
                match (access, team) {
                    (Access::Columns, _) => {} // has its own entry point
                    (_, false) => parts.extend([shader!("shared/main_solo"), shader!("shared/make_unit")]),
                    (_, true) => parts.extend([shader!("shared/team"), shader!("shared/main_team")]),
                }
                parts.extend(match (store, operator) {
                    (Store::Partial, _) => vec![shader!("shared/store_partial")],
                    (Store::Piece, Operator::ReduceMax) => {
                        vec![shader!("shared/place"), shader!("shared/store_piece_value")]
                    }
                    (Store::Piece, Operator::ArgMax) => {
                        vec![shader!("shared/place"), shader!("shared/store_piece_position")]
                    }
                    (Store::Value, _) => vec![shader!("shared/store_value")],
                    (Store::Index, _) => vec![shader!("shared/store_index")],
                    (Store::Both, _) => vec![shader!("shared/store_both")],
                });
                parts
            }
            Program::HardmaxRows { access, team, packs } => {
                let mut parts = self.reducing_parts(Operator::ArgMax, access);
                if packs && access != Access::Rows {
                    parts.push(self.pack_part());
                }
                parts.push(ones_part(packs));
                match team {
                    false => parts.extend([shader!("shared/main_solo"), shader!("hardmax_solo")]),
                    true => parts.extend([shader!("shared/team"), shader!("hardmax_team")]),
                }
                parts
            }
            Program::HardmaxColumns => {
                let mut parts = self.reducing_parts(Operator::ArgMax, Access::Strided);
                parts.push(shader!("hardmax_columns"));
                parts
            }
            Program::HardmaxWriteRows { packs } => {
                let mut parts = type_parts(self.dtype);
                if packs {
                    parts.push(self.pack_part());
                }
                parts.extend([ones_part(packs), shader!("shared/winners"), shader!("hardmax_write_rows")]);
                parts
            }
            Program::HardmaxWriteColumns => {
                [type_parts(self.dtype), vec![shader!("shared/winners"), shader!("hardmax_write_columns")]].concat()
            }
            Program::MaxPacks { .. } => {
                let packs = [self.pack_part(), shader!("shared/broadcast"), shader!("max_packs")];
                [&type_parts(self.dtype)[..], &packs].concat()
            }
            Program::MaxElements { .. } => {
                [type_parts(self.dtype), vec![shader!("shared/broadcast"), shader!("max_elements")]].concat()
            }
        };
        let operands = match self.program {
            Program::MaxPacks { operands, splats } => pack_operands(self.dtype, operands.min(u32::BITS), splats),
            Program::MaxElements { operands } => element_operands(self.dtype, operands.min(u32::BITS)),
            _ => String::new(),
        };
        [shader!("shared/grid"), &parts.join("\n"), &operands].join("\n")
    }

    fn reducing_parts(&self, operator: Operator, access: Access) -> Vec<&'static str> {
        let mut parts = type_parts(self.dtype);
        parts.push(shader!("shared/reduction"));
        parts.push(match (operator, access) {
            (Operator::ReduceMax, _) => shader!("shared/best_value"),
            (Operator::ArgMax, Access::FinishPieces) => shader!("shared/best_place"),
            (Operator::ArgMax, _) => shader!("shared/best_position"),
        });
        parts.extend(self.input_parts(access));
        parts.push(match (operator, access) {
            (Operator::ReduceMax, Access::Rows) => shader!("reduce_max_rows"),
            (Operator::ReduceMax, Access::Columns) => shader!("reduce_max_columns"),
            (Operator::ReduceMax, Access::Strided) => shader!("reduce_max_strided"),
            (Operator::ReduceMax, Access::Finish | Access::FinishPieces) => shader!("reduce_max_finish"),
            (Operator::ArgMax, Access::Rows) => shader!("arg_max_rows"),
            (Operator::ArgMax, Access::Columns) => shader!("arg_max_columns"),
            (Operator::ArgMax, Access::Strided) => shader!("arg_max_strided"),
            (Operator::ArgMax, Access::Finish | Access::FinishPieces) => shader!("arg_max_finish"),
        });
        parts
    }

    fn input_parts(&self, access: Access) -> Vec<&'static str> {
        let words = if self.dtype.bytes() == 8 { shader!("shared/input_wide") } else { shader!("shared/input_narrow") };
        let packs = [words, self.pack_part(), shader!("shared/input_packs")];
        let ahead = if self.int64 { shader!("shared/ahead_int64") } else { shader!("shared/ahead") };
        match access {
            Access::Rows => [&packs[..], &[shader!("shared/input_tiles")]].concat(),
            Access::Columns => [&packs[..], &[ahead, shader!("shared/input_columns")]].concat(),
            Access::Strided => vec![words],
            Access::Finish | Access::FinishPieces => vec![],
        }
    }

    fn pack_part(&self) -> &'static str {
        if self.int64 { shader!("shared/packs_int64") } else { shader!("shared/packs") }
    }
}

impl Program {
    /// Whether it reads or writes whole packs.
    const fn takes_packs(self) -> bool {
        match self {
            Program::Reduce { access, .. } => matches!(access, Access::Rows | Access::Columns),
            Program::HardmaxRows { access, packs, .. } => packs || matches!(access, Access::Rows | Access::Columns),
            Program::HardmaxWriteRows { packs } => packs,
            Program::MaxPacks { .. } => true,
            Program::Fill | Program::HardmaxColumns | Program::HardmaxWriteColumns | Program::MaxElements { .. } => {
                false
            }
        }
    }
}

/// How a Hardmax writes its output.
fn ones_part(packs: bool) -> &'static str {
    if packs { shader!("shared/ones_packs") } else { shader!("shared/ones_units") }
}

/// The binding of a Max kernel's first operand; 0 holds the parameters and 1 the output.
pub(super) const FIRST_OPERAND: u32 = 2;

/// The declarations of a Max kernel's operands, and how they are folded: one line each, since WGSL has no arrays of
/// bindings.
fn pack_operands(dtype: DType, operands: u32, splats: u32) -> String {
    let mut declarations = format!("\nconst OPERANDS = {operands}u;\n");
    let mut addresses = String::new();
    let mut runs = String::new();
    let mut constants = String::new();
    for n in 0..operands {
        let is_splat = splats >> n & 1 == 1;
        let is_first = if is_splat { constants.is_empty() } else { splats == 0 && runs.is_empty() };
        let fold = |pack: String| match is_first {
            true => format!("    m = maxima_of({pack});\n"),
            false => format!("    m = fold(m, {pack});\n"),
        };
        let element = if is_splat { "u32" } else { "BoundPack" };
        declarations += &operand(n, element);
        match (is_splat, dtype.bytes() == 8) {
            (false, _) => {
                addresses += &format!("    packs[{n}] /= PACK_ELEMENTS;\n");
                runs += &fold(format!("words_of(operand{n}[packs[{n}] + column])"));
            }
            (true, false) => {
                constants += &fold(format!("splat(operand{n}[at[{n}] / LANES], at[{n}] % LANES)"));
            }
            (true, true) => {
                constants +=
                    &format!("    let e{n} = vec2<u32>(operand{n}[2u * at[{n}]], operand{n}[2u * at[{n}] + 1u]);\n");
                constants += &fold(format!("vec4<u32>(e{n}, e{n})"));
            }
        }
    }
    format!(
        "{declarations}{}
fn fold_splats(at: Addresses) -> Maxima {{
    var m = no_maxima();
{constants}    return m;
}}
fn pack_addresses(at: Addresses) -> Addresses {{
    var packs = at;
{addresses}    return packs;
}}
fn fold_runs(before: Maxima, packs: Addresses, column: u32) -> Maxima {{
    var m = before;
{runs}    return m;
}}
",
        longest_operand(operands)
    )
}

fn element_operands(dtype: DType, operands: u32) -> String {
    let mut declarations = format!("\nconst OPERANDS = {operands}u;\n");
    let mut folds = String::new();
    for n in 0..operands {
        declarations += &operand(n, "u32");
        folds += &format!("    let e{n} = at[{n}] + column * params.operands[{n}].row_stride;\n");
        let (elements, element) = match dtype.bytes() {
            8 => (
                format!("arrayLength(&operand{n}) / 2u"),
                format!("key_of(vec2<u32>(operand{n}[2u * e{n}], operand{n}[2u * e{n} + 1u]))"),
            ),
            _ => (
                format!("arrayLength(&operand{n}) * LANES"),
                format!("word_key(operand{n}[e{n} / LANES], e{n} % LANES)"),
            ),
        };
        folds += &format!("    if (!GUARDED || e{n} < {elements}) {{ key = key_max(key, {element}); }}\n");
    }
    format!(
        "{declarations}{}
fn fold_elements(at: Addresses, column: u32) -> Key {{
    var key = LEAST_KEY;
{folds}    return key;
}}
",
        longest_operand(operands)
    )
}

/// What asks for all lengths: see `shared/grid.wgsl`.
fn longest_operand(operands: u32) -> String {
    let longer = |lengths: String, n| format!("max({lengths}, arrayLength(&operand{n}))");
    let longest = (0..operands).fold("0u".to_string(), longer);
    format!("fn longest_operand() -> u32 {{ return {longest}; }}\n")
}

fn operand(n: u32, element: &str) -> String {
    format!("@group(0) @binding({}) var<storage, read> operand{n}: array<{element}>;\n", FIRST_OPERAND + n)
}

/// What a storage type is made of: its own constants, its class, and its width.
fn type_parts(dtype: DType) -> Vec<&'static str> {
    let constants = match dtype {
        DType::F32 => shader!("types/f32"),
        DType::F16 => shader!("types/f16"),
        DType::Bf16 => shader!("types/bf16"),
        DType::F64 => shader!("types/f64"),
        DType::I8 => shader!("types/i8"),
        DType::I16 => shader!("types/i16"),
        DType::I32 => shader!("types/i32"),
        DType::I64 => shader!("types/i64"),
        DType::U8 => shader!("types/u8"),
        DType::U16 => shader!("types/u16"),
        DType::U32 => shader!("types/u32"),
        DType::U64 => shader!("types/u64"),
        DType::Bool => shader!("types/bool"),
    };
    let class: &[&str] = match (dtype.is_float(), dtype.bytes()) {
        (false, 1) => &[shader!("shared/int8"), shader!("shared/int"), shader!("shared/narrow")],
        (false, 2) => &[shader!("shared/int16"), shader!("shared/int"), shader!("shared/narrow")],
        (false, 4) => &[shader!("shared/int32"), shader!("shared/int"), shader!("shared/narrow")],
        (false, _) => &[shader!("shared/int64"), shader!("shared/wide")],
        (true, 2) => &[shader!("shared/float16"), shader!("shared/float"), shader!("shared/narrow")],
        (true, 4) => &[shader!("shared/float32"), shader!("shared/float"), shader!("shared/narrow")],
        (true, _) => &[shader!("shared/float64"), shader!("shared/wide")],
    };
    [&[constants], class].concat()
}

const fn in_packs(packs: bool) -> &'static str {
    if packs { " in packs" } else { "" }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.program {
            Program::Fill => write!(f, "fill {}", self.dtype)?,
            Program::Reduce { operator, access, store, .. } => {
                let operator = match operator {
                    Operator::ReduceMax => "reduce_max",
                    Operator::ArgMax => "arg_max",
                };
                let store = format!("{store:?}").to_ascii_lowercase();
                write!(f, "{operator}_{} {} -> {store}", access.name(), self.dtype)?;
            }
            Program::HardmaxRows { access, packs, .. } => {
                write!(f, "hardmax_rows {} ({}){}", self.dtype, access.name(), in_packs(packs))?;
            }
            Program::HardmaxColumns => write!(f, "hardmax_columns {}", self.dtype)?,
            Program::HardmaxWriteColumns => write!(f, "hardmax_write_columns {}", self.dtype)?,
            Program::HardmaxWriteRows { packs } => write!(f, "hardmax_write_rows {}{}", self.dtype, in_packs(packs))?,
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
