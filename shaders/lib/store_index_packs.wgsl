// Positions of columns that are whole packs, four at once.
import package::{BoundPack, Chunk, ColumnBests, bound_pack, stored_whole};

@group(0) @binding(3) var<storage, read_write> indices: array<BoundPack>;

override INDEX_WORDS: u32 = 2u; // i64 has two, the low one first

const STORE_LANES = 1u;
const STORES_KEYS = false;
const STORES_PACKS = true;

fn store_first(found: ColumnBests, chunk: Chunk, first: u32, count: u32) { stored_whole(found, first); }
fn store_positions(first: u32, positions: vec4<u32>) {
    let p = first / 4u * INDEX_WORDS;
    if (INDEX_WORDS == 1u) {
        indices[p] = bound_pack(positions);
    } else {
        indices[p] = bound_pack(vec4<u32>(positions.x, 0u, positions.y, 0u));
        indices[p + 1u] = bound_pack(vec4<u32>(positions.z, 0u, positions.w, 0u));
    }
}
