// Packs of ones and zeros.
import package::{BoundPack, bound_pack};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

const STORES_KEYS = false;

fn store_ones(i: u32, pack: vec4<u32>) { values[i] = bound_pack(pack); }
