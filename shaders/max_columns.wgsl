// Max where some operands have the same elements in every row, and all others lie as the output does. A row is as many elements as
// fill whole tiles, of four packs. An invocation takes a tile of columns, looks up once what these operands have of it, and walks
// down.
import package::{
    GROUP, Grid, LANES, PACK_ELEMENTS, empty_unit, first_addresses, fold_elements, fold_runs,
    invocation_number, maxima_of, next_row, no_packs, params, store, walk_from, with_element, with_unit,
};

const TILE_ELEMENTS = 4u * PACK_ELEMENTS;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_packs()) {
        return;
    }
    let row_tiles = max(params.row_len / TILE_ELEMENTS, 1u);
    let tiles = params.len / TILE_ELEMENTS;
    let index = invocation_number(grid.id, grid.groups, grid.local);
    let column = index % row_tiles;
    let first = index / row_tiles * params.share;
    let end = min(first + params.share, (tiles + row_tiles - 1u - column) / row_tiles);
    if (first >= end) {
        return;
    }
    let tile = tile_of_columns(column * TILE_ELEMENTS);
    let before = array(maxima_of(tile[0]), maxima_of(tile[1]), maxima_of(tile[2]), maxima_of(tile[3]));
    let addresses = first_addresses();
    for (var row = first; row < end; row++) {
        let i = 4u * (row * row_tiles + column);
        store(i, fold_runs(before[0], addresses, i));
        store(i + 1u, fold_runs(before[1], addresses, i + 1u));
        store(i + 2u, fold_runs(before[2], addresses, i + 2u));
        store(i + 3u, fold_runs(before[3], addresses, i + 3u));
    }
}

// What the operands have that have the same elements in every row, for the tile that begins with a row's element number e.
fn tile_of_columns(e: u32) -> array<vec4<u32>, 4> {
    var tile = array<vec4<u32>, 4>();
    var unit = empty_unit();
    var walk = walk_from(e);
    for (var n = 0u; n < TILE_ELEMENTS; n++) {
        let lane = n % LANES;
        if (lane == 0u) {
            unit = empty_unit();
        }
        unit = with_element(unit, lane, fold_elements(walk.addresses));
        let pack = n / PACK_ELEMENTS;
        tile[pack] = with_unit(tile[pack], n % PACK_ELEMENTS / LANES, unit);
        walk = next_row(walk);
    }
    return tile;
}
