// Reduces where the outputs stand side by side in memory: a pack of columns, rows apart by run_stride. Where RAGGED, rows of
// columns begin anywhere. How a pack goes down the rows of a run is said by column_rows.wgsl of positions and by
// column_tiles.wgsl of values, and how a panel of several packs does by column_panels.wgsl.
import package::{Chunk, PACK_ELEMENTS, RAGGED, RUNS, Reduced, kept_offset, nothing_reduced, params, run_of, run_within, with_run};

override COLUMN_PACKS: u32 = 1u; // packs side by side that an invocation takes

// The outputs of a pack of columns, or of a panel of several, from number `first` on, which begins at a column of its row: `count` of them
// where rows share units of the output, else all, which end before column `end`. The row begins with element number `start`, if no other
// shares its units.
struct ColumnOutputs { chunk: Chunk, start: u32, column: u32, first: u32, count: u32, end: u32 }

// Blocks of rows that count as one may begin and end within a row of columns (column_records.wgsl). Where these begin with packs, a block's
// first row begins with the pack in which the block does.
override LOOSE_ENDS: bool = false;

fn columns_start(output: u32) -> u32 { return kept_offset(output) - lead_of(output); }

// The elements of that pack that lie before the block.
fn lead_of(output: u32) -> u32 { return select(0u, kept_offset(output) % PACK_ELEMENTS, LOOSE_ENDS && !RAGGED); }

// Of a chunk the rows of which so many columns, side by side, are the block's.
fn whole_rows(chunk: Chunk, column: u32, width: u32) -> Chunk {
    if (!LOOSE_ENDS) {
        return chunk;
    }
    let lead = lead_of(chunk.output);
    let one_less = (chunk.number == 0u) & (column < lead);
    let one_more = (chunk.end == params.reduce_len) & (column + width <= params.rest_len + lead);
    let begin = chunk.begin + select(0u, 1u, one_less);
    return Chunk(chunk.output, chunk.number, begin, chunk.end + select(0u, 1u, one_more));
}

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
