// ArgMax where the outputs stand side by side in memory: an invocation searches a pack of columns, or four packs side by
// side where WIDE, rows apart by run_stride. The maxima of a tile, or of two where WIDE, are compared once with the best
// so far, column by column, and the row is found at the end by reading the winning tile again. Narrow types only.
override GROUP: u32 = 64u;
override WIDE: bool = false;

// Of each column the greatest tie so far, the row that its tile begins with and, only where they are stored, the greatest
// key, which tells +0 from -0.
struct Winners { ties: array<vec4<i32>, LANES>, rows: array<vec4<u32>, LANES>, keys: array<vec4<u32>, LANES> }

// Nothing is less: until something is greater, the first tile has won. Every lane without a loop, be there 1, 2 or 4.
fn no_winners(chunk: Chunk) -> Winners {
    var w: Winners;
    w.ties[0] = vec4<i32>(LEAST);
    w.rows[0] = vec4<u32>(chunk.begin);
    w.ties[LANES - 1u] = vec4<i32>(LEAST);
    w.rows[LANES - 1u] = vec4<u32>(chunk.begin);
    w.ties[LANES / 2u] = vec4<i32>(LEAST);
    w.rows[LANES / 2u] = vec4<u32>(chunk.begin);
    w.ties[LANES / 4u] = vec4<i32>(LEAST);
    w.rows[LANES / 4u] = vec4<u32>(chunk.begin);
    return w;
}

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
        search_pack(start, chunk, column, end);
    } else if (end - column == block_elements) {
        var block = search_block(start + column, chunk);
        for (var n = 0u; n < 4u; n++) {
            let c = column + n * PACK_ELEMENTS;
            store_columns(block[n], start + c, chunk, c, PACK_ELEMENTS);
        }
    } else {
        for (var n = 0u; n < min(end - column, 4u * PACK_ELEMENTS); n += PACK_ELEMENTS) {
            search_pack(start, chunk, column + n, end);
        }
    }
}

fn search_pack(start: u32, chunk: Chunk, column: u32, end: u32) {
    let count = select(PACK_ELEMENTS, min(PACK_ELEMENTS, end - column), RAGGED);
    store_columns(search(start + column, chunk, count), start + column, chunk, column, count);
}

