// Reduces where the run is contiguous: whole packs, four loads in flight. RUN_MEMBERS of a team take a run together; where runs are
// too short for all of them, the others take other runs meanwhile.
import package::{
    Best, FARTHEST, PACK_ELEMENTS, RAGGED, RUNS, RowBest, TEAM, chunk_of, kept_offset, masked_pack, no_row_best, offer_pack,
    offer_tile, pack_at, packs, params, partial_pack, row_result, run_of, run_within,
};

override RUN_MEMBERS: u32 = TEAM;
override FEW_PACKS: bool = false; // runs are a few packs, and begin anywhere: packs are taken one by one, whole ones under masks

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
    if (FEW_PACKS) {
        return reduce_few_packs(before, run, begin, end);
    }
    let range = pack_range(begin, end);
    var best = before;
    if (RAGGED && range.head && member == 0u) {
        best = offer_pack(best, partial_pack(range.first - 1u, begin, end), run, range.first - 1u);
    }
    let last = min(range.last, FARTHEST);
    var p = range.first + member;
    loop {
        if (p >= last) {
            break;
        }
        best = offer_tile(best, p, last, run);
        continuing {
            p += 4u * RUN_MEMBERS;
            break if p >= last;
        }
    }
    if (RAGGED && range.tail && member == RUN_MEMBERS - 1u) {
        best = offer_pack(best, partial_pack(range.last, begin, end), run, range.last);
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
        best = offer_pack(best, masked_pack(pack_at(p), p, begin, end), run, p);
        continuing {
            p += 1u;
            break if p >= whole;
        }
    }
    if (whole < last) { // the binding ends within it
        best = offer_pack(best, partial_pack(whole, begin, end), run, whole);
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
