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
    if (index >= (params.outputs / params.columns) * params.chunks * blocks) {
        return;
    }
    let row = index / blocks;
    let chunk = chunk_of(row);
    let column = (index - row * blocks) * block_elements;
    let end = min(column + block_elements, params.columns);
    let start = kept_offset(chunk.output);
    if (WIDE && end - column == block_elements) {
        var block = fold_block(start + column, chunk);
        for (var n = 0u; n < 4u; n++) {
            store_columns(block[n], row, chunk, column + n * PACK_ELEMENTS, PACK_ELEMENTS);
        }
        return;
    }
    for (var c = column; c < end; c += PACK_ELEMENTS) {
        let count = min(PACK_ELEMENTS, end - c);
        store_columns(fold_column(start + c, chunk, count), row, chunk, c, count);
    }
}

fn store_columns(m: Maxima, row: u32, chunk: Chunk, column: u32, count: u32) {
    let first = chunk.output * params.columns + column;
    let number = row - chunk.output * params.chunks;
    for (var i = 0u; i < count; i += STORE_LANES) {
        var unit = empty_unit();
        for (var lane = 0u; lane < STORE_LANES && i + lane < count; lane++) {
            unit = store_lane(unit, lane, task_of(first + i + lane, number), Best(element_maximum(m, i + lane)));
        }
        store_unit((first + i) / STORE_LANES, unit);
    }
}

// Four whole packs side by side: four loads in flight from one place.
fn fold_block(start: u32, chunk: Chunk) -> array<Maxima, 4> {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var m0 = no_maxima();
    var m1 = no_maxima();
    var m2 = no_maxima();
    var m3 = no_maxima();
    for (var r = chunk.begin; r < chunk.end;) {
        let run = run_from(r, chunk.end);
        var p = (start + run.offset) / PACK_ELEMENTS;
        for (var i = 0u; i < run.len; i++) {
            let a = packs[p];
            let b = packs[p + 1u];
            let c = packs[p + 2u];
            let d = packs[p + 3u];
            m0 = fold(m0, a);
            m1 = fold(m1, b);
            m2 = fold(m2, c);
            m3 = fold(m3, d);
            p += step;
        }
        r += run.len;
    }
    return array<Maxima, 4>(m0, m1, m2, m3);
}

// One pack, perhaps not whole.
fn fold_column(start: u32, chunk: Chunk, count: u32) -> Maxima {
    let step = bitcast<u32>(bitcast<i32>(params.run_stride) / i32(PACK_ELEMENTS));
    var m = no_maxima();
    for (var r = chunk.begin; r < chunk.end;) {
        let run = run_from(r, chunk.end);
        let begin = start + run.offset;
        if (count < PACK_ELEMENTS) {
            for (var i = 0u; i < run.len; i++) {
                let e = begin + i * params.run_stride;
                m = fold(m, partial_pack(e / PACK_ELEMENTS, e, e + count));
            }
        } else {
            m = fold_packs(m, begin / PACK_ELEMENTS, step, run.len);
        }
        r += run.len;
    }
    return m;
}

// Four rows in flight.
fn fold_packs(before: Maxima, start: u32, step: u32, len: u32) -> Maxima {
    var m = before;
    var p = start;
    var i = 0u;
    for (; i + 3u < len; i += 4u) {
        let a = packs[p];
        let b = packs[p + step];
        let c = packs[p + 2u * step];
        let d = packs[p + 3u * step];
        m = fold(fold(fold(fold(m, a), b), c), d);
        p += 4u * step;
    }
    for (; i < len; i++) {
        m = fold(m, packs[p]);
        p += step;
    }
    return m;
}
