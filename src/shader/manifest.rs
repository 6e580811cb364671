//! The files of `shaders/`: for each what it declares, and for each program the files that it is made of.
//!
//! One table: the text is joined from it, bind group layouts are made from it, plans are checked against it. tests/shaders
//! holds it against naga's reading of the text, and each file against the names that it says it imports.

use super::column_blocks::block_text;
use super::operands::{ShortRows, column_operands, element_operands, pack_operands};
use super::short_rows::short_rows_of_ones;
use super::text::shader;
use super::{
    Access, Epilogue, FIRST_OPERAND, HardmaxWriter, Kernel, LONGEST_WRITTEN_ROW, MaxAccess, MaxShortRows, Operator,
    Override, Program, Stores,
};
use crate::DType;

/// A storage binding as a shader declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Declaration {
    /// Its number in group 0.
    pub binding: u32,
    /// Whether the shader writes there.
    pub writes: bool,
    /// Whether it is declared `read_write`, and not `read`: where the shader writes and, in a kernel of
    /// [shared buffers](Kernel::shared_buffers), everywhere.
    pub read_write: bool,
    /// Bytes of an element of its array: a binding has no fewer.
    pub element_bytes: u64,
    /// What it is there for.
    pub role: Role,
}

/// What a binding is there for, and so which slots may be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Elements to be read: an input's, an embedded operand's, or what is left to reduce in scratch.
    Operand,
    /// Elements to be written, of an output.
    Result,
    /// Whatever is written: an output, or values, winners and empty records that later dispatches take from scratch.
    Target,
    /// What dispatches leave for one another in scratch.
    Scratch,
    /// What is known of outputs: records in scratch, or an input's partials.
    Known,
}

/// A file of `shaders/`, and what it declares.
struct File {
    text: &'static str,
    bindings: &'static [FileBinding],
    /// The names of its `override` declarations.
    overrides: &'static [&'static str],
}

type Files = &'static [&'static File];

/// A binding of a file.
#[derive(Clone, Copy)]
struct FileBinding {
    binding: u32,
    writes: bool,
    element: ArrayElement,
    role: Role,
}

/// The elements of a binding's array.
#[derive(Clone, Copy)]
enum ArrayElement {
    Word,
    /// The smallest thing written to an output: a word, or an element of 64 bits.
    Unit,
    Pack,
}

const fn reads(binding: u32, element: ArrayElement, role: Role) -> FileBinding {
    FileBinding { binding, writes: false, element, role }
}

const fn writes(binding: u32, element: ArrayElement, role: Role) -> FileBinding {
    FileBinding { binding, writes: true, element, role }
}

/// The table. A file is there under the name that it has in `shaders/`.
macro_rules! files {
    ($($name:ident = $path:literal $(, binds [$($bound:expr),*])? $(, overrides [$($override:literal),*])?;)*) => {
        $(const $name: &File = &File {
            text: shader!($path),
            bindings: &[$($($bound),*)?],
            overrides: &[$($($override),*)?],
        };)*

        /// Every one of them.
        const FILES: Files = &[$($name),*];
    };
}

use ArrayElement::{Pack, Unit, Word};
use Role::{Known, Operand, Result, Scratch, Target};

