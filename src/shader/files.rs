//! The files of `shaders/`, and what each of them declares. tests/shaders holds this against naga's reading of the text, and each file
//! against the names that it says it imports.

use super::text::shader;

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
pub(super) struct File {
    pub text: &'static str,
    pub bindings: &'static [FileBinding],
    /// The names of its `override` declarations.
    pub overrides: &'static [&'static str],
}

pub(super) type Files = &'static [&'static File];

/// A binding of a file.
#[derive(Clone, Copy)]
pub(super) struct FileBinding {
    pub binding: u32,
    pub writes: bool,
    pub element: ArrayElement,
    pub role: Role,
}

/// The elements of a binding's array.
#[derive(Clone, Copy)]
pub(super) enum ArrayElement {
    Word,
    /// The smallest thing written to an output: a word, or an element of 64 bits.
    Unit,
    Pack,
}

pub(super) const fn reads(binding: u32, element: ArrayElement, role: Role) -> FileBinding {
    FileBinding { binding, writes: false, element, role }
}

const fn writes(binding: u32, element: ArrayElement, role: Role) -> FileBinding {
    FileBinding { binding, writes: true, element, role }
}

/// The table. A file is there under the name that it has in `shaders/`.
macro_rules! files {
    ($($name:ident = $path:literal $(, binds [$($bound:expr),*])? $(, overrides [$($override:literal),*])?;)*) => {
        $(pub(super) const $name: &File = &File {
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
    FILL = "fill";
    FILL_WORDS = "lib/fill_words", binds [writes(3, Word, Target)];
    FILL_PACKS = "lib/fill_packs", binds [writes(3, Pack, Target)], overrides ["ZEROS"];

    F32 = "types/f32";
    F16 = "types/f16";
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
    INPUT_COLUMNS = "lib/input_columns";
    REDUCE_ROWS = "reduce_rows", overrides ["RUN_MEMBERS", "FEW_PACKS", "FROM_WORDS"];
    REDUCE_COLUMNS = "reduce_columns", overrides ["COLUMN_PACKS", "LOOSE_ENDS"];
    TILE_OF_PACKS = "lib/tile_of_packs";
    TILE_OF_WORDS = "lib/tile_of_words";
    COLUMN_ROWS = "lib/column_rows";
    COLUMN_TILES = "lib/column_tiles";
    MAIN_COLUMNS = "lib/main_columns", overrides ["NEIGHBOURS", "IN_TURN"];
    PANEL_TILES = "lib/panel_tiles";
    COLUMN_RESULTS = "lib/column_results";
    COLUMN_RECORDS = "lib/column_records";
    COLUMNS_WHOLE = "lib/columns_whole";
    MAIN_INNER_PACKS = "lib/main_inner_packs", overrides ["NEIGHBOURS", "IN_TURN"];
    MAIN_SEAMS = "lib/main_seams";
    COLUMNS_ONE_ROW = "lib/columns_one_row";
    SHARED_UNITS = "lib/shared_units";
    COLUMNS_SHARED_UNITS = "lib/columns_shared_units";
    COLUMN_PANELS = "lib/column_panels";
    COLUMN_PANELS_ONE_ROW = "lib/column_panels_one_row";
    COLUMN_PANELS_SHARED_UNITS = "lib/column_panels_shared_units";
    MAIN_COLUMNS_TEAM = "lib/main_columns_team", overrides ["TEAM"];
    COLUMNS_TEAM_ONE_ROW = "lib/columns_team_one_row";
    COLUMNS_TEAM_SHARED_UNITS = "lib/columns_team_shared_units";
    REDUCE_STRIDED = "reduce_strided";
    REDUCE_SHORT_ROWS = "reduce_short_rows", overrides ["FEW_RUNS"];
    MAIN_SHORT_ROWS = "lib/main_short_rows";
    MAIN_SHORT_ROWS_EXCHANGED = "lib/main_short_rows_exchanged", binds [writes(3, Word, Target)], overrides ["INDEX_WORDS"];
    WHOLE_STRETCHES = "lib/whole_stretches";
    POSITIONS_APART = "lib/positions_apart";
    POSITIONS_STAGED = "lib/positions_staged";
    STAGED_STRETCHES = "lib/staged_stretches";
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
    COLUMNS_POSITION = "lib/columns_position";
    RANKS = "lib/ranks";
    COLUMNS_RANKS = "lib/columns_ranks";
    SHORT_ROWS_RANKS = "lib/short_rows_ranks";
    COLUMN_INDICES = "lib/column_indices";
    COLUMN_WINNERS = "lib/column_winners";
    COLUMNS_POSITION_WIDE = "lib/columns_position_wide";

    STORE_RECORD = "lib/store_record", binds [writes(3, Word, Scratch)], overrides ["ACCUMULATE"];
    STORE_RECORD_VALUE = "lib/store_record_value";
    STORE_RECORD_POSITION = "lib/store_record_position";
    STORE_UNITS = "lib/store_units", binds [writes(3, Unit, Target)];
    STORE_VALUE = "lib/store_value";
    STORE_WINNER = "lib/store_winner";
    STORE_INDEX = "lib/store_index", binds [writes(3, Word, Target)], overrides ["INDEX_WORDS"];
    STORE_ONES = "lib/store_ones", binds [writes(3, Pack, Result)];
    STORE_VALUE_PACKS = "lib/store_value_packs", binds [writes(3, Pack, Target)];
    STORE_INDEX_PACKS = "lib/store_index_packs", binds [writes(3, Pack, Target)], overrides ["INDEX_WORDS"];
    STORE_BOTH = "lib/store_both", binds [writes(3, Unit, Result), writes(4, Word, Result)], overrides ["INDEX_WORDS"];

    WINNERS = "lib/winners";
    WINNERS_WORDS = "lib/winners_words", binds [reads(1, Word, Scratch)];
    WINNERS_IN_LANES = "lib/winners_in_lanes", binds [reads(1, Word, Scratch)];
    HARDMAX_ONES = "hardmax_ones", binds [writes(3, Word, Result)];
    HARDMAX_WRITE_ROWS = "hardmax_write_rows", binds [writes(3, Pack, Result)];
    HARDMAX_WRITE_PACKED_COLUMNS = "hardmax_write_packed_columns", binds [writes(3, Pack, Result)];
    PACKS_OF_ROWS = "lib/packs_of_rows";
    HARDMAX_WRITE_SEAMS = "hardmax_write_seams", binds [writes(3, Unit, Result)];
    HARDMAX_WRITE_INNER_PACKS = "hardmax_write_inner_packs", binds [writes(3, Pack, Result)];
    HARDMAX_WRITE_RAGGED_COLUMNS = "hardmax_write_ragged_columns", binds [writes(3, Pack, Result)];
    HARDMAX_WRITE_SHORT_ROWS = "hardmax_write_short_rows", binds [writes(3, Pack, Result)];
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
    MAX_FOUR = "lib/max_four";
    MAX_COLUMNS = "max_columns", overrides ["SPREAD"];
    MAX_ELEMENTS = "max_elements", binds [writes(1, Unit, Result)], overrides ["PRESERVE_EDGES", "BOUNDS_CHECKED"];
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
