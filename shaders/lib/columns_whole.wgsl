// The results of a pack of columns, which are stored as a whole.
import package::{Chunk, ColumnBests, stored_whole};

fn store_part(found: ColumnBests, chunk: Chunk, first: u32, begin: u32, end: u32) { stored_whole(found, first); }
