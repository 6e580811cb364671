// Packs of columns that are reduced one by one.
import package::{Chunk, ColumnBests, located, no_column_bests, reduce_runs};

alias Reduced = ColumnBests;

fn nothing_reduced(chunk: Chunk) -> ColumnBests { return no_column_bests(chunk); }

// One pack, with the rows of the winners.
fn reduced_column(start: u32, chunk: Chunk) -> ColumnBests { return located(reduce_runs(start, chunk), start, chunk.end); }
