// Positions of rows. The maximum of a tile is compared once with the best so far and only the winning tile's place is
// kept. The element is found at the end, by reading that tile again.
import package::{
    Best, Chunk, Key, LAST, LEAST_KEY, PACK_ELEMENTS, Peak, RAGGED, RUNS, TEAM, Tie, key_equal, key_greater, key_max,
    matches, no_best, no_input, pack_at, pack_within, peak_key, run_within, tie_key, tie_of,
};

struct RowBest { key: Key, run: u32, pack: u32, seen: bool }

fn no_row_best() -> RowBest { return RowBest(LEAST_KEY, 0u, 0u, false); }

fn offer_tile(w: RowBest, tile: Peak, run: u32, pack: u32) -> RowBest {
    let key = peak_key(tile);
    let tie = tie_key(key);
    let best = tie_key(w.key);
    let takes = !w.seen | key_greater(tie, best) | (LAST & key_equal(tie, best));
    return RowBest(key_max(w.key, key), select(w.run, run, RUNS & takes), select(w.pack, pack, takes), true);
}

fn row_result(w: RowBest, chunk: Chunk, base: u32) -> Best {
    if (no_input() || !w.seen) { // see grid.wgsl
        return no_best();
    }
    let run = run_within(w.run, chunk.begin, chunk.end);
    let begin = base + run.offset;
    return Best(w.key, run.r + locate(w, begin, begin + run.len) - begin);
}

// The element of the winning tile that has its tie. Whatever lies in the run and has the tie is a right answer for
// this invocation: none of its own other tiles has it at a better place.
fn locate(w: RowBest, begin: u32, end: u32) -> u32 {
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
