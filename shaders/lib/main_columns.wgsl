// An invocation takes a pack of columns by itself.
import package::{PACK_ELEMENTS, blocks_of_columns, column_outputs, group_number, no_input, reduce_pack};

override GROUP: u32 = 64u;
const IN_FLIGHT: u32 = 1u; // rows of ROW_BY_ROW: with four SwiftShader takes 1.4 times as long

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = group_number(id, groups) * GROUP + local;
    if (no_input() || index >= blocks_of_columns(PACK_ELEMENTS)) { // see grid.wgsl
        return;
    }
    reduce_pack(column_outputs(index, PACK_ELEMENTS));
}
