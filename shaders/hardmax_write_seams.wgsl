// The same as hardmax_write_inner_packs.wgsl of the packs in which rows end, one for each row.
import package::{
    GROUP, Grid, LANES, PACK_ELEMENTS, PACK_UNITS, Pieces, Unit, invocation_number, no_output, ones_of_pieces, pack_unit,
    params,
};

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let row = invocation_number(grid.id, grid.groups, grid.local);
    if (no_output() || row >= params.len / params.columns) {
        return;
    }
    let end = (row + 1u) * params.columns;
    let first = end / PACK_ELEMENTS * PACK_ELEMENTS;
    if (first < end) {
        write_seam(row, first, end - first);
    }
}

// The pack that begins with element `first`, of which as many elements are of the row.
fn write_seam(row: u32, first: u32, count: u32) {
    let block = row / params.slice_len;
    let position = row - block * params.slice_len;
    let block_ends = position + 1u == params.slice_len;
    let blocks = params.len / params.columns / params.slice_len;
    let next_block = min(select(block, block + 1u, block_ends), blocks - 1u); // behind the last there is none
    let own = (block + 1u) * params.columns - count;
    let next = next_block * params.columns - count;
    let ones = ones_of_pieces(Pieces(count, own, next, position, select(position + 1u, 0u, block_ends)));
    for (var i = 0u; i < PACK_UNITS; i++) {
        if (first + i * LANES < params.len) {
            values[first / LANES + i] = pack_unit(ones, i);
        }
    }
}