files! {
    GRID = "lib/grid", overrides ["GROUP"];
    FILL = "fill", overrides ["NEIGHBOURS"];
    FILL_WORDS = "lib/fill_words", binds [writes(3, Word, Target)];
    FILL_PACKS = "lib/fill_packs", binds [writes(3, Pack, Target)], overrides ["ZEROS"];

    F32 = "types/f32";
    F16 = "types/f16";
    BF16 = "types/bf16";
    F64 = "types/f64";
    SIGNED = "types/signed";
    UNSIGNED = "types/unsigned";
    NARROW = "lib/narrow";
    WIDE = "lib/wide";
    INT = "lib/int";
    INT8 = "lib/int8";
    INT16 = "lib/int16";
    INT32 = "lib/int32";
    INT64 = "lib/int64";
    FLOAT = "lib/float", overrides ["NANS_IGNORED"];
    FLOAT16 = "lib/float16";
    FLOAT32 = "lib/float32";
    FLOAT64 = "lib/float64", overrides ["NANS_IGNORED"];

    REDUCTION = "lib/reduction", overrides ["SPLIT", "RUNS"];
    INPUT_WORDS = "lib/input_words", binds [reads(1, Word, Operand)];
    INPUT_WORDS_OF_PACKS = "lib/input_words_of_packs";
    WORDS = "lib/words";
    INPUT_NARROW = "lib/input_narrow", overrides ["WHOLE_WORDS"];
    INPUT_WIDE = "lib/input_wide";
    PACKS = "lib/packs";
    PACKS_INT64 = "lib/packs_int64";
    INPUT_PACKS = "lib/input_packs", binds [reads(2, Pack, Operand)], overrides ["RAGGED", "PAIRS"];
    AHEAD = "lib/ahead";
    AHEAD_INT64 = "lib/ahead_int64";
    INPUT_COLUMNS = "lib/input_columns", overrides ["PREFETCH"];
    REDUCE_ROWS = "reduce_rows", overrides ["RUN_MEMBERS", "FEW_PACKS", "FROM_WORDS"];
    REDUCE_COLUMNS = "reduce_columns", overrides ["COLUMN_PACKS"];
    COLUMN_ROWS = "lib/column_rows";
    COLUMN_TILES = "lib/column_tiles";
    MAIN_COLUMNS = "lib/main_columns", overrides ["NEIGHBOURS"];
    BLOCK_ROWS_AHEAD = "lib/block_rows_ahead";
    BLOCK_TILES = "lib/block_tiles";
    COLUMN_RESULTS = "lib/column_results";
    COLUMNS_WHOLE = "lib/columns_whole";
    MAIN_INNER_PACKS = "lib/main_inner_packs", overrides ["NEIGHBOURS"];
    INNER_PACK = "lib/inner_pack";
    INNER_BLOCK = "lib/inner_block";
    MAIN_SEAMS = "lib/main_seams";
    SEAM_PACKS = "lib/seam_packs";
    SEAM_POSITIONS = "lib/seam_positions";
    COLUMNS_ONE_ROW = "lib/columns_one_row";
    COLUMNS_SHARED_UNITS = "lib/columns_shared_units";
    COLUMN_BLOCKS = "lib/column_blocks";
    COLUMN_BLOCKS_ONE_ROW = "lib/column_blocks_one_row";
    COLUMN_BLOCKS_SHARED_UNITS = "lib/column_blocks_shared_units";
    MAIN_COLUMNS_TEAM = "lib/main_columns_team", overrides ["TEAM"];
    COLUMNS_TEAM_ONE_ROW = "lib/columns_team_one_row";
    COLUMNS_TEAM_SHARED_UNITS = "lib/columns_team_shared_units";
    REDUCE_STRIDED = "reduce_strided";
    REDUCE_SHORT_ROWS = "reduce_short_rows", overrides ["FEW_RUNS"];
    MAIN_SHORT_ROWS = "lib/main_short_rows";
    MAIN_SHORT_ROWS_EXCHANGED = "lib/main_short_rows_exchanged", binds [writes(3, Word, Target)], overrides ["INDEX_WORDS"];
    WHOLE_STRETCHES = "lib/whole_stretches";
    RAGGED_STRETCHES = "lib/ragged_stretches";
    SHORT_ROWS_REST = "lib/short_rows_rest";
    MAIN_BUNCHES = "lib/main_bunches";
    UNIT = "lib/unit";
    UNIT_OF_ONES = "lib/unit_of_ones", binds [writes(3, Unit, Result)];
    MERGE = "merge", binds [reads(1, Word, Known)], overrides ["PARTIALS", "FOLDED"];
    MAIN_SOLO = "lib/main_solo";
    TEAM = "lib/team", overrides ["TEAM"];
    MAIN_TEAM = "lib/main_team";
    MAIN_ONES = "lib/main_ones", binds [writes(3, Pack, Result)];

    BEST_VALUE = "lib/best_value";
    ROWS_VALUE = "lib/rows_value";
    COLUMNS_VALUE = "lib/columns_value";
    MERGE_VALUE = "lib/merge_value";
    BEST_POSITION = "lib/best_position", overrides ["LAST"];
    POSITION32 = "lib/position32";
    MERGE_POSITION = "lib/merge_position";
    ROWS_POSITION = "lib/rows_position";
    SHORT_ROWS_POSITION = "lib/short_rows_position";
    COLUMNS_POSITION = "lib/columns_position", overrides ["ROW_BY_ROW"];
    RANKS = "lib/ranks";
    COLUMNS_RANKS = "lib/columns_ranks";
    SHORT_ROWS_RANKS = "lib/short_rows_ranks";
    COLUMN_INDICES = "lib/column_indices";
    COLUMN_WINNERS = "lib/column_winners";
    COLUMNS_POSITION_WIDE = "lib/columns_position_wide";

    STORE_RECORD = "lib/store_record", binds [writes(3, Word, Scratch)], overrides ["ACCUMULATE"];
    STORE_RECORD_VALUE = "lib/store_record_value";
    STORE_RECORD_POSITION = "lib/store_record_position";
    STORE_VALUE = "lib/store_value", binds [writes(3, Unit, Target)];
    STORE_INDEX = "lib/store_index", binds [writes(3, Word, Target)], overrides ["INDEX_WORDS"];
    STORE_ONES = "lib/store_ones", binds [writes(3, Pack, Result)];
    STORE_VALUE_PACKS = "lib/store_value_packs", binds [writes(3, Pack, Target)];
    STORE_INDEX_PACKS = "lib/store_index_packs", binds [writes(3, Pack, Target)], overrides ["INDEX_WORDS"];
    STORE_BOTH = "lib/store_both", binds [writes(3, Unit, Result), writes(4, Word, Target)], overrides ["INDEX_WORDS"];

    WINNERS = "lib/winners";
    WINNERS_WORDS = "lib/winners_words", binds [reads(1, Word, Scratch)];
    HARDMAX_ONES = "hardmax_ones", binds [reads(1, Word, Scratch), writes(3, Word, Result)];
    HARDMAX_WRITE_ROWS = "hardmax_write_rows", binds [writes(3, Pack, Result)], overrides ["RAGGED"];
    HARDMAX_WRITE_PACKED_COLUMNS = "hardmax_write_packed_columns", binds [writes(3, Pack, Result)], overrides ["COLUMN_PACKS"];
    PACKS_OF_ROWS = "lib/packs_of_rows";
    HARDMAX_WRITE_SEAMS = "hardmax_write_seams", binds [writes(3, Unit, Result)];
    HARDMAX_WRITE_INNER_PACKS = "hardmax_write_inner_packs", binds [writes(3, Pack, Result)], overrides ["RAGGED"];
    HARDMAX_WRITE_RAGGED_COLUMNS = "hardmax_write_ragged_columns", binds [writes(3, Pack, Result)];
    HARDMAX_WRITE_SHORT_ROWS = "hardmax_write_short_rows", binds [writes(3, Pack, Result)];
    PACK_ONES = "lib/pack_ones";
    PIECES_OF_PACKS = "lib/pieces_of_packs";
    PIECES_OF_WORDS = "lib/pieces_of_words";
    PIECES_WIDE = "lib/pieces_wide";
    WINNERS_AS_ELEMENTS = "lib/winners_as_elements", binds [reads(1, Pack, Scratch)];
    WINNERS_BY_LANE = "lib/winners_by_lane", binds [reads(1, Pack, Scratch)];
    WINNERS_WIDE = "lib/winners_wide", binds [reads(1, Unit, Scratch)];

    BROADCAST = "lib/broadcast", overrides ["ACCUMULATE"];
    PACK_PARTS = "lib/pack_parts";
    MAX_STORE = "lib/max_store", binds [writes(1, Pack, Result)];
    MAX_PACKS = "max_packs", overrides ["RAGGED", "ONE_ROW", "SPREAD", "NEIGHBOURS"];
    MAX_SHORT_ROWS = "max_short_rows", overrides ["RAGGED"];
    MAX_COLUMNS = "max_columns";
    MAX_ELEMENTS = "max_elements", binds [writes(1, Unit, Result)], overrides ["PRESERVE_EDGES", "BOUNDS_CHECKED"];
}

