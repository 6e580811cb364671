// Hardmax once the winners are known, where slices stand side by side in rows of whole packs: an invocation writes some rows of a
// pack of columns, whose winners it looks up once, or of four packs; and of few rows several of these side by side.
import package::{
    BoundPack, FARTHEST, GROUP, Grid, PACK_ELEMENTS, PacksOfRows, invocation_number, ones_at, pack_winners, packs_of_rows,
    params, stored_ones,
};

override COLUMN_PACKS: u32 = 1u; // side by side that are written in one row after another: one or four, of which a row has no fewer

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let own = packs_of_rows(invocation_number(grid.id, grid.groups, grid.local));
    let packs = params.columns / PACK_ELEMENTS; // of a row
    if (COLUMN_PACKS > 1u) {
        let last = min(own.last_pack, FARTHEST);
        for (var pack = own.first_pack; pack < last; pack += 4u) {
            store_four(own, pack, packs);
        }
        return;
    }
    for (var pack = own.first_pack; pack < own.last_pack; pack++) {
        let winners = pack_winners(own.block * params.columns + pack * PACK_ELEMENTS);
        for (var position = own.first; position < own.last; position++) {
            values[(own.block * params.slice_len + position) * packs + pack] = stored_ones(ones_at(winners, position));
        }
    }
}

// Moved back where they would reach behind the row's last pack: those before are written with the four before these.
fn store_four(own: PacksOfRows, first: u32, packs: u32) {
    let pack = min(first, packs - 4u);
    let n = own.block * params.columns + pack * PACK_ELEMENTS;
    let a = pack_winners(n);
    let b = pack_winners(n + PACK_ELEMENTS);
    let c = pack_winners(n + 2u * PACK_ELEMENTS);
    let d = pack_winners(n + 3u * PACK_ELEMENTS);
    let others = first - pack;
    for (var position = own.first; position < own.last; position++) {
        let i = (own.block * params.slice_len + position) * packs + pack;
        if (others == 0u) {
            values[i] = stored_ones(ones_at(a, position));
        }
        if (others < 2u) {
            values[i + 1u] = stored_ones(ones_at(b, position));
        }
        if (others < 3u) {
            values[i + 2u] = stored_ones(ones_at(c, position));
        }
        values[i + 3u] = stored_ones(ones_at(d, position));
    }
}