fn store_columns(found: Winners, start: u32, chunk: Chunk, column: u32, count: u32) {
    var w = found;
    var lane = 0u;
    loop {
        if (lane >= LANES) {
            break;
        }
        w.rows[lane] = locate(start, lane, w.rows[lane], chunk.end, w.ties[lane]);
        continuing {
            lane += 1u;
            break if lane >= LANES;
        }
    }
    let first = chunk.output * params.columns + column;
    var i = 0u;
    loop {
        if (i >= count) {
            break;
        }
        var unit = empty_unit();
        lane = 0u;
        loop {
            if (lane >= STORE_LANES) {
                break;
            }
            let n = i + lane;
            let tie = w.ties[n % LANES][n / LANES];
            let key = select(key_of_tie(tie), w.keys[n % LANES][n / LANES], STORES_KEYS);
            let best = Best(key, w.rows[n % LANES][n / LANES]);
            unit = store_lane(unit, lane, task_of(first + n, chunk.number), best);
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

// Four whole packs side by side, eight rows in flight as in reduce_max_columns.wgsl.
fn search_block(start: u32, chunk: Chunk) -> array<Winners, 4> {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var w0 = no_winners(chunk);
    var w1 = w0;
    var w2 = w0;
    var w3 = w0;
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
            offer(&w0, two_tile_maxima_ahead(tiles), run.r + i);
            offer(&w1, two_tile_maxima(tiles, 1u), run.r + i);
            offer(&w2, two_tile_maxima(tiles, 2u), run.r + i);
            offer(&w3, two_tile_maxima(tiles, 3u), run.r + i);
            p += 8u * step;
        }
        if (i < len) {
            let rows = tile_rows(p, step, len - i);
            offer(&w0, tile_maxima_ahead(rows), run.r + i);
            offer(&w1, tile_maxima(rows + 1u), run.r + i);
            offer(&w2, tile_maxima(rows + 2u), run.r + i);
            offer(&w3, tile_maxima(rows + 3u), run.r + i);
        }
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return array<Winners, 4>(w0, w1, w2, w3);
}

// One pack, perhaps not whole.
fn search(start: u32, chunk: Chunk, count: u32) -> Winners {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var w = no_winners(chunk);
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        let begin = start + run.offset;
        let len = min(run.len, FARTHEST);
        var i = 0u;
        if (RAGGED && count < PACK_ELEMENTS) {
            loop {
                if (i >= len) {
                    break;
                }
                let e = begin + i * params.run_stride;
                offer(&w, maxima_of(partial_pack(e / PACK_ELEMENTS, e, e + count)), run.r + i);
                continuing {
                    i += 1u;
                    break if i >= len;
                }
            }
        } else {
            loop {
                if (i >= len) {
                    break;
                }
                let p = begin / PACK_ELEMENTS + i * step;
                offer(&w, lone_tile_maxima(tile_rows(p, step, len - i)), run.r + i);
                continuing {
                    i += 4u;
                    break if i >= len;
                }
            }
        }
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return w;
}

// No loop over lanes: it would cost as much as what it does.
fn offer(w: ptr<function, Winners>, tile: Maxima, r: u32) {
    offer_lane(w, tile, r, 0u);
    if (LANES > 1u) {
        offer_lane(w, tile, r, 1u);
    }
    if (LANES > 2u) {
        offer_lane(w, tile, r, 2u);
        offer_lane(w, tile, r, 3u);
    }
}

fn offer_lane(w: ptr<function, Winners>, tile: Maxima, r: u32, lane: u32) {
    let ties = lane_ties(tile, lane);
    let best = (*w).ties[lane];
    let takes = (ties > best) | (vec4<bool>(LAST) & (ties == best));
    (*w).rows[lane] = select((*w).rows[lane], vec4<u32>(r), takes);
    (*w).ties[lane] = select(best, ties, takes);
    if (STORES_KEYS) {
        (*w).keys[lane] = max((*w).keys[lane], lane_maxima(tile, lane));
    }
}

// The rows of the winning tiles, which begin at `tiles`, that have their ties: of one lane of each word, also of columns
// that a ragged pack does not have, of which nothing is stored. A winner may have had fewer rows than are looked through:
// rows behind them come too late where the first wins, and have lost where the last does.
fn locate(start: u32, lane: u32, tiles: vec4<u32>, end: u32, ties: vec4<i32>) -> vec4<u32> {
    let tile_len = select(4u, 8u, WIDE);
    let run0 = run_within(run_of(tiles.x), tiles.x, end);
    let run1 = run_within(run_of(tiles.y), tiles.y, end);
    let run2 = run_within(run_of(tiles.z), tiles.z, end);
    let run3 = run_within(run_of(tiles.w), tiles.w, end);
    let begin = start + vec4<u32>(run0.offset, run1.offset, run2.offset, run3.offset)
        + vec4<u32>(0u, LANES, 2u * LANES, 3u * LANES);
    let last = vec4<u32>(run0.len, run1.len, run2.len, run3.len) - 1u;
    var found = tiles;
    var i = 0u;
    loop {
        if (i >= tile_len) {
            break;
        }
        let row = min(vec4<u32>(select(tile_len - 1u - i, i, LAST)), last); // whoever comes last stays
        let e = begin + row * params.run_stride;
        let here = vec4<u32>(words[e.x / LANES], words[e.y / LANES], words[e.z / LANES], words[e.w / LANES]);
        found = select(found, tiles + row, ties_of(words_bits(here, lane)) == ties);
        continuing {
            i += 1u;
            break if i >= tile_len;
        }
    }
    return found;
}