impl Kernel {
    /// The complete WGSL text. It declares what it needs and no more: `params` at binding 0, then the dispatch's bindings
    /// ([`Kernel::bindings`]). Of Max's operands it takes the first 32: [`Plan::check`](crate::Plan::check) allows no more.
    pub fn wgsl(&self) -> String {
        let generated = match self.program {
            Program::Reduce { operator, access, epilogue, stores } => match self.bunches() {
                Some(bunches) => bunches.text(&self.overrides, stores),
                None if self.has_blocks(access, stores) => {
                    let [_, walk] = self.walk_files(operator, access, epilogue, stores);
                    block_text(self.column_packs(), walk.is_empty())
                }
                None => String::new(),
            },
            Program::HardmaxWrite(HardmaxWriter::ShortRows { len }) => {
                short_rows_of_ones(self.dtype, u64::from(len).clamp(1, LONGEST_WRITTEN_ROW))
            }
            Program::Max { operands, access } => {
                let (dtype, operands) = (self.dtype, operands.min(u32::BITS));
                match access {
                    MaxAccess::Packs { splats, shifted, .. } => {
                        let paired: Vec<(u32, u32)> = self.program.paired_operands().collect();
                        pack_operands(dtype, operands, splats, shifted, &paired)
                    }
                    MaxAccess::ShortRows(rows) => {
                        ShortRows { dtype, operands, rows, ragged: self.has(Override::Ragged) }.text()
                    }
                    MaxAccess::Columns { of_columns } => column_operands(dtype, operands, of_columns),
                    MaxAccess::Elements => element_operands(dtype, operands),
                }
            }
            _ => String::new(),
        };
        let text = self.files().map(|file| file.text).chain([&generated[..]]).collect::<Vec<_>>().join("\n");
        match self.shared_buffers {
            true => text.replace("var<storage, read>", "var<storage, read_write>"),
            false => text,
        }
    }

