// Positions that are exchanged, in workgroup memory of their own.
import package::{BUNCH_ROWS, GROUP};

// Of each invocation those of its bunch, and a place that is no one's: so neighbours store to different banks.
var<workgroup> positions: array<array<u32, BUNCH_ROWS + 1u>, GROUP>;

fn leave_position(local: u32, row: u32, position: u32) { positions[local][row] = position; }
fn found_position(local: u32, row: u32) -> u32 { return positions[local][row]; }
