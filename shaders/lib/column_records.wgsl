// The records of columns of one row. Where several rows count as one (src/plan/folds.rs), those left over are the beginning of one more.
import package::{
    Chunk, ColumnBests, empty_unit, first_elements, joined, kept_offset, offer_row, pack_from, params, store_columns,
};

override REST: bool = false;

// Columns [begin, end) of a pack whose first is output number `first`.
fn store_part(found: ColumnBests, chunk: Chunk, first: u32, begin: u32, end: u32) {
    store_columns(with_rest(found, chunk, first), chunk, first, begin, end, first + end, empty_unit());
}

// With what the rows left over have. Behind their end it is the row before once more.
fn with_rest(found: ColumnBests, chunk: Chunk, first: u32) -> ColumnBests {
    var all = found;
    let column = first - chunk.output * params.columns;
    if (REST && chunk.end == params.reduce_len && column < params.rest_len) {
        let e = kept_offset(chunk.output) + column + chunk.end * params.run_stride;
        let own = first_elements(params.rest_len - column);
        offer_row(&all, joined(pack_from(e), pack_from(e - params.run_stride), own), chunk.end);
    }
    return all;
}
