// Columns of one row: outputs of no other row share their units.
import package::{ColumnOutputs, PACK_ELEMENTS, RAGGED, reduce_runs, store_part, whole_rows};

fn reduce_outputs(own: ColumnOutputs) {
    let chunk = whole_rows(own.chunk, own.column, PACK_ELEMENTS);
    let found = reduce_runs(own.start + own.column, chunk);
    store_part(found, chunk, own.first, 0u, select(PACK_ELEMENTS, own.count, RAGGED));
}
