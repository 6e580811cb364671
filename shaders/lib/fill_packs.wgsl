// Pack by pack.
import package::{BoundPack, bound_pack, params};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

fn fill(i: u32) { values[i] = bound_pack(vec4<u32>(params.low, params.high, params.low, params.high)); }
