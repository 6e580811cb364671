// The results of a pack of columns, which are stored as a whole.
import package::{Chunk, ColumnBests, stored_whole};

fn store_first(found: ColumnBests, chunk: Chunk, first: u32, count: u32) { stored_whole(found, first); }
