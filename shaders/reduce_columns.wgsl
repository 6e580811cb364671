// Reduces where the outputs stand side by side in memory: an invocation takes a pack of columns, or four packs side by
// side where WIDE, rows apart by run_stride. Where RAGGED, rows of columns begin anywhere. If they share units of the output,
// all outputs are cut into packs as if they were one row, and a pack may begin in one row and end in another.
import package::{
    Chunk, ColumnBests, FARTHEST, PACK_ELEMENTS, RAGGED, RUNS, Run, STORE_LANES, Unit, chunk_of, column_best, column_pack,
    empty_unit, group_number, kept_offset, located, lone_tile_maxima, maxima_of, no_column_bests, no_input, offer_rows,
    params, place_of, rows_apart, run_of, run_within, store_lane, store_unit, stored_whole, task_of, tile_maxima,
    tile_maxima_ahead, tile_rows, two_tile_maxima, two_tile_maxima_ahead, two_tiles,
};

override GROUP: u32 = 64u;
override WIDE: bool = false;
override ROW_BY_ROW: bool = false; // rows are compared one by one, and none is looked for at the end

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block_elements = select(1u, 4u, WIDE) * PACK_ELEMENTS;
    let columns = select(params.columns, params.outputs, RAGGED && STORE_LANES > 1u);
    let blocks = (columns + block_elements - 1u) / block_elements;
    let index = group_number(id, groups) * GROUP + local;
    let rows = params.outputs / columns;
    if (no_input() || index >= rows * params.chunks * blocks) { // see grid.wgsl
        return;
    }
    let row = index / blocks;
    let chunk = chunk_of(row, rows);
    let column = (index - row * blocks) * block_elements;
    let end = min(column + block_elements, columns);
    let first = chunk.output * columns + column;
    if (RAGGED) {
        for (var n = 0u; n < min(end - column, block_elements); n += PACK_ELEMENTS) {
            reduce_ragged(chunk, first + n, min(end - column - n, PACK_ELEMENTS));
        }
        return;
    }
    let start = kept_offset(chunk.output) + column;
    if (!WIDE) {
        reduce_pack(start, chunk, first);
    } else if (end - column == block_elements) {
        var block = reduce_block(start, chunk);
        for (var n = 0u; n < 4u; n++) {
            store_pack(block[n], start + n * PACK_ELEMENTS, chunk, first + n * PACK_ELEMENTS);
        }
    } else {
        for (var n = 0u; n < min(end - column, 4u * PACK_ELEMENTS); n += PACK_ELEMENTS) {
            reduce_pack(start + n, chunk, first + n);
        }
    }
}

// Outputs from number `first` on, of as many rows of columns as have some of them: in each row as if all were its.
fn reduce_ragged(chunk: Chunk, first: u32, count: u32) {
    let rows_end = (first + count - 1u) / params.columns + 1u;
    var row = first / params.columns;
    var unit = empty_unit();
    loop {
        if (row >= rows_end) {
            break;
        }
        let row_first = row * params.columns;
        let start = kept_offset(row) + first - row_first;
        let begin = max(row_first, first) - first;
        let end = min(row_first + params.columns - first, count);
        unit = store_columns(reduce_column(start, chunk), start, chunk, first, begin, end, count, unit);
        continuing {
            row += 1u;
            break if row >= rows_end;
        }
    }
}

fn reduce_pack(start: u32, chunk: Chunk, first: u32) {
    store_pack(reduce_column(start, chunk), start, chunk, first);
}

fn store_pack(found: ColumnBests, start: u32, chunk: Chunk, first: u32) {
    store_columns(found, start, chunk, first, 0u, PACK_ELEMENTS, PACK_ELEMENTS, empty_unit());
}

// Columns [begin, end) of a pack of which `count` are stored. What they make of a unit that others share is given back.
fn store_columns(
    found: ColumnBests,
    start: u32,
    chunk: Chunk,
    first: u32,
    begin: u32,
    end: u32,
    count: u32,
    shared_unit: Unit,
) -> Unit {
    var bests = found;
    if (!ROW_BY_ROW) {
        bests = located(found, start, chunk.end);
    }
    if (end - begin == PACK_ELEMENTS && stored_whole(bests, first)) {
        return shared_unit;
    }
    var unit = shared_unit;
    var i = begin;
    loop {
        if (i >= end) {
            break;
        }
        unit = store_lane(unit, i % STORE_LANES, task_of(first + i, chunk.number), column_best(&bests, i));
        if ((i + 1u) % STORE_LANES == 0u || i + 1u == count) {
            store_unit((first + i) / STORE_LANES, unit);
            unit = empty_unit();
        }
        continuing {
            i += 1u;
            break if i >= end;
        }
    }
    return unit;
}

// Four whole packs side by side, eight rows in flight, or one.
fn reduce_block(start: u32, chunk: Chunk) -> array<ColumnBests, 4> {
    let step = rows_apart();
    var b0 = no_column_bests(chunk.begin);
    var b1 = b0;
    var b2 = b0;
    var b3 = b0;
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        var p = place_of(start + run.offset);
        let len = min(run.len, FARTHEST);
        var i = 0u;
        if (ROW_BY_ROW) {
            for (; i < len; i++) {
                offer_rows(&b0, maxima_of(column_pack(p)), run.r + i);
                offer_rows(&b1, maxima_of(column_pack(p + 1u)), run.r + i);
                offer_rows(&b2, maxima_of(column_pack(p + 2u)), run.r + i);
                offer_rows(&b3, maxima_of(column_pack(p + 3u)), run.r + i);
                p += step;
            }
        }
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
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return array<ColumnBests, 4>(b0, b1, b2, b3);
}

// One pack.
fn reduce_column(start: u32, chunk: Chunk) -> ColumnBests {
    var bests = no_column_bests(chunk.begin);
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        let place = place_of(start + run.offset);
        if (ROW_BY_ROW) {
            bests = reduce_rows(bests, place, run);
        } else {
            bests = reduce_tiles(bests, place, run);
        }
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return bests;
}

fn reduce_rows(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let step = rows_apart();
    var bests = before;
    var i = 0u;
    loop {
        if (i >= run.len) {
            break;
        }
        offer_rows(&bests, maxima_of(column_pack(start + i * step)), run.r + i);
        continuing {
            i += 1u;
            break if i >= run.len;
        }
    }
    return bests;
}

// By itself: with this loop in the one above SwiftShader takes a tenth longer.
fn reduce_tiles(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var bests = before;
    var i = 0u;
    loop {
        if (i >= len) {
            break;
        }
        offer_rows(&bests, lone_tile_maxima(tile_rows(start + i * step, step, len - i)), run.r + i);
        continuing {
            i += 4u;
            break if i >= len;
        }
    }
    return bests;
}
