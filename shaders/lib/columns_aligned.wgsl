// Columns whose rows begin with packs.
import package::{
    Chunk, ColumnBests, ColumnOutputs, PACK_ELEMENTS, empty_unit, kept_offset, reduced_column, store_columns,
};

fn reduce_pack(own: ColumnOutputs) {
    store_pack(reduced_column(kept_offset(own.chunk.output) + own.column, own.chunk), own.chunk, own.first);
}

fn store_pack(found: ColumnBests, chunk: Chunk, first: u32) {
    store_columns(found, chunk, first, 0u, PACK_ELEMENTS, first + PACK_ELEMENTS, empty_unit());
}
