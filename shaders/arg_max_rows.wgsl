// ArgMax where the run is contiguous. A tile is four packs, TEAM apart; its maximum is compared once with the best so
// far and only the winning tile's place is kept. The element is found at the end, by reading that tile again.

struct Winner { key: Key, r: u32, pack: u32, seen: bool }

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var winner = Winner(LEAST_KEY, 0u, 0u, false);
    var r = chunk.begin;
    loop {
        let run = run_from(r, chunk.end);
        let begin = base + run.offset;
        winner = search_run(winner, r, begin, begin + run.len, member);
        r += run.len;
        continuing {
            break if !RUNS || r >= chunk.end;
        }
    }
    if (no_input() || !winner.seen) { // see grid.wgsl
        return no_best();
    }
    let run = run_from(winner.r, chunk.end);
    let begin = base + run.offset;
    return Best(winner.key, winner.r + locate(winner, begin, begin + run.len) - begin);
}

fn search_run(before: Winner, r: u32, begin: u32, end: u32, member: u32) -> Winner {
    let range = pack_range(begin, end);
    var w = before;
    if (RAGGED && range.head && member == 0u) {
        w = offer(w, peak_of(partial_pack(range.first - 1u, begin, end)), r, range.first - 1u);
    }
    var p = range.first + member;
    if (p < range.last) {
        loop {
            w = offer(w, tile_peak(p, range.last), r, p);
            p += 4u * TEAM;
            continuing {
                break if p >= range.last;
            }
        }
    }
    if (RAGGED && range.tail && member == TEAM - 1u) {
        w = offer(w, peak_of(partial_pack(range.last, begin, end)), r, range.last);
    }
    return w;
}

fn offer(w: Winner, tile: Peak, r: u32, pack: u32) -> Winner {
    let key = peak_key(tile);
    let tie = tie_key(key);
    let best = tie_key(w.key);
    let takes = !w.seen || key_greater(tie, best) || (LAST && key_equal(tie, best));
    return Winner(key_max(w.key, key), select(w.r, r, takes), select(w.pack, pack, takes), true);
}

// The element of the winning tile that has its key. Whatever lies in the run and has the key is a right answer for
// this invocation: none of its own other tiles has it at a better place.
fn locate(w: Winner, begin: u32, end: u32) -> u32 {
    let tie = tie_key(w.key);
    var found = begin;
    var i = 0u;
    loop {
        let e = (w.pack + (i / PACK_ELEMENTS) * TEAM) * PACK_ELEMENTS + i % PACK_ELEMENTS;
        if (e >= begin && e < end && key_equal(tie_key(element_key(e)), tie)) {
            found = e;
            if (!LAST) {
                break;
            }
        }
        continuing {
            i += 1u;
            break if i >= 4u * PACK_ELEMENTS;
        }
    }
    return found;
}
