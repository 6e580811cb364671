// ReduceMax where the run is contiguous: whole packs, four loads in flight.

fn scan(task: u32, member: u32) -> Best {
    let output = task / params.chunks;
    let base = kept_offset(output);
    var r = (task - output * params.chunks) * params.chunk_len;
    let stop = min(r + params.chunk_len, params.reduce_len);
    var maxima = no_maxima();
    while (r < stop) {
        let run = r / params.run_len;
        let within = r - run * params.run_len;
        let len = min(params.run_len - within, stop - r);
        let begin = base + outer_offset(run) + within;
        maxima = fold_run(maxima, begin, begin + len, member);
        r += len;
    }
    return Best(maximum(maxima));
}

fn fold_run(before: Maxima, begin: u32, end: u32, member: u32) -> Maxima {
    let range = pack_range(begin, end);
    var m = before;
    if (range.head && member == 0u) {
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
    for (; p < range.last; p += TEAM) {
        m = fold(m, packs[p]);
    }
    if (range.tail && member == TEAM - 1u) {
        m = fold(m, partial_pack(range.last, begin, end));
    }
    return m;
}
