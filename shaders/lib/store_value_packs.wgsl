// Values of columns that are whole packs.
import package::{BoundPack, Chunk, ColumnBests, PACK_ELEMENTS, bound_pack, stored_whole};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

const STORE_LANES = 1u; // a pack is a unit of its own
const STORES_VALUES = true;

fn store_first(found: ColumnBests, chunk: Chunk, first: u32, count: u32) { stored_whole(found, first); }
fn store_values(first: u32, pack: vec4<u32>) { values[first / PACK_ELEMENTS] = bound_pack(pack); }
