// The same where rows end within packs: of each row the packs that lie in it. They begin so many columns further on than the row
// does, and so do their winners.
import package::{
    BoundPack, GROUP, PACK_ELEMENTS, bound_pack, group_number, ones_at, pack_between, pack_winners_from, params, winners,
};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

override RAGGED: bool = true; // where it is not, the kernel is another

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let packs = params.columns / PACK_ELEMENTS; // of a row, at most
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
    let first_begin = (block * params.slice_len + first) * params.columns;
    let winner = block * params.columns;
    var own = pack_winners_from(winner + first_pack * PACK_ELEMENTS);
    for (var pack = first_pack; pack < last_pack; pack++) {
        let next = pack_winners_from(winner + (pack + 1u) * PACK_ELEMENTS);
        var begin = first_begin;
        for (var position = first; position < last; position++) {
            let i = (begin + PACK_ELEMENTS - 1u) / PACK_ELEMENTS + pack;
            let ones = ones_at(pack_between(own, next, 0u - begin), position);
            begin += params.columns;
            if (i < begin / PACK_ELEMENTS) {
                values[i] = bound_pack(ones);
            }
        }
        own = next;
    }
}
