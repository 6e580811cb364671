// The values and positions of a piece, one record a task, for the pass that finishes all pieces together.
@group(0) @binding(3) var<storage, read_write> partials: array<u32>;

override CONTINUES: bool = false; // the records hold what earlier pieces have found

const STORES_KEYS = true;
const STORE_LANES = 1u;
const RECORD_WORDS = KEY_WORDS + 2u;

fn task_count() -> u32 { return params.outputs * params.chunks; }
fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    let at = record_of(task) * RECORD_WORDS;
    var key = best.key;
    var position = whole_position(best.position);
    if (CONTINUES) {
        let old_key = key_from_words(partials[at], partials[at + KEY_WORDS - 1u]);
        let old = vec2<u32>(partials[at + KEY_WORDS], partials[at + KEY_WORDS + 1u]);
        let tie = tie_key(key);
        let old_tie = tie_key(old_key);
        let before = position.y < old.y || (position.y == old.y && position.x < old.x);
        let takes = key_greater(tie, old_tie) || (key_equal(tie, old_tie) && before != LAST);
        position = select(old, position, takes);
        key = key_max(key, old_key);
    }
    for (var i = 0u; i < KEY_WORDS; i++) {
        partials[at + i] = key_word(key, i);
    }
    partials[at + KEY_WORDS] = position.x;
    partials[at + KEY_WORDS + 1u] = position.y;
    return unit;
}
fn store_unit(index: u32, unit: Unit) {}
