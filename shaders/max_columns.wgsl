// Max where some operands have the same elements in every row, and all others lie as the output does. A row is as many elements as
// fill whole tiles, of four packs, or where they are spread whole packs. An invocation takes columns of a tile, or of a pack, looks up
// once what these operands have of them, and walks down.
import package::{
    Addresses, FARTHEST, GROUP, Grid, LANES, Maxima, PACK_ELEMENTS, empty_unit, finished, first_addresses, fold_elements, fold_runs,
    invocation_number, maxima_of, next_row, no_packs, params, store, store_four, walk_from, with_element, with_unit,
};

override SPREAD: bool = false; // an invocation takes four packs below one another, and its neighbours those beside each of them

const TILE_ELEMENTS = 4u * PACK_ELEMENTS;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_packs()) {
        return;
    }
    let tile_elements = select(TILE_ELEMENTS, PACK_ELEMENTS, SPREAD);
    let row_tiles = max(params.row_len / tile_elements, 1u);
    let tiles = params.len / tile_elements;
    let index = invocation_number(grid.id, grid.groups, grid.local);
    let column = index % row_tiles;
    let first = index / row_tiles * params.share;
    let end = min(first + params.share, (tiles + row_tiles - 1u - column) / row_tiles);
    if (first >= end) {
        return;
    }
    let tile = tile_of_columns(column * tile_elements, tile_elements);
    let addresses = first_addresses();
    if (SPREAD) {
        store_columns(column, row_tiles, vec2<u32>(first, end), Runs(maxima_of(tile[0]), addresses));
        return;
    }
    let before = array(maxima_of(tile[0]), maxima_of(tile[1]), maxima_of(tile[2]), maxima_of(tile[3]));
    for (var row = first; row < end; row++) {
        let i = 4u * (row * row_tiles + column);
        store(i, fold_runs(before[0], addresses, i));
        store(i + 1u, fold_runs(before[1], addresses, i + 1u));
        store(i + 2u, fold_runs(before[2], addresses, i + 2u));
        store(i + 3u, fold_runs(before[3], addresses, i + 3u));
    }
}

// What is folded first, and where the other operands begin.
struct Runs { before: Maxima, addresses: Addresses }

// Pack number `column` of rows from the first to before the second.
fn store_columns(column: u32, row_packs: u32, rows: vec2<u32>, runs: Runs) {
    let last = min(rows.y, FARTHEST);
    for (var row = rows.x; row < last; row += 4u) {
        store_four(row * row_packs + column, row_packs, rows.y * row_packs, runs);
    }
}

fn finished_runs(runs: Runs, i: u32) -> vec4<u32> { return finished(i, fold_runs(runs.before, runs.addresses, i)); }

// What the operands have that have the same elements in every row, for the tile that begins with a row's element number e.
fn tile_of_columns(e: u32, len: u32) -> array<vec4<u32>, 4> {
    var tile = array<vec4<u32>, 4>();
    var unit = empty_unit();
    var walk = walk_from(e);
    for (var n = 0u; n < len; n++) {
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
