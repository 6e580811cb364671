// ReduceMax where the outputs stand side by side in memory: an invocation reduces a pack of columns, or four packs side
// by side where WIDE, rows apart by run_stride. The planner sees to it that every row's packs are aligned.
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
        var block = fold_block(start + column, chunk);
        for (var n = 0u; n < 4u; n++) {
            store_columns(block[n], chunk, column + n * PACK_ELEMENTS, PACK_ELEMENTS);
        }
    } else {
        for (var n = 0u; n < min(end - column, 4u * PACK_ELEMENTS); n += PACK_ELEMENTS) {
            reduce_pack(start, chunk, column + n, end);
        }
    }
}

fn reduce_pack(start: u32, chunk: Chunk, column: u32, end: u32) {
    let count = select(PACK_ELEMENTS, min(PACK_ELEMENTS, end - column), RAGGED);
    store_columns(fold_column(start + column, chunk, count), chunk, column, count);
}

fn store_columns(m: Maxima, chunk: Chunk, column: u32, count: u32) {
    let first = chunk.output * params.columns + column;
    if (STORES_UNITS && !RAGGED) {
        let pack = pack_of(m);
        let unit = first / LANES;
        store_unit(unit, pack_unit(pack, 0u));
        store_unit(unit + 1u, pack_unit(pack, 1u));
        if (PACK_UNITS == 4u) {
            store_unit(unit + 2u, pack_unit(pack, 2u));
            store_unit(unit + 3u, pack_unit(pack, 3u));
        }
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
            unit = store_lane(unit, lane, task_of(first + i + lane, chunk.number), Best(element_maximum(m, i + lane)));
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
fn fold_block(start: u32, chunk: Chunk) -> array<Maxima, 4> {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var m0 = no_maxima();
    var m1 = no_maxima();
    var m2 = no_maxima();
    var m3 = no_maxima();
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
            m0 = join_maxima(m0, two_tile_maxima_ahead(tiles));
            m1 = join_maxima(m1, two_tile_maxima(tiles, 1u));
            m2 = join_maxima(m2, two_tile_maxima(tiles, 2u));
            m3 = join_maxima(m3, two_tile_maxima(tiles, 3u));
            p += 8u * step;
        }
        if (i < len) {
            let rows = tile_rows(p, step, len - i);
            m0 = join_maxima(m0, tile_maxima_ahead(rows));
            m1 = join_maxima(m1, tile_maxima(rows + 1u));
            m2 = join_maxima(m2, tile_maxima(rows + 2u));
            m3 = join_maxima(m3, tile_maxima(rows + 3u));
        }
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return array<Maxima, 4>(m0, m1, m2, m3);
}

// One pack, perhaps not whole.
fn fold_column(start: u32, chunk: Chunk, count: u32) -> Maxima {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var m = no_maxima();
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
                m = fold(m, partial_pack(e / PACK_ELEMENTS, e, e + count));
                continuing {
                    i += 1u;
                    break if i >= run.len;
                }
            }
        } else {
            m = fold_packs(m, begin / PACK_ELEMENTS, step, run.len);
        }
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return m;
}

// By itself: with this loop in the one above SwiftShader takes a tenth longer.
fn fold_packs(before: Maxima, start: u32, step: u32, rows: u32) -> Maxima {
    let len = min(rows, FARTHEST);
    var m = before;
    var i = 0u;
    loop {
        if (i >= len) {
            break;
        }
        m = join_maxima(m, lone_tile_maxima(tile_rows(start + i * step, step, len - i)));
        continuing {
            i += 4u;
            break if i >= len;
        }
    }
    return m;
}
