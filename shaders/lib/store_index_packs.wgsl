// Positions, whole packs of them.
import package::{BoundPack, bound_pack, materialized};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

override INDEX_WORDS: u32 = 2u; // i64 has two, the low one first

const STORE_LANES = 1u;
const STORES_KEYS = false;
const STORES_PACKS = true;

// Four at once.
fn store_positions(first: u32, positions: vec4<u32>) {
    let own = materialized(positions);
    if (INDEX_WORDS == 1u) {
        values[first / 4u] = bound_pack(own);
    } else {
        let pair = first / 2u;
        values[pair] = two_positions(own.xy);
        values[pair + 1u] = two_positions(own.zw);
    }
}

// Two, which are a pack where each has two words.
fn store_two_positions(first: u32, positions: vec2<u32>) {
    values[first / 2u] = two_positions(materialized(positions.xyxy).xy);
}

fn two_positions(positions: vec2<u32>) -> BoundPack { return bound_pack(vec4<u32>(positions.x, 0u, positions.y, 0u)); }
