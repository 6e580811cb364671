//! The manifest: for each program the files that it is made of, and what it binds. The text is joined from it, bind group layouts are
//! made from it, plans are checked against it.

use super::column_panels::panel_text;
use super::files::ArrayElement::{Pack, Unit, Word};
use super::files::*;
use super::operands::{ShortRows, column_operands, element_operands, pack_operands};
use super::short_rows::short_rows_of_ones;
use super::{
    Access, Epilogue, FIRST_OPERAND, HardmaxWriter, Kernel, LONGEST_WRITTEN_ROW, MaxAccess, Operator, Override,
    Program, Stores,
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

impl Kernel {
    /// The complete WGSL text. It declares what it needs and no more: `params` at binding 0, then the dispatch's bindings
    /// ([`Kernel::bindings`]). Of Max's operands it takes the first 32: [`Plan::check`](crate::Plan::check) allows no more.
    pub fn wgsl(&self) -> String {
        let generated = match self.program {
            Program::Reduce { access, epilogue, stores } => match self.bunches() {
                Some(bunches) => bunches.text(&self.overrides, stores),
                None if self.has_panels(access, stores) => {
                    panel_text(self.column_packs(), !self.has_panels_of_tiles(epilogue))
                }
                None => String::new(),
            },
            Program::HardmaxWrite(HardmaxWriter::ShortRows { len }) => {
                short_rows_of_ones(self.dtype, u64::from(len).clamp(1, LONGEST_WRITTEN_ROW))
            }
            Program::Max { operands, access } => {
                let dtype = self.dtype;
                match access {
                    MaxAccess::Packs { .. } => {
                        let paired: Vec<(u32, u32)> = self.program.paired_operands().collect();
                        pack_operands(dtype, operands, &paired)
                    }
                    MaxAccess::ShortRows { len } => {
                        ShortRows { dtype, operands, len, ragged: self.has(Override::Ragged) }.text()
                    }
                    MaxAccess::Columns => column_operands(dtype, operands),
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
            let words = operands.words(access);
            bindings.extend(operands.numbers().map(|n| {
                let element = if words >> n & 1 == 1 { Word } else { Pack };
                declaration(&reads(FIRST_OPERAND + n, element, Role::Operand))
            }));
        }
        let paired =
            self.program.paired_operands().map(|(binding, _)| declaration(&reads(binding, Word, Role::Operand)));
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
            Program::Reduce { access, epilogue, stores } => {
                let [own, shared] = store_files(access, epilogue, stores);
                let found = found_files(access, epilogue, self.dtype);
                let walk = self.walk_files(access, epilogue, stores);
                let main = self.main_files(access, epilogue, stores);
                // Constants before arrays that are as long as a workgroup: naga refuses those of types that come later.
                vec![self.input_files(), found, self.access_files(access), walk, main, own, shared]
            }
            Program::Merge { epilogue } => vec![
                &[MERGE],
                match epilogue.operator() {
                    Operator::ReduceMax => &[BEST_VALUE, MERGE_VALUE],
                    Operator::ArgMax => &[BEST_POSITION, MERGE_POSITION],
                },
                self.main_files(Access::Strided, epilogue, Stores::Results),
                result_files(epilogue),
            ],
            Program::HardmaxWrite(writer) => self.writer_files(writer),
            Program::HardmaxOnes { narrow: false } => vec![&[WINNERS_WORDS, HARDMAX_ONES]],
            Program::HardmaxOnes { narrow: true } => vec![&[WINNERS_IN_LANES, HARDMAX_ONES]],
            Program::Max { access, .. } => vec![match access {
                MaxAccess::Packs { .. } => &[BROADCAST, PACK_PARTS, MAX_STORE, MAX_FOUR, MAX_PACKS],
                MaxAccess::ShortRows { .. } => &[BROADCAST, PACK_PARTS, MAX_STORE, MAX_SHORT_ROWS],
                MaxAccess::Columns => &[BROADCAST, PACK_PARTS, MAX_STORE, MAX_FOUR, MAX_COLUMNS],
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
            HardmaxWriter::PackedColumns { narrow } => {
                vec![&[WINNERS, PACKS_OF_ROWS, HARDMAX_WRITE_PACKED_COLUMNS], winners_files(self.dtype, narrow)]
            }
            HardmaxWriter::InnerPacks => {
                vec![&[WINNERS, PACKS_OF_ROWS, HARDMAX_WRITE_INNER_PACKS], winners_files(self.dtype, true)]
            }
            HardmaxWriter::Seams => {
                vec![&[WINNERS, HARDMAX_WRITE_SEAMS], pieces_files(self.dtype, self.dtype.bytes() < 4)]
            }
            HardmaxWriter::RaggedColumns { packed } => {
                vec![&[WINNERS, HARDMAX_WRITE_RAGGED_COLUMNS], pieces_files(self.dtype, packed)]
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
        match access {
            Access::Rows => &[INPUT_PACKS, REDUCE_ROWS],
            Access::Columns => &[INPUT_PACKS, INPUT_COLUMNS, REDUCE_COLUMNS],
            Access::Strided => &[REDUCE_STRIDED],
            Access::ShortRows { staged, .. } => match [self.has(Override::Ragged), staged] {
                [false, false] => &[INPUT_PACKS, REDUCE_SHORT_ROWS, WHOLE_STRETCHES],
                [false, true] => &[INPUT_PACKS, REDUCE_SHORT_ROWS, STAGED_STRETCHES],
                [true, _] => &[INPUT_PACKS, REDUCE_SHORT_ROWS, RAGGED_STRETCHES],
            },
        }
    }

    /// How columns go down their rows, one pack and, without teams, several side by side: positions row by row, values by tiles of four
    /// packs but for most panels. GPUs' come out of whole packs wherever they begin.
    fn walk_files(&self, access: Access, epilogue: Epilogue, stores: Stores) -> Files {
        let halves = self.dtype.is_float() && self.dtype.bytes() == 2;
        let in_words = halves && self.has(Override::Ragged) && !self.has(Override::Pairs);
        match (self.has_panels(access, stores), epilogue.operator()) {
            _ if access != Access::Columns => &[],
            (true, _) if self.has_panels_of_tiles(epilogue) => &[COLUMN_PANELS, TILE_OF_PACKS, PANEL_TILES],
            (true, _) => &[COLUMN_PANELS],
            (false, Operator::ArgMax) => &[COLUMN_ROWS],
            (false, Operator::ReduceMax) if in_words => &[TILE_OF_WORDS, COLUMN_TILES],
            (false, Operator::ReduceMax) => &[TILE_OF_PACKS, COLUMN_TILES],
        }
    }

    /// Whether panels take four rows at once. How they take one is generated.
    fn has_panels_of_tiles(&self, epilogue: Epilogue) -> bool {
        epilogue.operator() == Operator::ReduceMax && self.column_packs() == 4 && !self.has(Override::Ragged)
    }

    /// Whether invocations take several packs of columns side by side.
    fn has_panels(&self, access: Access, stores: Stores) -> bool {
        access == Access::Columns && self.column_packs() > 1 && !self.has_team() && stores != Stores::Seams
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
            (Access::ShortRows { exchanged: true, staged, .. }, _) => match staged {
                false => &[MAIN_SHORT_ROWS_EXCHANGED, POSITIONS_APART, SHORT_ROWS_REST, REDUCE_STRIDED, UNIT],
                true => &[MAIN_SHORT_ROWS_EXCHANGED, POSITIONS_STAGED, SHORT_ROWS_REST, REDUCE_STRIDED, UNIT],
            },
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
            (Stores::Seams, _, _) => &[MAIN_SEAMS, SHARED_UNITS, COLUMNS_SHARED_UNITS],
            (Stores::Packs, false, true) => &[MAIN_INNER_PACKS, COLUMNS_ONE_ROW],
            (Stores::Packs, true, true) => &[MAIN_INNER_PACKS, COLUMN_PANELS_ONE_ROW],
            (_, false, _) if shared => &[MAIN_COLUMNS, SHARED_UNITS, COLUMNS_SHARED_UNITS],
            (_, false, _) => &[MAIN_COLUMNS, COLUMNS_ONE_ROW],
            (_, true, _) if shared => &[MAIN_COLUMNS, SHARED_UNITS, COLUMN_PANELS_SHARED_UNITS],
            (_, true, _) => &[MAIN_COLUMNS, COLUMN_PANELS_ONE_ROW],
        }
    }
}

fn store_files(access: Access, epilogue: Epilogue, stores: Stores) -> [Files; 2] {
    let units = || result_files(epilogue);
    let packs: Files = match epilogue {
        Epilogue::Value | Epilogue::Winner => &[STORE_VALUE_PACKS],
        _ => &[STORE_INDEX_PACKS],
    };
    match (stores, epilogue, access) {
        (Stores::Results, Epilogue::Record(_), Access::Columns) => [units(), &[COLUMN_RECORDS]],
        (Stores::Results | Stores::Seams, _, Access::Columns) => [units(), &[COLUMN_RESULTS]],
        (Stores::Packs, _, Access::Columns) => [packs, &[COLUMNS_WHOLE]],
        (Stores::Packs | Stores::Seams, _, _) => [packs, &[]],
        (Stores::Results, Epilogue::Index, Access::ShortRows { exchanged: true, .. }) => [&[], &[]], // the main one does
        (Stores::Results, _, _) => [units(), &[]],
    }
}

/// The winners of several slices side by side.
fn winners_files(dtype: DType, narrow: bool) -> Files {
    match dtype.bytes() {
        8 => &[WINNERS_WIDE],
        1 | 2 if !narrow => &[WINNERS_BY_LANE],
        _ => &[WINNERS_AS_ELEMENTS], // words are as wide as elements of 32 bits
    }
}

/// A pack's winners in one row of columns and the next.
fn pieces_files(dtype: DType, packed: bool) -> Files {
    match (dtype.bytes(), packed) {
        (8, _) => &[WINNERS_WORDS, PIECES_WIDE],
        (_, true) => &[PACK_PARTS, WINNERS_AS_ELEMENTS, PIECES_OF_PACKS],
        (_, false) => &[WINNERS_WORDS, PIECES_OF_WORDS],
    }
}

/// What a reduction knows of the elements it has seen.
fn found_files(access: Access, epilogue: Epilogue, dtype: DType) -> Files {
    match (epilogue.operator(), access) {
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
        (Access::Columns, 4) if epilogue.is_record() => &[BEST_POSITION, POSITION32, COLUMNS_POSITION],
        (Access::Columns, 4) => &[BEST_POSITION, POSITION32, COLUMNS_POSITION, COLUMN_INDICES],
        (Access::Columns, _) => match epilogue {
            Epilogue::Record(_) => &[BEST_POSITION, POSITION32, RANKS, COLUMNS_RANKS],
            Epilogue::Winner => &[BEST_POSITION, POSITION32, RANKS, COLUMNS_RANKS, COLUMN_WINNERS],
            _ => &[BEST_POSITION, POSITION32, RANKS, COLUMNS_RANKS, COLUMN_INDICES],
        },
        (Access::Strided, _) => &[BEST_POSITION, POSITION32],
        (Access::ShortRows { .. }, 1 | 2) => &[BEST_POSITION, POSITION32, RANKS, SHORT_ROWS_RANKS],
        (Access::ShortRows { .. }, _) => &[BEST_POSITION, POSITION32, SHORT_ROWS_POSITION],
    }
}

/// What stores results one by one.
fn result_files(epilogue: Epilogue) -> Files {
    match epilogue {
        Epilogue::Record(Operator::ReduceMax) => &[STORE_RECORD, STORE_RECORD_VALUE],
        Epilogue::Record(Operator::ArgMax) => &[STORE_RECORD, STORE_RECORD_POSITION],
        Epilogue::Value => &[STORE_UNITS, STORE_VALUE],
        Epilogue::Winner => &[STORE_UNITS, STORE_WINNER],
        Epilogue::Index => &[STORE_INDEX],
        Epilogue::Both => &[STORE_BOTH],
        Epilogue::Ones => &[],
    }
}

/// What a storage type is made of: its own constants; its class and its width.
fn type_files(dtype: DType) -> [Files; 2] {
    let constants: Files = match dtype {
        DType::F32 | DType::Bf16 => &[F32],
        DType::F16 => &[F16],
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
