// One pack of columns.
import package::{Chunk, reduced_column, stored_whole};

fn reduce_inner_packs(start: u32, chunk: Chunk, first: u32, own_first: u32) { stored_whole(reduced_column(start, chunk), first); }
