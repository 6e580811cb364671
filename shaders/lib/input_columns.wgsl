// Columns as packs, one below the other: a tile is four rows. Places are numbers of packs or, where RAGGED, of the elements
// that packs begin with.
import package::{
    Ahead, Maxima, PACK_ELEMENTS, RAGGED, ahead_of, fold, maxima_of, pack_after, pack_anywhere, pack_at, params, tile_maxima,
};

const ROWS_OF_TILE = vec4<u32>(0u, 1u, 2u, 3u);

fn place_of(e: u32) -> u32 { return select(e / PACK_ELEMENTS, e, RAGGED); }
fn rows_apart() -> u32 {
    return bitcast<u32>(bitcast<i32>(params.run_stride) / select(i32(PACK_ELEMENTS), 1, RAGGED));
}
fn column_pack(place: u32) -> vec4<u32> {
    if (RAGGED) {
        return pack_anywhere(place);
    }
    return pack_at(place);
}

// The packs of a tile. Where the rows end before it does, the first is taken again: that changes no maximum, and costs
// less than a loop over what is left.
fn tile_rows(p: u32, step: u32, rows: u32) -> vec4<u32> {
    return select(vec4<u32>(p), p + ROWS_OF_TILE * step, ROWS_OF_TILE < vec4<u32>(rows));
}

// The maxima of a tile, where what is asked for ahead is known already.
fn tile_maxima_after(first: Ahead, rows: vec4<u32>) -> Maxima {
    let ab = fold(maxima_of(pack_after(first.x, rows.x)), pack_after(first.y, rows.y));
    return fold(fold(ab, pack_after(first.z, rows.z)), pack_after(first.w, rows.w));
}

fn tile_maxima_ahead(rows: vec4<u32>) -> Maxima { return tile_maxima_after(ahead_of(rows), rows); }

override PREFETCH: bool = false; // rows lie so far apart that what they begin with is asked for ahead where a pack stands alone

fn lone_tile_maxima(rows: vec4<u32>) -> Maxima {
    if (PREFETCH && !RAGGED) {
        return tile_maxima_ahead(rows);
    }
    return tile_maxima(rows);
}
