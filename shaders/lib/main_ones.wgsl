// Hardmax in one: a team finds the winner of a slice and writes the slice, or a part of it, whole packs, each once.
import package::{
    BoundPack, FARTHEST, GROUP, Grid, PACK_ELEMENTS, TEAM, bests, bound_pack, group_number, index_word, pack_with_one, params,
    parts_of_slice, placed, reduce_in_team, slice_len,
};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let task = group_number(grid.id, grid.groups) * (GROUP / TEAM) + grid.local / TEAM;
    let parts = parts_of_slice();
    let slice = task / parts;
    let has_task = slice < params.outputs;
    reduce_in_team(slice, has_task, grid.local);
    if (!has_task) {
        return;
    }
    let winner = index_word(placed(bests[grid.local / TEAM * TEAM], slice), 0u);
    let packs = slice_len() / PACK_ELEMENTS;
    let part_len = (packs + parts - 1u) / parts;
    let begin = (task - slice * parts) * part_len;
    let end = min(min(begin + part_len, packs), FARTHEST);
    let one = bound_pack(pack_with_one(winner % PACK_ELEMENTS));
    for (var i = begin + grid.local % TEAM; i < end; i += TEAM) {
        var pack = BoundPack();
        if (i == winner / PACK_ELEMENTS) {
            pack = one;
        }
        values[slice * packs + i] = pack;
    }
}
