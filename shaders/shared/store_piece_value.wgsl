// The values of a piece, one record a task, joined with what earlier pieces have found: zeros to begin with, which are
// the least key.
@group(0) @binding(3) var<storage, read_write> partials: array<u32>;

const STORE_LANES = 1u;
const STORES_UNITS = false; // but records

fn task_count() -> u32 { return params.outputs * params.chunks; }
fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    let at = record_of(task) * KEY_WORDS;
    let key = key_max(best.key, key_from_words(partials[at], partials[at + KEY_WORDS - 1u]));
    for (var i = 0u; i < KEY_WORDS; i++) {
        partials[at + i] = key_word(key, i);
    }
    return unit;
}
fn store_unit(index: u32, unit: Unit) {}
