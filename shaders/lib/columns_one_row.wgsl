// Columns of one row: outputs of no other row share their units.
import package::{ColumnOutputs, PACK_ELEMENTS, RAGGED, kept_offset, reduced_column, store_part, with_rest};

fn reduce_outputs(own: ColumnOutputs) {
    let start = kept_offset(own.chunk.output) + own.column;
    let found = with_rest(reduced_column(start, own.chunk), start, own.column, own.chunk);
    store_part(found, own.chunk, own.first, 0u, select(PACK_ELEMENTS, own.count, RAGGED));
}
