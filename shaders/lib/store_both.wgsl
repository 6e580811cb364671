// Values and positions. STORE_LANES results make one output unit, written once by one invocation.
import package::{Best, LANES, Unit, index_word, params, with_element};

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

override INDEX_WORDS: u32 = 2u; // i64 has two, the low one first

const STORES_KEYS = true;
const STORES_PACKS = false;
const STORE_LANES = LANES;

fn task_count() -> u32 { return params.outputs; }
fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    indices[task * INDEX_WORDS] = index_word(best, 0u);
    if (INDEX_WORDS == 2u) {
        indices[task * 2u + 1u] = index_word(best, 1u);
    }
    return with_element(unit, lane, best.key);
}
fn store_unit(index: u32, unit: Unit) { values[index] = unit; }
fn store_positions(first: u32, positions: vec4<u32>) {}
