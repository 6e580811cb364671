// An invocation takes four packs of columns side by side, or one after the other where they are not four.
import package::{
    ColumnOutputs, PACK_ELEMENTS, blocks_of_columns, column_outputs, group_number, has_block, no_input, reduce_four_packs, reduce_pack,
};

override GROUP: u32 = 64u;
const IN_FLIGHT: u32 = 1u; // rows of ROW_BY_ROW, of a pack by itself
const BLOCK_ELEMENTS: u32 = 4u * PACK_ELEMENTS;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = group_number(id, groups) * GROUP + local;
    if (no_input() || index >= blocks_of_columns(BLOCK_ELEMENTS)) { // see grid.wgsl
        return;
    }
    let own = column_outputs(index, BLOCK_ELEMENTS);
    if (has_block(own)) {
        reduce_four_packs(own);
    } else {
        for (var n = 0u; n < min(own.count, BLOCK_ELEMENTS); n += PACK_ELEMENTS) {
            reduce_pack(ColumnOutputs(own.chunk, own.column + n, own.first + n, min(own.count - n, PACK_ELEMENTS)));
        }
    }
}
