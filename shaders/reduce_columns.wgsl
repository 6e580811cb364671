// Reduces where the outputs stand side by side in memory: an invocation takes a pack of columns, or four packs side by
// side where WIDE, rows apart by run_stride. The planner sees to it that every row's packs are aligned.
import package::{
    Chunk, ColumnBests, FARTHEST, PACK_ELEMENTS, RAGGED, RUNS, Run, STORE_LANES, chunk_of, column_best, empty_unit,
    group_number, kept_offset, located, lone_tile_maxima, maxima_of, no_column_bests, no_input, offer_rows, params,
    partial_pack, run_of, run_within, store_lane, store_unit, stored_whole, task_of, tile_maxima, tile_maxima_ahead,
    tile_rows, two_tile_maxima, two_tile_maxima_ahead, two_tiles,
};

override GROUP: u32 = 64u;
override WIDE: bool = false;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block_elements = select(1u, 4u, WIDE) * PACK_ELEMENTS;
    let blocks = (params.columns + block_elements - 1u) / block_elements;
    let index = group_number(id, groups) * GROUP + local;
    let rows = params.outputs / params.columns;
    if (no_input() || index >= rows * params.chunks * blocks) { // see grid.wgsl
        return;
    }
    let row = index / blocks;
    let chunk = chunk_of(row, rows);
    let column = (index - row * blocks) * block_elements;
    let end = min(column + block_elements, params.columns);
    let start = kept_offset(chunk.output);
    if (!WIDE) {
        reduce_pack(start, chunk, column, end);
    } else if (end - column == block_elements) {
        var block = reduce_block(start + column, chunk);
        for (var n = 0u; n < 4u; n++) {
            let c = column + n * PACK_ELEMENTS;
            store_columns(block[n], start + c, chunk, c, PACK_ELEMENTS);
        }
    } else {
        for (var n = 0u; n < min(end - column, 4u * PACK_ELEMENTS); n += PACK_ELEMENTS) {
            reduce_pack(start, chunk, column + n, end);
        }
    }
}

fn reduce_pack(start: u32, chunk: Chunk, column: u32, end: u32) {
    let count = select(PACK_ELEMENTS, min(PACK_ELEMENTS, end - column), RAGGED);
    store_columns(reduce_column(start + column, chunk, count), start + column, chunk, column, count);
}

fn store_columns(found: ColumnBests, start: u32, chunk: Chunk, column: u32, count: u32) {
    var bests = located(found, start, chunk.end);
    let first = chunk.output * params.columns + column;
    if (stored_whole(bests, first)) {
        return;
    }
    var i = 0u;
    loop {
        if (i >= count) {
            break;
        }
        var unit = empty_unit();
        var lane = 0u;
        loop {
            if (lane >= STORE_LANES) {
                break;
            }
            unit = store_lane(unit, lane, task_of(first + i + lane, chunk.number), column_best(&bests, i + lane));
            continuing {
                lane += 1u;
                break if (lane >= STORE_LANES) | (i + lane >= count);
            }
        }
        store_unit((first + i) / STORE_LANES, unit);
        continuing {
            i += STORE_LANES;
            break if i >= min(count, PACK_ELEMENTS);
        }
    }
}

// Four whole packs side by side, eight rows in flight.
fn reduce_block(start: u32, chunk: Chunk) -> array<ColumnBests, 4> {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
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
        var p = (start + run.offset) / PACK_ELEMENTS;
        let len = min(run.len, FARTHEST);
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
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return array<ColumnBests, 4>(b0, b1, b2, b3);
}

// One pack, perhaps not whole.
fn reduce_column(start: u32, chunk: Chunk, count: u32) -> ColumnBests {
    var bests = no_column_bests(chunk.begin);
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        let begin = start + run.offset;
        if (RAGGED && count < PACK_ELEMENTS) {
            var i = 0u;
            loop {
                if (i >= run.len) {
                    break;
                }
                let e = begin + i * params.run_stride;
                offer_rows(&bests, maxima_of(partial_pack(e / PACK_ELEMENTS, e, e + count)), run.r + i);
                continuing {
                    i += 1u;
                    break if i >= run.len;
                }
            }
        } else {
            bests = reduce_tiles(bests, begin / PACK_ELEMENTS, run);
        }
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return bests;
}

// By itself: with this loop in the one above SwiftShader takes a tenth longer.
fn reduce_tiles(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
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
