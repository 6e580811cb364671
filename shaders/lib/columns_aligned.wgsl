// Columns whose rows begin with packs.
import package::{ColumnOutputs, PACK_ELEMENTS, kept_offset, reduced_column, store_first};

fn reduce_outputs(own: ColumnOutputs) {
    store_first(reduced_column(kept_offset(own.chunk.output) + own.column, own.chunk), own.chunk, own.first, PACK_ELEMENTS);
}
