// Reduces where the outputs stand side by side in memory: a pack of columns, rows apart by run_stride. Where RAGGED, rows of
// columns begin anywhere. How a pack goes down the rows of a run is said by column_rows.wgsl or column_tiles.wgsl.
import package::{
    Chunk, ColumnBests, RUNS, Reduced, first_elements, joined, nothing_reduced, offer_row, pack_from, params, run_of, run_within,
    with_run,
};

override COLUMN_PACKS: u32 = 1u; // packs side by side that an invocation takes
override REST: bool = false; // where several rows count as one, those left over are the beginning of one more

// `count` outputs from number `first` on, which begin at a column of their row. Those behind them in it end at column `end`.
struct ColumnOutputs { chunk: Chunk, column: u32, first: u32, count: u32, end: u32 }

// What a pack, or a panel, has in the runs of a chunk.
fn reduce_runs(start: u32, chunk: Chunk) -> Reduced {
    let nothing = nothing_reduced(chunk);
    if (!RUNS) {
        return with_run(nothing, start, run_within(0u, chunk.begin, chunk.end));
    }
    var found = nothing;
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        found = with_run(found, start, run_within(n, chunk.begin, chunk.end));
        continuing {
            n += 1u;
            break if n >= runs_end;
        }
    }
    return found;
}

// With what the rows left over have in the pack that begins with a row's column number `column`: where they end, it has the row before
// once more.
fn with_rest(found: ColumnBests, start: u32, column: u32, chunk: Chunk) -> ColumnBests {
    var all = found;
    if (REST && chunk.end == params.reduce_len && column < params.rest_len) {
        let e = start + chunk.end * params.run_stride;
        let wanted = first_elements(params.rest_len - column);
        offer_row(&all, joined(pack_from(e), pack_from(e - params.run_stride), wanted), chunk.end);
    }
    return all;
}
