// ArgMax where the outputs stand side by side in memory: an invocation searches one pack of columns, rows apart by
// run_stride. A tile is four rows; its maxima are compared once with the best so far, column by column, and the row is
// found at the end by reading the winning tile again. Narrow types only.
override GROUP: u32 = 64u;

struct Winners { keys: array<vec4<u32>, LANES>, rows: array<vec4<u32>, LANES>, seen: bool }

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let blocks = (params.columns + PACK_ELEMENTS - 1u) / PACK_ELEMENTS;
    let index = group_number(id, groups) * GROUP + local;
    if (index >= (params.outputs / params.columns) * params.chunks * blocks) {
        return;
    }
    let row = index / blocks;
    let column = (index - row * blocks) * PACK_ELEMENTS;
    let chunk = chunk_of(row);
    let start = kept_offset(chunk.output) + column;
    let count = min(PACK_ELEMENTS, params.columns - column);
    var winners = search(start, chunk, count);
    let first = chunk.output * params.columns + column;
    let number = row - chunk.output * params.chunks;
    for (var i = 0u; i < count; i += STORE_LANES) {
        var unit = empty_unit();
        for (var lane = 0u; lane < STORE_LANES && i + lane < count; lane++) {
            let n = i + lane;
            let key = winners.keys[n % LANES][n / LANES];
            let r = locate(start + n, winners.rows[n % LANES][n / LANES], chunk.end, key);
            unit = store_lane(unit, lane, task_of(first + n, number), Best(key, r));
        }
        store_unit((first + i) / STORE_LANES, unit);
    }
}

fn search(start: u32, chunk: Chunk, count: u32) -> Winners {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var w: Winners;
    for (var r = chunk.begin; r < chunk.end;) {
        let run = run_from(r, chunk.end);
        let begin = start + run.offset;
        let len = run.len;
        var i = 0u;
        if (count < PACK_ELEMENTS) {
            for (; i < len; i++) {
                let e = begin + i * params.run_stride;
                offer(&w, fold(no_maxima(), partial_pack(e / PACK_ELEMENTS, e, e + count)), r + i);
            }
        }
        var p = begin / PACK_ELEMENTS;
        for (; i + 3u < len; i += 4u) {
            let a = packs[p];
            let b = packs[p + step];
            let c = packs[p + 2u * step];
            let d = packs[p + 3u * step];
            offer(&w, fold(fold(fold(fold(no_maxima(), a), b), c), d), r + i);
            p += 4u * step;
        }
        for (; i < len; i++) {
            offer(&w, fold(no_maxima(), packs[p]), r + i);
            p += step;
        }
        r += len;
    }
    return w;
}

fn offer(w: ptr<function, Winners>, tile: Maxima, r: u32) {
    for (var lane = 0u; lane < LANES; lane++) {
        let keys = lane_maxima(tile, lane);
        let ties = tie_keys(keys);
        let best = tie_keys((*w).keys[lane]);
        let takes = (ties > best) | (vec4<bool>(LAST) & (ties == best)) | vec4<bool>(!(*w).seen);
        (*w).rows[lane] = select((*w).rows[lane], vec4<u32>(r), takes);
        (*w).keys[lane] = max((*w).keys[lane], keys);
    }
    (*w).seen = true;
}

// The row of the winning tile, which begins at row r, that has its key.
fn locate(start: u32, r: u32, end: u32, key: Key) -> u32 {
    let tie = tie_key(key);
    let run = run_from(r, end);
    let begin = start + run.offset;
    var found = r;
    for (var i = 0u; i < min(run.len, 4u); i++) {
        if (key_equal(tie_key(element_key(begin + i * params.run_stride)), tie)) {
            found = r + i;
            if (!LAST) {
                break;
            }
        }
    }
    return found;
}
