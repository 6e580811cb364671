// Reduces where the run is contiguous: whole packs, four loads in flight. RUN_MEMBERS of a team take a run together; where runs are
// too short for all of them, the others take other runs meanwhile.
import package::{
    Best, ELEMENT_BITS, FARTHEST, LANES, PACK_ELEMENTS, RAGGED, RUNS, RowBest, TEAM, chunk_of, joined,
    kept_offset, least_pack, masked_pack, no_row_best, offer_pack, offer_tile, pack_at, pack_from_word, packs, params,
    partial_pack, row_result, run_of, run_within, word_count,
};

override RUN_MEMBERS: u32 = TEAM;
override FEW_PACKS: bool = false; // runs are a few packs, and begin anywhere: packs are taken one by one, whole ones under masks
override FROM_WORDS: bool = false; // these packs begin with words: the first with the run's first, and the last ends with its last

// A Hardmax's slice is what is reduced to an output, and its team writes all of it.
fn slice_len() -> u32 { return params.reduce_len; }
fn parts_of_slice() -> u32 { return 1u; }

fn reduce_chunk(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var best = no_row_best();
    if (!RUNS) {
        if (RUN_MEMBERS == TEAM || member < RUN_MEMBERS) {
            let run = run_within(0u, chunk.begin, chunk.end);
            let begin = base + run.offset;
            best = reduce_run(best, 0u, begin, begin + run.len, member);
        }
        return row_result(best, chunk, base);
    }
    let runs_end = min(run_of(chunk.end - 1u) + 1u, FARTHEST);
    var n = run_of(chunk.begin) + member / RUN_MEMBERS;
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        let begin = base + run.offset;
        best = reduce_run(best, n, begin, begin + run.len, member % RUN_MEMBERS);
        continuing {
            n += TEAM / RUN_MEMBERS;
            break if n >= runs_end;
        }
    }
    return row_result(best, chunk, base);
}

// Offers the tiles of elements [begin, end) that are a member's.
fn reduce_run(before: RowBest, run: u32, begin: u32, end: u32, member: u32) -> RowBest {
    if (FEW_PACKS && FROM_WORDS) {
        return reduce_few_packs_of_words(before, run, begin, end);
    }
    if (FEW_PACKS) {
        return reduce_few_packs(before, run, begin, end);
    }
    let range = pack_range(begin, end);
    var best = before;
    if (RAGGED && range.head && member == 0u) {
        best = offer_pack(best, partial_pack(range.first - 1u, begin, end), run, (range.first - 1u) * PACK_ELEMENTS);
    }
    let last = min(range.last, FARTHEST);
    for (var p = range.first + member; p < last; p += 4u * RUN_MEMBERS) {
        best = offer_tile(best, p, last, run);
    }
    if (RAGGED && range.tail && member == RUN_MEMBERS - 1u) {
        best = offer_pack(best, partial_pack(range.last, begin, end), run, range.last * PACK_ELEMENTS);
    }
    return best;
}

fn reduce_few_packs(before: RowBest, run: u32, begin: u32, end: u32) -> RowBest {
    let last = min((end + PACK_ELEMENTS - 1u) / PACK_ELEMENTS, FARTHEST);
    let whole = min(last, arrayLength(&packs));
    var best = before;
    var p = begin / PACK_ELEMENTS;
    loop {
        if (p >= whole) {
            break;
        }
        best = offer_pack(best, masked_pack(pack_at(p), p, begin, end), run, p * PACK_ELEMENTS);
        continuing {
            p += 1u;
            break if p >= whole;
        }
    }
    if (whole < last) { // the binding ends within it
        best = offer_pack(best, partial_pack(whole, begin, end), run, whole * PACK_ELEMENTS);
    }
    return best;
}

// A run of more than a pack. The last pack ends with the run, whatever it shares with the one before: that changes no maximum. So
// nothing but the first word of all and the last one may have others' elements.
fn reduce_few_packs_of_words(before: RowBest, run: u32, begin: u32, end: u32) -> RowBest {
    let first = begin / LANES * LANES;
    let last = select(0u, (end - 1u) / LANES * LANES + LANES - PACK_ELEMENTS, word_count() > 0u); // see grid.wgsl, Lengths
    let own_of_first = 0xffffffffu << (ELEMENT_BITS * (begin - first));
    let own_of_last = 0xffffffffu >> (ELEMENT_BITS * (last + PACK_ELEMENTS - end));
    // Of all runs alike: where one has less, its last is taken twice.
    let count = (end - begin + LANES + PACK_ELEMENTS - 2u) / PACK_ELEMENTS;
    var best = before;
    for (var i = 0u; i < count; i++) {
        let e = min(first + i * PACK_ELEMENTS, last);
        var pack = pack_from_word(e);
        if (LANES > 1u) {
            let all = 0xffffffffu;
            let own = vec4<u32>(select(all, own_of_first, e == first), all, all, select(all, own_of_last, e == last));
            pack = joined(pack, least_pack(), own);
        }
        best = offer_pack(best, pack, run, e);
    }
    return best;
}

// The packs of elements [begin, end): whole ones [first, last), and a partial one before or after them.
struct PackRange { first: u32, last: u32, head: bool, tail: bool }

fn pack_range(begin: u32, end: u32) -> PackRange {
    let first = begin / PACK_ELEMENTS;
    let last = select(0u, end / PACK_ELEMENTS, arrayLength(&packs) > 0u); // see grid.wgsl, Lengths
    let head = RAGGED && begin % PACK_ELEMENTS != 0u;
    let tail = RAGGED && end % PACK_ELEMENTS != 0u && !(head && first == last);
    return PackRange(select(first, first + 1u, head), last, head, tail);
}

// A tile: four packs, RUN_MEMBERS apart, in flight together. Where it reaches beyond the last, its first pack is taken again:
// that changes no maximum, and costs less than a loop over what is left.
struct Tile { places: vec4<u32>, a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

fn tile_at(p: u32, last: u32) -> Tile {
    let second = select(p, p + RUN_MEMBERS, p + RUN_MEMBERS < last);
    let third = select(p, p + 2u * RUN_MEMBERS, p + 2u * RUN_MEMBERS < last);
    let fourth = select(p, p + 3u * RUN_MEMBERS, p + 3u * RUN_MEMBERS < last);
    let places = vec4<u32>(p, second, third, fourth);
    return Tile(places, pack_at(p), pack_at(second), pack_at(third), pack_at(fourth));
}
