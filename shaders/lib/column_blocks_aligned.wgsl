// Blocks of columns whose rows begin with packs.
import package::{ColumnOutputs, PACK_ELEMENTS, kept_offset, located, reduce_block, reduced_column, store_first};

// Four packs together, or one after the other where a row's end has fewer.
fn reduce_outputs(own: ColumnOutputs) {
    let chunk = own.chunk;
    let start = kept_offset(chunk.output) + own.column;
    if (own.count == 4u * PACK_ELEMENTS) {
        var block = reduce_block(start, chunk);
        for (var n = 0u; n < 4u; n++) {
            let found = located(block[n], start + n * PACK_ELEMENTS, chunk.end);
            store_first(found, chunk, own.first + n * PACK_ELEMENTS, PACK_ELEMENTS);
        }
    } else {
        for (var n = 0u; n < min(own.count, 4u * PACK_ELEMENTS); n += PACK_ELEMENTS) {
            store_first(reduced_column(start + n, chunk), chunk, own.first + n, PACK_ELEMENTS);
        }
    }
}
