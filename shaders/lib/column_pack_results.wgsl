// The results of columns that are whole packs, out of rows that begin anywhere.
import package::{Chunk, ColumnBests, Unit, stored_whole};

// All columns of a pack, or none.
fn store_columns(
    found: ColumnBests,
    chunk: Chunk,
    first: u32,
    begin: u32,
    end: u32,
    last: u32,
    shared_unit: Unit,
) -> Unit {
    if (begin < end) {
        stored_whole(found, first);
    }
    return shared_unit;
}
