// ReduceMax where the run is contiguous: whole packs, four loads in flight.

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var maxima = no_maxima();
    var r = chunk.begin;
    loop {
        let run = run_from(r, chunk.end);
        let begin = base + run.offset;
        maxima = fold_run(maxima, begin, begin + run.len, member);
        r += run.len;
        continuing {
            break if !RUNS || r >= chunk.end;
        }
    }
    return Best(maximum(maxima));
}

fn fold_run(before: Maxima, begin: u32, end: u32, member: u32) -> Maxima {
    let range = pack_range(begin, end);
    var m = before;
    if (RAGGED && range.head && member == 0u) {
        m = fold(m, partial_pack(range.first - 1u, begin, end));
    }
    var p = range.first + member;
    for (; p + 3u * TEAM < range.last; p += 4u * TEAM) {
        let a = packs[p];
        let b = packs[p + TEAM];
        let c = packs[p + 2u * TEAM];
        let d = packs[p + 3u * TEAM];
        m = fold(fold(fold(fold(m, a), b), c), d);
    }
    if (p < range.last) {
        for (; p < range.last; p += TEAM) {
            m = fold(m, packs[p]);
        }
    }
    if (RAGGED && range.tail && member == TEAM - 1u) {
        m = fold(m, partial_pack(range.last, begin, end));
    }
    return m;
}
