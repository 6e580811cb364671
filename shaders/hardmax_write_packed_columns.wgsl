// Hardmax once the winners are known, where slices stand side by side in rows of whole packs: an invocation writes some rows of a
// pack of columns, whose winners it looks up once; of few rows several packs side by side.
import package::{
    BoundPack, GROUP, Grid, PACK_ELEMENTS, invocation_number, ones_at, pack_winners, packs_of_rows,
    params, stored_ones,
};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let own = packs_of_rows(invocation_number(grid.id, grid.groups, grid.local));
    let packs = params.columns / PACK_ELEMENTS; // of a row
    for (var pack = own.first_pack; pack < own.last_pack; pack++) {
        let winners = pack_winners(own.block * params.columns + pack * PACK_ELEMENTS);
        for (var position = own.first; position < own.last; position++) {
            values[(own.block * params.slice_len + position) * packs + pack] = stored_ones(ones_at(winners, position));
        }
    }
}
