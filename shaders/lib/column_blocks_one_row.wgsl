// Blocks of columns of one row: outputs of no other row share their units.
import package::{BLOCK_PACKS, ColumnOutputs, PACK_ELEMENTS, RAGGED, block_column, kept_offset, located, reduce_block, store_part};

// Packs side by side, moved back where they would reach behind the row. What lies before `own` is another invocation's to store.
fn reduce_outputs(own: ColumnOutputs) {
    let column = block_column(own.column);
    let start = kept_offset(own.chunk.output) + column;
    let block_first = own.first - (own.column - column);
    var block = reduce_block(start, own.chunk);
    for (var n = 0u; n < BLOCK_PACKS; n++) {
        let first = block_first + n * PACK_ELEMENTS;
        if (first + PACK_ELEMENTS > own.first) {
            var found = block[n];
            if (!RAGGED) { // what begins anywhere goes row by row
                found = located(found, start + n * PACK_ELEMENTS, own.chunk.end);
            }
            let begin = select(0u, max(own.first, first) - first, RAGGED); // else all of it is own, or none
            store_part(found, own.chunk, first, begin, PACK_ELEMENTS);
        }
    }
}
