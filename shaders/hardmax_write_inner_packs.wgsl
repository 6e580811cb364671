// The same as hardmax_write_packed_columns.wgsl where rows end within packs: of each row the packs that lie in it. They
// begin so many columns further on than the row does, and so do their winners.
import package::{
    BoundPack, GROUP, Grid, PACK_ELEMENTS, invocation_number, ones_at, pack_between, pack_winners_from, packs_of_rows, params,
    stored_ones,
};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let own = packs_of_rows(invocation_number(grid.id, grid.groups, grid.local));
    let first_begin = (own.block * params.slice_len + own.first) * params.columns;
    let winner = own.block * params.columns;
    var first_winners = pack_winners_from(winner + own.first_pack * PACK_ELEMENTS);
    for (var pack = own.first_pack; pack < own.last_pack; pack++) {
        let next = pack_winners_from(winner + (pack + 1u) * PACK_ELEMENTS);
        var begin = first_begin;
        for (var position = own.first; position < own.last; position++) {
            let i = (begin + PACK_ELEMENTS - 1u) / PACK_ELEMENTS + pack;
            let ones = ones_at(pack_between(first_winners, next, 0u - begin), position);
            begin += params.columns;
            if (i < begin / PACK_ELEMENTS) {
                values[i] = stored_ones(ones);
            }
        }
        first_winners = next;
    }
}