    /// The storage bindings of the shader, by their numbers. The parameters are a uniform buffer at binding 0.
    pub fn bindings(&self) -> Vec<Declaration> {
        let declaration = |&FileBinding { binding, writes, element, role }: &FileBinding| {
            let element_bytes = match element {
                Word => 4,
                Unit => self.dtype.bytes().max(4),
                Pack => 16,
            };
            Declaration { binding, writes, read_write: writes || self.shared_buffers, element_bytes, role }
        };
        let mut bindings: Vec<_> = self.files().flat_map(|file| file.bindings).map(declaration).collect();
        // Max's operands: which of them are read as words.
        if let Program::Max { operands, access } = self.program {
            let words = match access {
                MaxAccess::Packs { splats, pairs: true, .. } => splats,
                MaxAccess::Packs { splats, shifted, .. } => splats | shifted,
                MaxAccess::ShortRows(MaxShortRows { of_columns, shifted, .. }) => of_columns | shifted,
                MaxAccess::Columns { of_columns } => of_columns,
                MaxAccess::Elements => u32::MAX,
            };
            bindings.extend((0..operands.min(u32::BITS)).map(|n| {
                let element = if words >> n & 1 == 1 { Word } else { Pack };
                declaration(&reads(FIRST_OPERAND + n, element, Operand))
            }));
        }
        let paired = self.program.paired_operands().map(|(binding, _)| declaration(&reads(binding, Word, Operand)));
        bindings.extend(paired);
        bindings
    }

    /// Whether the shader has an `override` declaration of that name.
    pub fn declares(&self, own: Override) -> bool {
        self.files().any(|file| file.overrides.contains(&own.name()))
    }

