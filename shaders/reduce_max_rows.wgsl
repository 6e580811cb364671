// ReduceMax where the run is contiguous: whole packs, four loads in flight.

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var peak = no_peak();
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        let begin = base + run.offset;
        peak = fold_run(peak, begin, begin + run.len, member);
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return Best(peak_key(peak));
}

fn fold_run(before: Peak, begin: u32, end: u32, member: u32) -> Peak {
    let range = pack_range(begin, end);
    var peak = before;
    if (RAGGED && range.head && member == 0u) {
        peak = join_peaks(peak, peak_of(partial_pack(range.first - 1u, begin, end)));
    }
    let last = min(range.last, FARTHEST);
    var p = range.first + member;
    loop {
        if (p >= last) {
            break;
        }
        peak = join_peaks(peak, tile_peak(p, last));
        continuing {
            p += 4u * TEAM;
            break if p >= last;
        }
    }
    if (RAGGED && range.tail && member == TEAM - 1u) {
        peak = join_peaks(peak, peak_of(partial_pack(range.last, begin, end)));
    }
    return peak;
}
