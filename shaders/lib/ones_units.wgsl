// A Hardmax's output, unit by unit, whatever the slices.
import package::{LANES, Unit, empty_unit, with_one};

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

const WRITE_LEN = LANES; // elements written at once

fn write_zeros(i: u32) { values[i] = empty_unit(); }
// Where zeros stand, or others' ones beside it.
fn write_one(e: u32) { values[e / LANES] = with_one(values[e / LANES], e % LANES); }
