// Columns as packs, one below the other: a tile is four rows.

// The packs of a tile. Where the rows end before it does, the first is taken again: that changes no maximum, and costs
// less than a loop over what is left.
fn tile_rows(p: u32, step: u32, rows: u32) -> vec4<u32> {
    let row = vec4<u32>(0u, 1u, 2u, 3u);
    return select(vec4<u32>(p), p + row * step, row < vec4<u32>(rows));
}

fn tile_maxima(rows: vec4<u32>) -> Maxima {
    let a = packs[rows.x];
    let b = packs[rows.y];
    let c = packs[rows.z];
    let d = packs[rows.w];
    return fold(fold(fold(maxima_of(a), b), c), d);
}

// The same, where the first word of each pack is known already.
fn tile_maxima_after(first: vec4<u32>, rows: vec4<u32>) -> Maxima {
    let ab = fold(maxima_of(pack_after(first.x, rows.x)), pack_after(first.y, rows.y));
    return fold(fold(ab, pack_after(first.z, rows.z)), pack_after(first.w, rows.w));
}

fn first_words(rows: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(words[4u * rows.x], words[4u * rows.y], words[4u * rows.z], words[4u * rows.w]);
}

// Two tiles, one below the other.
struct TwoTiles { upper: vec4<u32>, lower: vec4<u32> }

fn two_tiles(p: u32, step: u32, rows: u32) -> TwoTiles {
    let both = rows > 4u;
    let lower = tile_rows(select(p, p + 4u * step, both), step, select(rows, rows - 4u, both));
    return TwoTiles(tile_rows(p, step, rows), lower);
}

// Of the packs that lie `across` packs beside them.
fn two_tile_maxima(tiles: TwoTiles, across: u32) -> Maxima {
    return join_maxima(tile_maxima(tiles.upper + across), tile_maxima(tiles.lower + across));
}

fn two_tile_maxima_after(upper_first: vec4<u32>, lower_first: vec4<u32>, tiles: TwoTiles) -> Maxima {
    return join_maxima(tile_maxima_after(upper_first, tiles.upper), tile_maxima_after(lower_first, tiles.lower));
}
