// Columns as packs, one below the other: a tile is four rows. Places are numbers of packs or, where RAGGED, of the elements
// that packs begin with.
import package::{
    Ahead, ColumnBests, Maxima, PACK_ELEMENTS, RAGGED, ahead_of, fold, join_maxima, maxima_of, offer_row, pack_after,
    pack_anywhere, pack_at, pack_between, packs, params, words_behind_packs,
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

// Four packs side by side.
struct FourPacks { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

// What the input has behind its last whole pack, where packs begin anywhere.
fn behind_packs() -> vec4<u32> {
    if (RAGGED) {
        return words_behind_packs();
    }
    return vec4<u32>(0u);
}

// The whole pack in which the one at a place begins.
fn first_pack_number(place: u32) -> u32 { return select(place, place / PACK_ELEMENTS, RAGGED); }

// Four packs side by side that begin at `place`. `first` is the whole pack in which they begin, already loaded.
fn four_packs(first: vec4<u32>, place: u32, behind: vec4<u32>) -> FourPacks {
    if (!RAGGED) {
        return FourPacks(first, pack_at(place + 1u), pack_at(place + 2u), pack_at(place + 3u));
    }
    let p = place / PACK_ELEMENTS; // out of five whole ones
    let b = pack_at(p + 1u);
    let c = pack_at(p + 2u);
    let d = pack_at(p + 3u);
    let e = select(behind, pack_at(min(p + 4u, arrayLength(&packs) - 1u)), vec4<bool>(p + 4u < arrayLength(&packs)));
    return FourPacks(
        pack_between(first, b, place),
        pack_between(b, c, place),
        pack_between(c, d, place),
        pack_between(d, e, place),
    );
}

// Offers each to its columns.
fn offer_packs(
    b0: ptr<function, ColumnBests>,
    b1: ptr<function, ColumnBests>,
    b2: ptr<function, ColumnBests>,
    b3: ptr<function, ColumnBests>,
    row: FourPacks,
    r: u32,
) {
    offer_row(b0, row.a, r);
    offer_row(b1, row.b, r);
    offer_row(b2, row.c, r);
    offer_row(b3, row.d, r);
}

// The packs of a tile. Where the rows end before it does, the first is taken again: that changes no maximum, and costs
// less than a loop over what is left.
fn tile_rows(p: u32, step: u32, rows: u32) -> vec4<u32> {
    return select(vec4<u32>(p), p + ROWS_OF_TILE * step, ROWS_OF_TILE < vec4<u32>(rows));
}

fn tile_maxima(rows: vec4<u32>) -> Maxima {
    let a = column_pack(rows.x);
    let b = column_pack(rows.y);
    let c = column_pack(rows.z);
    let d = column_pack(rows.w);
    return fold(fold(fold(maxima_of(a), b), c), d);
}

// The same, where what is asked for ahead is known already.
fn tile_maxima_after(first: Ahead, rows: vec4<u32>) -> Maxima {
    let ab = fold(maxima_of(pack_after(first.x, rows.x)), pack_after(first.y, rows.y));
    return fold(fold(ab, pack_after(first.z, rows.z)), pack_after(first.w, rows.w));
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

// The maxima of eight rows of the packs at the tiles' places themselves. The beginning of each row is loaded before anything else,
// since a row lies in other cache lines than the last and no prefetcher knows where.
fn two_tile_maxima_ahead(tiles: TwoTiles) -> Maxima {
    let upper = ahead_of(tiles.upper);
    let lower = ahead_of(tiles.lower);
    return join_maxima(tile_maxima_after(upper, tiles.upper), tile_maxima_after(lower, tiles.lower));
}

fn tile_maxima_ahead(rows: vec4<u32>) -> Maxima { return tile_maxima_after(ahead_of(rows), rows); }

override PREFETCH: bool = false; // rows lie so far apart that what they begin with is asked for ahead where a pack stands alone

fn lone_tile_maxima(rows: vec4<u32>) -> Maxima {
    if (PREFETCH && !RAGGED) {
        return tile_maxima_ahead(rows);
    }
    return tile_maxima(rows);
}
