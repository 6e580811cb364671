// The same where rows are whole packs: an invocation writes some rows of a pack of columns, whose winners it looks up once, and of
// few rows of packs side by side, a line.
import package::{
    BoundPack, GROUP, PACK_ELEMENTS, bound_pack, group_number, ones_at, pack_winners, params, winners,
};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let packs = params.columns / PACK_ELEMENTS; // of a row
    let across = params.line / PACK_ELEMENTS;
    let lines = (packs + across - 1u) / across; // of a row
    let parts = (params.slice_len + params.share - 1u) / params.share; // of a slice
    let task = group_number(id, groups) * GROUP + local;
    let part = task / lines; // of all slices
    let block = part / parts;
    let outside = block * params.slice_len * params.columns >= params.len;
    if (max(arrayLength(&values), arrayLength(&winners)) == 0u || outside) { // see grid.wgsl
        return;
    }
    let first = (part - block * parts) * params.share;
    let last = min(first + params.share, params.slice_len);
    let first_pack = (task - part * lines) * across;
    let last_pack = min(first_pack + across, packs);
    for (var pack = first_pack; pack < last_pack; pack++) {
        let own = pack_winners(block * params.columns + pack * PACK_ELEMENTS);
        for (var position = first; position < last; position++) {
            values[(block * params.slice_len + position) * packs + pack] = bound_pack(ones_at(own, position));
        }
    }
}
