// Blocks of columns whose rows begin with packs.
import package::{
    ColumnBests, ColumnOutputs, FARTHEST, PACK_ELEMENTS, ROW_BY_ROW, Run, kept_offset, located, offer_rows, place_of,
    reduce_block, reduced_column, rows_apart, store_first, tile_maxima, tile_maxima_ahead, tile_rows, two_tile_maxima,
    two_tile_maxima_ahead, two_tiles, with_rows,
};

// Four packs together, or one after the other where a row's end has fewer.
fn reduce_outputs(own: ColumnOutputs) {
    let chunk = own.chunk;
    let start = kept_offset(chunk.output) + own.column;
    if (own.count == 4u * PACK_ELEMENTS) {
        var block = reduce_block(start, chunk);
        for (var n = 0u; n < 4u; n++) {
            let found = located(block[n], start + n * PACK_ELEMENTS, chunk.end);
            store_first(found, chunk, own.first + n * PACK_ELEMENTS, PACK_ELEMENTS);
        }
    } else {
        for (var n = 0u; n < min(own.count, 4u * PACK_ELEMENTS); n += PACK_ELEMENTS) {
            store_first(reduced_column(start + n, chunk), chunk, own.first + n, PACK_ELEMENTS);
        }
    }
}

fn block_with_run(block: array<ColumnBests, 4>, start: u32, run: Run) -> array<ColumnBests, 4> {
    let place = place_of(start + run.offset);
    if (ROW_BY_ROW) {
        return with_rows(block, place, run);
    }
    return with_tiles(block, place, run);
}

// Eight rows in flight. By itself: lavapipe runs through a loop's body once even where it has nothing to do.
fn with_tiles(block: array<ColumnBests, 4>, place: u32, run: Run) -> array<ColumnBests, 4> {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = block[0];
    var b1 = block[1];
    var b2 = block[2];
    var b3 = block[3];
    var p = place;
    var i = 0u;
    for (; i + 4u < len; i += 8u) {
        let tiles = two_tiles(p, step, len - i);
        offer_rows(&b0, two_tile_maxima_ahead(tiles), run.r + i);
        offer_rows(&b1, two_tile_maxima(tiles, 1u), run.r + i);
        offer_rows(&b2, two_tile_maxima(tiles, 2u), run.r + i);
        offer_rows(&b3, two_tile_maxima(tiles, 3u), run.r + i);
        p += 8u * step;
    }
    if (i < len) {
        let rows = tile_rows(p, step, len - i);
        offer_rows(&b0, tile_maxima_ahead(rows), run.r + i);
        offer_rows(&b1, tile_maxima(rows + 1u), run.r + i);
        offer_rows(&b2, tile_maxima(rows + 2u), run.r + i);
        offer_rows(&b3, tile_maxima(rows + 3u), run.r + i);
    }
    return array<ColumnBests, 4>(b0, b1, b2, b3);
}
