// ReduceMax where the run is contiguous: whole packs, four loads in flight.

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var peak = no_peak();
    var r = chunk.begin;
    loop {
        let run = run_from(r, chunk.end);
        let begin = base + run.offset;
        peak = fold_run(peak, begin, begin + run.len, member);
        r += run.len;
        continuing {
            break if !RUNS || r >= chunk.end;
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
    var p = range.first + member;
    if (p < range.last) {
        loop {
            peak = join_peaks(peak, tile_peak(p, range.last));
            p += 4u * TEAM;
            continuing {
                break if p >= range.last;
            }
        }
    }
    if (RAGGED && range.tail && member == TEAM - 1u) {
        peak = join_peaks(peak, peak_of(partial_pack(range.last, begin, end)));
    }
    return peak;
}
