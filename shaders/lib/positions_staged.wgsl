// Positions that are exchanged, in the place of the bunch of which they are: nobody else reads that, and its invocation has.
import package::{WORDS_APART, staged};

fn leave_position(local: u32, row: u32, position: u32) { staged[local * WORDS_APART + row] = position; }
fn found_position(local: u32, row: u32) -> u32 { return staged[local * WORDS_APART + row]; }
