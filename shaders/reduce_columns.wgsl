// Reduces where the outputs stand side by side in memory: a pack of columns, rows apart by run_stride. Where RAGGED, rows of
// columns begin anywhere. How a pack goes down the rows of a run is said by column_rows.wgsl or column_tiles.wgsl, and how a panel of
// several packs does by column_panels.wgsl.
import package::{Chunk, RUNS, Reduced, nothing_reduced, run_of, run_within, with_run};

override COLUMN_PACKS: u32 = 1u; // packs side by side that an invocation takes

// The outputs of a pack of columns, or of a panel of several, from number `first` on, which begins at a column of its row: `count` of them
// where rows share units of the output, else all, which end before column `end`.
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
