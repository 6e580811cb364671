// Word by word.
import package::{params};

@group(0) @binding(3) var<storage, read_write> values: array<u32>;

fn fill(i: u32) { values[i] = select(params.low, params.high, i % 2u == 1u); }
