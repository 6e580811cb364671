// Reduces where the outputs stand side by side in memory: a pack of columns, rows apart by run_stride. Where RAGGED, rows of
// columns begin anywhere. How a pack goes down the rows of a run is said by column_rows.wgsl or column_tiles.wgsl.
import package::{Chunk, ColumnBests, RUNS, located, no_column_bests, run_of, run_within, with_run};

override COLUMN_PACKS: u32 = 1u; // packs side by side that an invocation takes

// `count` outputs from number `first` on, which begin at a column of their row.
struct ColumnOutputs { chunk: Chunk, column: u32, first: u32, count: u32 }

// With the rows of the winners.
fn reduced_column(start: u32, chunk: Chunk) -> ColumnBests {
    return located(reduce_column(start, chunk), start, chunk.end);
}

// One pack.
fn reduce_column(start: u32, chunk: Chunk) -> ColumnBests {
    let none = no_column_bests(chunk);
    if (!RUNS) {
        return with_run(none, start, run_within(0u, chunk.begin, chunk.end));
    }
    var bests = none;
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        bests = with_run(bests, start, run_within(n, chunk.begin, chunk.end));
        continuing {
            n += 1u;
            break if n >= runs_end;
        }
    }
    return bests;
}
