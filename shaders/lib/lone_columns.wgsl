// Packs of columns that are reduced one by one.
import package::{Chunk, ColumnBests, no_column_bests};

alias Reduced = ColumnBests;

fn nothing_reduced(chunk: Chunk) -> ColumnBests { return no_column_bests(chunk); }
