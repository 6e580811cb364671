// The rows of a panel of values, eight in flight: two tiles. Only panels whose rows begin with packs go this way.
import package::{
    FARTHEST, Maxima, Panel, ROWS_OF_TILE, Run, join_maxima, rows_apart, tile_maxima, tile_rows,
};

fn with_rows(panel: Panel, place: u32, run: Run) -> Panel {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = panel[0];
    var b1 = panel[1];
    var b2 = panel[2];
    var b3 = panel[3];
    var p = place;
    var i = 0u;
    for (; i + 4u < len; i += 8u) {
        let tiles = two_tiles(p, step, len - i);
        b0 = join_maxima(b0, two_tile_maxima(tiles, 0u));
        b1 = join_maxima(b1, two_tile_maxima(tiles, 1u));
        b2 = join_maxima(b2, two_tile_maxima(tiles, 2u));
        b3 = join_maxima(b3, two_tile_maxima(tiles, 3u));
        p += 8u * step;
    }
    if (i < len) {
        let rows = tile_rows(p, step, len - i);
        b0 = join_maxima(b0, tile_maxima(rows));
        b1 = join_maxima(b1, tile_maxima(rows + 1u));
        b2 = join_maxima(b2, tile_maxima(rows + 2u));
        b3 = join_maxima(b3, tile_maxima(rows + 3u));
    }
    return Panel(b0, b1, b2, b3);
}

// Two tiles, one below the other, where more than four rows are left.
struct TwoTiles { upper: vec4<u32>, lower: vec4<u32> }

fn two_tiles(p: u32, step: u32, rows: u32) -> TwoTiles {
    return TwoTiles(p + ROWS_OF_TILE * step, tile_rows(p + 4u * step, step, rows - 4u));
}

// The maxima of eight rows of the packs that lie `across` packs to the right.
fn two_tile_maxima(tiles: TwoTiles, across: u32) -> Maxima {
    return join_maxima(tile_maxima(tiles.upper + across), tile_maxima(tiles.lower + across));
}