    fn files(&self) -> impl Iterator<Item = &'static File> {
        let own: Vec<Files> = match self.program {
            Program::Fill { packs } => vec![&[FILL], if packs { &[FILL_PACKS] } else { &[FILL_WORDS] }],
            Program::Reduce { operator, access, epilogue, stores } => {
                let [own, shared] = self.store_files(operator, access, epilogue, stores);
                let found = found_files(operator, access, epilogue, self.dtype);
                let [walk, blocks] = self.walk_files(operator, access, epilogue, stores);
                let main = self.main_files(access, epilogue, stores);
                vec![self.input_files(), self.access_files(access), walk, blocks, found, main, own, shared]
            }
            Program::Merge { operator, epilogue } => vec![
                &[MERGE],
                match operator {
                    Operator::ReduceMax => &[BEST_VALUE, MERGE_VALUE],
                    Operator::ArgMax => &[BEST_POSITION, MERGE_POSITION],
                },
                self.main_files(Access::Strided, epilogue, Stores::Results),
                result_files(operator, epilogue),
            ],
            Program::HardmaxWrite(writer) => self.writer_files(writer),
            Program::HardmaxOnes => vec![&[HARDMAX_ONES]],
            Program::Max { access, .. } => vec![match access {
                MaxAccess::Packs { .. } => &[BROADCAST, PACK_PARTS, MAX_STORE, MAX_PACKS],
                MaxAccess::ShortRows(_) => &[BROADCAST, PACK_PARTS, MAX_STORE, MAX_SHORT_ROWS],
                MaxAccess::Columns { .. } => &[BROADCAST, PACK_PARTS, MAX_STORE, MAX_COLUMNS],
                MaxAccess::Elements => &[BROADCAST, MAX_ELEMENTS],
            }],
        };
        let of_type = !matches!(self.program, Program::Fill { .. });
        let [constants, class] = if of_type { type_files(self.dtype) } else { [&[][..], &[]] };
        let common: Vec<Files> = vec![&[GRID], constants, class, self.pack_files()];
        [common, own].concat().into_iter().flatten().copied()
    }

    /// What writes packs of a Hardmax whose winners are known.
    fn writer_files(&self, writer: HardmaxWriter) -> Vec<Files> {
        match writer {
            HardmaxWriter::Rows => vec![&[WINNERS, WINNERS_WORDS, HARDMAX_WRITE_ROWS]],
            HardmaxWriter::Columns { seams: true, narrow } => {
                vec![&[WINNERS, HARDMAX_WRITE_SEAMS], pieces_files(self.dtype, narrow)]
            }
            HardmaxWriter::Columns { seams: false, narrow } => {
                let main: Files = match self.has(Override::Ragged) {
                    true => &[HARDMAX_WRITE_INNER_PACKS],
                    false => &[HARDMAX_WRITE_PACKED_COLUMNS],
                };
                vec![&[WINNERS, PACKS_OF_ROWS], main, winners_files(self.dtype, narrow)]
            }
            HardmaxWriter::RaggedColumns => {
                vec![&[WINNERS, HARDMAX_WRITE_RAGGED_COLUMNS], pieces_files(self.dtype, false)]
            }
            HardmaxWriter::ShortRows { .. } => {
                vec![&[WINNERS, HARDMAX_WRITE_SHORT_ROWS], winners_files(self.dtype, false)]
            }
        }
    }

    /// How packs are bound.
    fn pack_files(&self) -> Files {
        match (self.program.takes_packs(), self.int64) {
            (false, _) => &[],
            (true, false) => &[PACKS],
            (true, true) => &[PACKS_INT64],
        }
    }

    /// The input's words are bound beside its packs, but for where nothing is bound twice.
    fn input_files(&self) -> Files {
        let of_packs = self.shared_buffers && self.program.takes_packs();
        match (self.dtype.bytes() == 8, of_packs) {
            (true, false) => &[REDUCTION, PACK_PARTS, INPUT_WORDS, WORDS, INPUT_WIDE],
            (true, true) => &[REDUCTION, PACK_PARTS, INPUT_WORDS_OF_PACKS, WORDS, INPUT_WIDE],
            (false, false) => &[REDUCTION, PACK_PARTS, INPUT_WORDS, WORDS, INPUT_NARROW],
            (false, true) => &[REDUCTION, PACK_PARTS, INPUT_WORDS_OF_PACKS, WORDS, INPUT_NARROW],
        }
    }

    fn access_files(&self, access: Access) -> Files {
        match (access, self.int64) {
            (Access::Rows, _) => &[INPUT_PACKS, REDUCE_ROWS],
            (Access::Columns, false) => &[INPUT_PACKS, AHEAD, INPUT_COLUMNS, REDUCE_COLUMNS],
            (Access::Columns, true) => &[INPUT_PACKS, AHEAD_INT64, INPUT_COLUMNS, REDUCE_COLUMNS],
            (Access::Strided, _) => &[REDUCE_STRIDED],
            (Access::ShortRows { .. }, _) => match self.has(Override::Ragged) {
                false => &[INPUT_PACKS, REDUCE_SHORT_ROWS, WHOLE_STRETCHES],
                true => &[INPUT_PACKS, REDUCE_SHORT_ROWS, RAGGED_STRETCHES],
            },
        }
    }

    /// How columns go down their rows, one pack and, without teams, several side by side: positions row by row, those of 32 bits if they
    /// are told to, values by tiles.
    fn walk_files(&self, operator: Operator, access: Access, epilogue: Epilogue, stores: Stores) -> [Files; 2] {
        if access != Access::Columns {
            return [&[], &[]];
        }
        let by_row =
            operator == Operator::ArgMax && (!positions_know_tiles(self.dtype) || self.has(Override::RowByRow));
        let blocks = if self.has_blocks(access, stores) { self.block_files(operator, epilogue, by_row) } else { &[] };
        [if by_row { &[COLUMN_ROWS] } else { &[COLUMN_TILES] }, blocks]
    }

    /// Whether invocations take several packs of columns side by side.
    fn has_blocks(&self, access: Access, stores: Stores) -> bool {
        access == Access::Columns && self.column_packs() > 1 && !self.has_team() && stores != Stores::Seams
    }

    /// How blocks of four packs go down their rows, but for one row after another, which is generated: all others know nothing else. Blocks
    /// whose rows begin anywhere always go row by row. Where keys are kept beside ties, four rows at once would be too long a text.
    fn block_files(&self, operator: Operator, epilogue: Epilogue, by_row: bool) -> Files {
        let stores_keys = operator == Operator::ArgMax && matches!(epilogue, Epilogue::Record | Epilogue::Both);
        let keeps_keys = stores_keys && self.dtype.lanes() == 1; // of several lanes ranks are kept
        match (by_row || self.has(Override::Ragged), self.column_packs()) {
            (false, 4) => &[BLOCK_TILES],
            (true, 4) if self.has(Override::Prefetch) && !keeps_keys => &[BLOCK_ROWS_AHEAD],
            _ => &[],
        }
    }

    /// Kernels of columns and of short rows have their own entry points, and these no teams. What a kernel of columns does not
    /// do is not in its text: compilers make one function of all, and of what they drop in the end, too.
    fn main_files(&self, access: Access, epilogue: Epilogue, stores: Stores) -> Files {
        match (access, self.has_team()) {
            (Access::Columns, true) if self.rows_share_units(epilogue, stores) => {
                &[MAIN_COLUMNS_TEAM, COLUMNS_TEAM_SHARED_UNITS]
            }
            (Access::Columns, true) => &[MAIN_COLUMNS_TEAM, COLUMNS_TEAM_ONE_ROW],
            (Access::Columns, false) => self.column_files(epilogue, stores),
            (Access::ShortRows { .. }, _) if epilogue == Epilogue::Ones => &[MAIN_BUNCHES, STORE_ONES],
            (Access::ShortRows { .. }, _) if stores == Stores::Packs => &[MAIN_BUNCHES],
            (Access::ShortRows { exchanged: true, .. }, _) => {
                &[MAIN_SHORT_ROWS_EXCHANGED, SHORT_ROWS_REST, REDUCE_STRIDED, UNIT]
            }
            (Access::ShortRows { exchanged: false, .. }, _) => {
                &[MAIN_SHORT_ROWS, SHORT_ROWS_REST, REDUCE_STRIDED, UNIT]
            }
            (Access::Strided, false) if epilogue == Epilogue::Ones => &[MAIN_SOLO, UNIT_OF_ONES],
            (_, false) => &[MAIN_SOLO, UNIT],
            (_, true) if epilogue == Epilogue::Ones => &[TEAM, MAIN_ONES],
            (_, true) => &[TEAM, MAIN_TEAM],
        }
    }

    /// Whether rows of columns share units of the output.
    fn rows_share_units(&self, epilogue: Epilogue, stores: Stores) -> bool {
        self.has(Override::Ragged) && stores == Stores::Results && epilogue.lanes(self.dtype) > 1
    }

    /// Columns that invocations reduce by themselves.
    fn column_files(&self, epilogue: Epilogue, stores: Stores) -> Files {
        let shared = self.rows_share_units(epilogue, stores);
        match (stores, self.column_packs() > 1, self.has(Override::Ragged)) {
            (Stores::Seams, _, _) => &[MAIN_SEAMS],
            (Stores::Packs, false, true) => &[MAIN_INNER_PACKS, INNER_PACK],
            (Stores::Packs, true, true) => &[MAIN_INNER_PACKS, COLUMN_BLOCKS, INNER_BLOCK],
            (_, false, _) if shared => &[MAIN_COLUMNS, COLUMNS_SHARED_UNITS],
            (_, false, _) => &[MAIN_COLUMNS, COLUMNS_ONE_ROW],
            (_, true, _) if shared => &[MAIN_COLUMNS, COLUMN_BLOCKS, COLUMN_BLOCKS_SHARED_UNITS],
            (_, true, _) => &[MAIN_COLUMNS, COLUMN_BLOCKS, COLUMN_BLOCKS_ONE_ROW],
        }
    }

    fn store_files(&self, operator: Operator, access: Access, epilogue: Epilogue, stores: Stores) -> [Files; 2] {
        let units = || result_files(operator, epilogue);
        let whole = || -> Files { if access == Access::Columns { &[COLUMNS_WHOLE] } else { &[] } };
        match (stores, epilogue, access) {
            (Stores::Packs, Epilogue::Value | Epilogue::Winner, _) => [&[STORE_VALUE_PACKS], whole()],
            (Stores::Packs, _, _) => [&[STORE_INDEX_PACKS], whole()],
            (Stores::Seams, Epilogue::Value | Epilogue::Winner, _) => [units(), &[SEAM_PACKS]],
            (Stores::Seams, _, _) => [units(), &[SEAM_POSITIONS]],
            (Stores::Results, Epilogue::Index, Access::ShortRows { exchanged: true, .. }) => [&[], &[]], // the main one does
            (Stores::Results, _, Access::Columns) => [units(), &[COLUMN_RESULTS]],
            (Stores::Results, _, _) => [units(), &[]],
        }
    }
}

