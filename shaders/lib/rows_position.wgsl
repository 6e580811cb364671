// Positions of rows. By itself an invocation compares the maximum of a tile once with the best so far, keeps only the winning
// tile's first element, and reads that tile again at the end. In a team it keeps the winning pack's first element, as a position: so
// teams merge, and only the winner of all is looked at again.
import package::{
    Best, Chunk, FEW_PACKS, Key, LAST, LEAST_KEY, PACK_ELEMENTS, RAGGED, RUNS, TEAM, Tie, Tile, chunk_of, is_none, join_peaks,
    kept_offset, key_equal, key_greater, key_max, matches, no_best, no_input, pack_at, pack_within, params, peak_key, peak_of,
    run_of, run_within, tie_key, tie_of, tile_at,
};

struct RowBest { key: Key, run: u32, first: u32, seen: bool }

fn no_row_best() -> RowBest { return RowBest(LEAST_KEY, 0u, 0u, false); }

fn offer_tile(best: RowBest, p: u32, last: u32, run: u32) -> RowBest {
    let tile = tile_at(p, last);
    if (TEAM > 1u) {
        let winner = tile_winner(tile);
        return offer_key(best, winner.key, run, winner.pack * PACK_ELEMENTS);
    }
    let peaks = join_peaks(join_peaks(peak_of(tile.a), peak_of(tile.b)), join_peaks(peak_of(tile.c), peak_of(tile.d)));
    return offer_key(best, peak_key(peaks), run, p * PACK_ELEMENTS);
}

fn offer_pack(best: RowBest, words: vec4<u32>, run: u32, first: u32) -> RowBest {
    return offer_key(best, peak_key(peak_of(words)), run, first);
}

// A key, and the pack, or the first one of the tile, that has it.
struct Winner { key: Key, pack: u32 }

fn tile_winner(tile: Tile) -> Winner {
    let a = Winner(peak_key(peak_of(tile.a)), tile.places.x);
    let b = Winner(peak_key(peak_of(tile.b)), tile.places.y);
    let c = Winner(peak_key(peak_of(tile.c)), tile.places.z);
    let d = Winner(peak_key(peak_of(tile.d)), tile.places.w);
    return later_winner(later_winner(a, b), later_winner(c, d));
}

// Of two of which the second lies behind the first, or is the tile's first once more.
fn later_winner(a: Winner, b: Winner) -> Winner {
    if (b.pack <= a.pack) {
        return a;
    }
    return Winner(key_max(a.key, b.key), select(a.pack, b.pack, overtakes(a.key, b.key)));
}

fn overtakes(before: Key, key: Key) -> bool {
    let tie = tie_key(key);
    let best = tie_key(before);
    return key_greater(tie, best) | (LAST & key_equal(tie, best));
}

fn offer_key(best: RowBest, key: Key, run: u32, first: u32) -> RowBest {
    let takes = !best.seen | overtakes(best.key, key);
    return RowBest(key_max(best.key, key), select(best.run, run, RUNS & takes), select(best.first, first, takes), true);
}

fn row_result(best: RowBest, chunk: Chunk, base: u32) -> Best {
    if (no_input() || !best.seen) {
        return no_best();
    }
    let run = run_within(best.run, chunk.begin, chunk.end);
    let begin = base + run.offset;
    let end = begin + run.len;
    var e = max(best.first, begin);
    if (FEW_PACKS) {
        e = element_of(best.first, matches_within(best.first, tie_of(best.key), begin, end));
    } else if (TEAM == 1u) {
        e = locate(best, begin, end);
    }
    return Best(best.key, run.r + e - begin);
}

// The winner's own position in the place of its pack's.
fn placed(best: Best, task: u32) -> Best {
    if (TEAM == 1u || is_none(best.position)) {
        return best;
    }
    let chunk = chunk_of(task, params.outputs);
    let run = run_within(run_of(best.position), chunk.begin, chunk.end);
    let begin = kept_offset(chunk.output) + run.offset;
    let first = (begin + best.position - run.r) / PACK_ELEMENTS * PACK_ELEMENTS;
    let found = matches_within(first, tie_of(best.key), begin, begin + run.len);
    return Best(best.key, run.r + element_of(first, found) - begin);
}

// The element of the winning tile that has its tie. Whatever lies in the run and has the tie is a right answer for
// this invocation: none of its own other tiles has it at a better place.
fn locate(best: RowBest, begin: u32, end: u32) -> u32 {
    let tie = tie_of(best.key);
    var first = best.first;
    var found = 0u;
    var i = 0u;
    loop {
        if (i >= 4u) {
            break;
        }
        first = best.first + select(i, 3u - i, LAST) * PACK_ELEMENTS;
        found = matches_within(first, tie, begin, end);
        continuing {
            i += 1u;
            break if (i >= 4u) | (found != 0u);
        }
    }
    return element_of(first, found);
}

// The first, or the last, of a pack's elements that those bits stand for.
fn element_of(first: u32, found: u32) -> u32 {
    return first + select(firstTrailingBit(found), firstLeadingBit(found), LAST);
}

// A bit for each element of the pack with that first one that lies in the run and has the tie.
fn matches_within(first: u32, tie: Tie, begin: u32, end: u32) -> u32 {
    if (!RAGGED) { // then packs lie in the run or behind it
        let within = first < end;
        return select(0u, matches(pack_at(select(begin, first, within) / PACK_ELEMENTS), tie), within);
    }
    let from_begin = 0xffffffffu << (max(begin, first) - first);
    let from_end = 0xffffffffu << min(max(end, first) - first, PACK_ELEMENTS);
    return matches(pack_within(first, begin, end), tie) & from_begin & ~from_end;
}
