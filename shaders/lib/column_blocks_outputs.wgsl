// Four packs of columns side by side, reduced together, or one after the other where they are not four.
import package::{ColumnOutputs, PACK_ELEMENTS, has_block, reduce_four_packs, reduce_pack};

fn reduce_outputs(own: ColumnOutputs) {
    if (has_block(own)) {
        reduce_four_packs(own);
    } else {
        for (var n = 0u; n < min(own.count, 4u * PACK_ELEMENTS); n += PACK_ELEMENTS) {
            reduce_pack(ColumnOutputs(own.chunk, own.column + n, own.first + n, min(own.count - n, PACK_ELEMENTS)));
        }
    }
}