/// Whether positions of columns of a type may be found tile by tile. Those of others always go row by row.
pub(crate) const fn positions_know_tiles(dtype: DType) -> bool {
    dtype.bytes() == 4
}

/// A name for the text of all shaders and the version of what plans them and writes the rest of their text.
pub(crate) fn fingerprint() -> String {
    let texts = FILES.iter().map(|file| file.text).chain([env!("CARGO_PKG_VERSION")]);
    format!("{:016x}", fnv(texts.flat_map(str::bytes)))
}

/// FNV-1a in 64 bits: the same on every machine and with every compiler.
pub(crate) fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The winners of several slices side by side.
fn winners_files(dtype: DType, narrow: bool) -> Files {
    match dtype.bytes() {
        8 => &[WINNERS_WIDE],
        1 | 2 if !narrow => &[WINNERS_BY_LANE, PACK_ONES],
        _ => &[WINNERS_AS_ELEMENTS], // words are as wide as elements of 32 bits
    }
}

/// A pack's winners in one row of columns and the next.
fn pieces_files(dtype: DType, narrow: bool) -> Files {
    match (dtype.bytes(), narrow) {
        (_, true) => &[WINNERS_AS_ELEMENTS, PIECES_OF_PACKS],
        (8, false) => &[WINNERS_WORDS, PIECES_WIDE],
        (_, false) => &[WINNERS_WORDS, PIECES_OF_WORDS],
    }
}

