// ArgMax where the run is contiguous. A tile is four packs, TEAM apart; its maximum is compared once with the best so
// far and only the winning tile's place is kept. The element is found at the end, by reading that tile again.

struct Winner { key: Key, run: u32, pack: u32, seen: bool }

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var winner = Winner(LEAST_KEY, 0u, 0u, false);
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        let begin = base + run.offset;
        winner = search_run(winner, n, begin, begin + run.len, member);
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    if (no_input() || !winner.seen) { // see grid.wgsl
        return no_best();
    }
    let run = run_within(winner.run, chunk.begin, chunk.end);
    let begin = base + run.offset;
    return Best(winner.key, run.r + locate(winner, begin, begin + run.len) - begin);
}

fn search_run(before: Winner, run: u32, begin: u32, end: u32, member: u32) -> Winner {
    let range = pack_range(begin, end);
    var w = before;
    if (RAGGED && range.head && member == 0u) {
        w = offer(w, peak_of(partial_pack(range.first - 1u, begin, end)), run, range.first - 1u);
    }
    let last = min(range.last, FARTHEST);
    var p = range.first + member;
    loop {
        if (p >= last) {
            break;
        }
        w = offer(w, tile_peak(p, last), run, p);
        continuing {
            p += 4u * TEAM;
            break if p >= last;
        }
    }
    if (RAGGED && range.tail && member == TEAM - 1u) {
        w = offer(w, peak_of(partial_pack(range.last, begin, end)), run, range.last);
    }
    return w;
}

fn offer(w: Winner, tile: Peak, run: u32, pack: u32) -> Winner {
    let key = peak_key(tile);
    let tie = tie_key(key);
    let best = tie_key(w.key);
    let takes = !w.seen | key_greater(tie, best) | (LAST & key_equal(tie, best));
    return Winner(key_max(w.key, key), select(w.run, run, RUNS & takes), select(w.pack, pack, takes), true);
}

// The element of the winning tile that has its tie. Whatever lies in the run and has the tie is a right answer for
// this invocation: none of its own other tiles has it at a better place.
fn locate(w: Winner, begin: u32, end: u32) -> u32 {
    let tie = tie_of(w.key);
    var p = w.pack;
    var found = 0u;
    var i = 0u;
    loop {
        if (i >= 4u) {
            break;
        }
        p = w.pack + select(i, 3u - i, LAST) * TEAM;
        found = matches_within(p, tie, begin, end);
        continuing {
            i += 1u;
            break if (i >= 4u) | (found != 0u);
        }
    }
    return p * PACK_ELEMENTS + select(firstTrailingBit(found), firstLeadingBit(found), LAST);
}

// A bit for each element of pack number p that lies in the run and has the tie.
fn matches_within(p: u32, tie: Tie, begin: u32, end: u32) -> u32 {
    let first = p * PACK_ELEMENTS;
    if (!RAGGED) { // then packs lie in the run or behind it
        let within = first < end;
        return select(0u, matches(pack_at(select(begin / PACK_ELEMENTS, p, within)), tie), within);
    }
    let from_begin = 0xffffffffu << (max(begin, first) - first);
    let from_end = 0xffffffffu << min(max(end, first) - first, PACK_ELEMENTS);
    return matches(pack_within(first, begin, end), tie) & from_begin & ~from_end;
}
