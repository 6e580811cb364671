// Columns of one row: outputs of no other row share their units.
import package::{ColumnOutputs, PACK_ELEMENTS, RAGGED, kept_offset, reduced_column, store_part};

fn reduce_outputs(own: ColumnOutputs) {
    let found = reduced_column(kept_offset(own.chunk.output) + own.column, own.chunk);
    store_part(found, own.chunk, own.first, 0u, select(PACK_ELEMENTS, own.count, RAGGED));
}