/// What a reduction knows of the elements it has seen.
fn found_files(operator: Operator, access: Access, epilogue: Epilogue, dtype: DType) -> Files {
    match (operator, access) {
        (Operator::ReduceMax, Access::Rows) => &[BEST_VALUE, ROWS_VALUE],
        (Operator::ReduceMax, Access::Columns) => &[BEST_VALUE, COLUMNS_VALUE],
        (Operator::ReduceMax, Access::Strided) => &[BEST_VALUE],
        (Operator::ReduceMax, Access::ShortRows { .. }) => &[BEST_VALUE],
        (Operator::ArgMax, access) => position_files(access, epilogue, dtype.bytes()),
    }
}

/// What it knows of positions. Of 8 and 16 bits ranks, of columns and of short rows.
fn position_files(access: Access, epilogue: Epilogue, bytes: u64) -> Files {
    match (access, bytes) {
        (Access::Rows, _) => &[BEST_POSITION, POSITION32, ROWS_POSITION],
        (Access::Columns, 8) => &[BEST_POSITION, POSITION32, COLUMNS_POSITION_WIDE],
        (Access::Columns, 4) => &[BEST_POSITION, POSITION32, COLUMNS_POSITION, COLUMN_INDICES],
        (Access::Columns, _) if epilogue == Epilogue::Winner => {
            &[BEST_POSITION, POSITION32, RANKS, COLUMNS_RANKS, COLUMN_WINNERS]
        }
        (Access::Columns, _) => &[BEST_POSITION, POSITION32, RANKS, COLUMNS_RANKS, COLUMN_INDICES],
        (Access::Strided, _) => &[BEST_POSITION, POSITION32],
        (Access::ShortRows { .. }, 1 | 2) => &[BEST_POSITION, POSITION32, RANKS, SHORT_ROWS_RANKS],
        (Access::ShortRows { .. }, _) => &[BEST_POSITION, POSITION32, SHORT_ROWS_POSITION],
    }
}

