// Positions alone.
import package::{Best, Unit, index_word, params};

@group(0) @binding(3) var<storage, read_write> indices: array<u32>;

override INDEX_WORDS: u32 = 2u; // i64 has two, the low one first

const STORES_KEYS = false;
const STORES_PACKS = false;
const STORE_LANES = 1u;

fn task_count() -> u32 { return params.outputs; }
fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    indices[task * INDEX_WORDS] = index_word(best, 0u);
    if (INDEX_WORDS == 2u) {
        indices[task * 2u + 1u] = index_word(best, 1u);
    }
    return unit;
}
fn store_unit(index: u32, unit: Unit) {}

// Four, one after another.
fn store_positions(first: u32, positions: vec4<u32>) {
    let at = first * INDEX_WORDS;
    indices[at] = positions.x;
    indices[at + INDEX_WORDS] = positions.y;
    indices[at + 2u * INDEX_WORDS] = positions.z;
    indices[at + 3u * INDEX_WORDS] = positions.w;
    if (INDEX_WORDS == 2u) {
        indices[at + 1u] = 0u;
        indices[at + 3u] = 0u;
        indices[at + 5u] = 0u;
        indices[at + 7u] = 0u;
    }
}
