// Values, whole packs of them.
import package::{BoundPack, PACK_ELEMENTS, stored_pack};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

const STORE_LANES = 1u; // a pack is a unit of its own
const STORES_KEYS = false;

fn store_values(first: u32, pack: vec4<u32>) { values[first / PACK_ELEMENTS] = stored_pack(pack); }