/// What stores results one by one.
fn result_files(operator: Operator, epilogue: Epilogue) -> Files {
    match (epilogue, operator) {
        (Epilogue::Record, Operator::ReduceMax) => &[STORE_RECORD, STORE_RECORD_VALUE],
        (Epilogue::Record, Operator::ArgMax) => &[STORE_RECORD, STORE_RECORD_POSITION],
        (Epilogue::Value | Epilogue::Winner, _) => &[STORE_VALUE],
        (Epilogue::Index, _) => &[STORE_INDEX],
        (Epilogue::Both, _) => &[STORE_BOTH],
        (Epilogue::Ones, _) => &[],
    }
}

/// What a storage type is made of: its own constants; its class and its width.
fn type_files(dtype: DType) -> [Files; 2] {
    let constants: Files = match dtype {
        DType::F32 => &[F32],
        DType::F16 => &[F16],
        DType::Bf16 => &[BF16],
        DType::F64 => &[F64],
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => &[SIGNED],
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => &[UNSIGNED],
    };
    let class: Files = match (dtype.is_float(), dtype.bytes()) {
        (false, 1) => &[INT8, INT, NARROW],
        (false, 2) => &[INT16, INT, NARROW],
        (false, 4) => &[INT32, INT, NARROW],
        (false, _) => &[INT64, WIDE],
        (true, 2) => &[FLOAT16, FLOAT, NARROW],
        (true, 4) => &[FLOAT32, FLOAT, NARROW],
        (true, _) => &[FLOAT64, WIDE],
    };
    [constants, class]
}
