// A Hardmax's output, pack by pack, where slices are whole packs.
import package::{BoundPack, PACK_ELEMENTS, bound_pack, pack_with_one};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

const WRITE_LEN = PACK_ELEMENTS; // elements written at once
const STORE_LANES = 1u;          // slices that they fill

fn write_zeros(i: u32) { values[i] = BoundPack(); }
// Where zeros stand.
fn write_one(e: u32) { values[e / WRITE_LEN] = bound_pack(pack_with_one(e % WRITE_LEN)); }
