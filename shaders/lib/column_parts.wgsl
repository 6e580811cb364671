// The results of a pack of columns, or of a part of it, whose units are no one else's.
import package::{Chunk, ColumnBests, empty_unit, store_columns};

// Columns [begin, end) of a pack whose first is output number `first`.
fn store_part(found: ColumnBests, chunk: Chunk, first: u32, begin: u32, end: u32) {
    store_columns(found, chunk, first, begin, end, first + end, empty_unit());
}
