// ArgMax where the outputs stand side by side in memory: an invocation searches a pack of columns, or four packs side by
// side where WIDE, rows apart by run_stride. A tile is four rows; its maxima are compared once with the best so far,
// column by column, and the row is found at the end by reading the winning tile again. Narrow types only.
override GROUP: u32 = 64u;
override WIDE: bool = false;

struct Winners { keys: array<vec4<u32>, LANES>, rows: array<vec4<u32>, LANES>, seen: bool }

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
    if (WIDE && end - column == block_elements) {
        var block = search_block(start + column, chunk);
        for (var n = 0u; n < 4u; n++) {
            let c = column + n * PACK_ELEMENTS;
            store_columns(block[n], start + c, chunk, c, PACK_ELEMENTS);
        }
        return;
    }
    var c = column;
    loop {
        let count = min(PACK_ELEMENTS, end - c);
        store_columns(search(start + c, chunk, count), start + c, chunk, c, count);
        continuing {
            c += PACK_ELEMENTS;
            break if c >= end;
        }
    }
}

fn store_columns(found: Winners, start: u32, chunk: Chunk, column: u32, count: u32) {
    var w = found;
    let first = chunk.output * params.columns + column;
    var i = 0u;
    loop {
        var unit = empty_unit();
        var lane = 0u;
        loop {
            let n = i + lane;
            let key = w.keys[n % LANES][n / LANES];
            let r = locate(start + n, w.rows[n % LANES][n / LANES], chunk.end, key);
            unit = store_lane(unit, lane, task_of(first + n, chunk.number), Best(key, r));
            continuing {
                lane += 1u;
                break if lane >= STORE_LANES || i + lane >= count;
            }
        }
        store_unit((first + i) / STORE_LANES, unit);
        continuing {
            i += STORE_LANES;
            break if i >= count;
        }
    }
}

// Four whole packs side by side. The first word of each of four rows is loaded before anything else, as in
// reduce_max_columns.wgsl.
fn search_block(start: u32, chunk: Chunk) -> array<Winners, 4> {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var w0: Winners;
    var w1: Winners;
    var w2: Winners;
    var w3: Winners;
    var r = chunk.begin;
    loop {
        let run = run_from(r, chunk.end);
        var p = (start + run.offset) / PACK_ELEMENTS;
        var i = 0u;
        for (; i + 3u < run.len; i += 4u) {
            let a = words[4u * p];
            let b = words[4u * (p + step)];
            let c = words[4u * (p + 2u * step)];
            let d = words[4u * (p + 3u * step)];
            let ab = fold(fold(no_maxima(), pack_after(a, p)), pack_after(b, p + step));
            offer(&w0, fold(fold(ab, pack_after(c, p + 2u * step)), pack_after(d, p + 3u * step)), r + i);
            offer(&w1, tile(p + 1u, step), r + i);
            offer(&w2, tile(p + 2u, step), r + i);
            offer(&w3, tile(p + 3u, step), r + i);
            p += 4u * step;
        }
        for (; i < run.len; i++) {
            offer(&w0, fold(no_maxima(), packs[p]), r + i);
            offer(&w1, fold(no_maxima(), packs[p + 1u]), r + i);
            offer(&w2, fold(no_maxima(), packs[p + 2u]), r + i);
            offer(&w3, fold(no_maxima(), packs[p + 3u]), r + i);
            p += step;
        }
        r += run.len;
        continuing {
            break if !RUNS || r >= chunk.end;
        }
    }
    return array<Winners, 4>(w0, w1, w2, w3);
}

fn tile(p: u32, step: u32) -> Maxima {
    let a = packs[p];
    let b = packs[p + step];
    let c = packs[p + 2u * step];
    let d = packs[p + 3u * step];
    return fold(fold(fold(fold(no_maxima(), a), b), c), d);
}

// One pack, perhaps not whole.
fn search(start: u32, chunk: Chunk, count: u32) -> Winners {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var w: Winners;
    var r = chunk.begin;
    loop {
        let run = run_from(r, chunk.end);
        let begin = start + run.offset;
        let len = run.len;
        var i = 0u;
        if (count < PACK_ELEMENTS) {
            loop {
                let e = begin + i * params.run_stride;
                offer(&w, fold(no_maxima(), partial_pack(e / PACK_ELEMENTS, e, e + count)), r + i);
                continuing {
                    i += 1u;
                    break if i >= len;
                }
            }
        }
        var p = begin / PACK_ELEMENTS;
        for (; i + 3u < len; i += 4u) {
            offer(&w, tile(p, step), r + i);
            p += 4u * step;
        }
        if (i < len) {
            for (; i < len; i++) {
                offer(&w, fold(no_maxima(), packs[p]), r + i);
                p += step;
            }
        }
        r += len;
        continuing {
            break if !RUNS || r >= chunk.end;
        }
    }
    return w;
}

fn offer(w: ptr<function, Winners>, tile: Maxima, r: u32) {
    var lane = 0u;
    loop {
        let keys = lane_maxima(tile, lane);
        let ties = tie_keys(keys);
        let best = tie_keys((*w).keys[lane]);
        let takes = (ties > best) | (vec4<bool>(LAST) & (ties == best)) | vec4<bool>(!(*w).seen);
        (*w).rows[lane] = select((*w).rows[lane], vec4<u32>(r), takes);
        (*w).keys[lane] = max((*w).keys[lane], keys);
        continuing {
            lane += 1u;
            break if lane >= LANES;
        }
    }
    (*w).seen = true;
}

// The row of the winning tile, which begins at row r, that has its key.
fn locate(start: u32, r: u32, end: u32, key: Key) -> u32 {
    let tie = tie_key(key);
    let run = run_from(r, end);
    let begin = start + run.offset;
    var found = r;
    var i = 0u;
    loop {
        if (key_equal(tie_key(element_key(begin + i * params.run_stride)), tie)) {
            found = r + i;
            if (!LAST) {
                break;
            }
        }
        continuing {
            i += 1u;
            break if i >= min(run.len, 4u);
        }
    }
    return found;
}
