// Columns as packs, one below the other: a tile is four rows. Places are numbers of packs or, where RAGGED, of the elements
// that packs begin with.
import package::{PACK_ELEMENTS, RAGGED, pack_anywhere, pack_at, params};

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
