// ReduceMax where the outputs stand side by side in memory: an invocation reduces one pack of columns, rows apart by
// run_stride, four loads in flight. The planner sees to it that every row's packs are aligned.
override GROUP: u32 = 64u;

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
    let count = min(PACK_ELEMENTS, params.columns - column);
    let maxima = fold_column(kept_offset(chunk.output) + column, chunk, count);
    let first = chunk.output * params.columns + column;
    let number = row - chunk.output * params.chunks;
    for (var i = 0u; i < count; i += STORE_LANES) {
        var unit = empty_unit();
        for (var lane = 0u; lane < STORE_LANES && i + lane < count; lane++) {
            let task = task_of(first + i + lane, number);
            unit = store_lane(unit, lane, task, Best(element_maximum(maxima, i + lane)));
        }
        store_unit((first + i) / STORE_LANES, unit);
    }
}

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
