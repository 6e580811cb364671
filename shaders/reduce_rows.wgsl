// Reduces where the run is contiguous: whole packs, four loads in flight.
import package::{
    Best, FARTHEST, RAGGED, RUNS, RowBest, TEAM, chunk_of, kept_offset, no_row_best, offer_tile, pack_range, params,
    partial_pack, peak_of, row_result, run_of, run_within, tile_peak,
};

fn reduce_chunk(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var best = no_row_best();
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        let begin = base + run.offset;
        best = reduce_run(best, n, begin, begin + run.len, member);
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return row_result(best, chunk, base);
}

// Offers the tiles of elements [begin, end) that are a member's.
fn reduce_run(before: RowBest, run: u32, begin: u32, end: u32, member: u32) -> RowBest {
    let range = pack_range(begin, end);
    var best = before;
    if (RAGGED && range.head && member == 0u) {
        best = offer_tile(best, peak_of(partial_pack(range.first - 1u, begin, end)), run, range.first - 1u);
    }
    let last = min(range.last, FARTHEST);
    var p = range.first + member;
    loop {
        if (p >= last) {
            break;
        }
        best = offer_tile(best, tile_peak(p, last), run, p);
        continuing {
            p += 4u * TEAM;
            break if p >= last;
        }
    }
    if (RAGGED && range.tail && member == TEAM - 1u) {
        best = offer_tile(best, peak_of(partial_pack(range.last, begin, end)), run, range.last);
    }
    return best;
}
