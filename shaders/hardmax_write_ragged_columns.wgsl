// Hardmax once the winners are known, where slices stand side by side in rows that end within packs, and are no shorter than one: an
// invocation writes packs one after another.
import package::{
    BoundPack, GROUP, Grid, PACK_ELEMENTS, Pieces, bound_pack, invocation_number, no_output, ones_of_pieces, params,
};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_output()) {
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let last = min(first + params.share, params.len / PACK_ELEMENTS);
    // The slices that a row belongs to are a block.
    let row = first * PACK_ELEMENTS / params.columns;
    var block = row / params.slice_len;
    var position = row - block * params.slice_len;
    var column = first * PACK_ELEMENTS - row * params.columns;
    for (var i = first; i < last; i++) {
        let block_ends = position + 1u == params.slice_len;
        let next_block = select(block, block + 1u, block_ends);
        let next_position = select(position + 1u, 0u, block_ends);
        let count = params.columns - column;
        let own = block * params.columns + column;
        let next = next_block * params.columns - count;
        values[i] = bound_pack(ones_of_pieces(Pieces(count, own, next, position, next_position)));
        let row_ends = count <= PACK_ELEMENTS;
        column = select(column + PACK_ELEMENTS, PACK_ELEMENTS - count, row_ends);
        block = select(block, next_block, row_ends);
        position = select(position, next_position, row_ends);
    }
}
