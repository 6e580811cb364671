// The values and positions of a piece, one record a task, joined with what earlier pieces have found. Records begin as
// zeros: the least key, at the first position. That wins only where every key is the least and the first of equal ones is
// asked for, and then it is the answer.
@group(0) @binding(3) var<storage, read_write> partials: array<u32>;

const STORES_KEYS = true;
const STORE_LANES = 1u;
const RECORD_WORDS = KEY_WORDS + 2u;

fn task_count() -> u32 { return params.outputs * params.chunks; }
fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    let at = record_of(task) * RECORD_WORDS;
    let found = whole_position(best.position);
    let old_key = key_from_words(partials[at], partials[at + KEY_WORDS - 1u]);
    let old = vec2<u32>(partials[at + KEY_WORDS], partials[at + KEY_WORDS + 1u]);
    let tie = tie_key(best.key);
    let old_tie = tie_key(old_key);
    let before = found.y < old.y || (found.y == old.y && found.x < old.x);
    let takes = key_greater(tie, old_tie) || (key_equal(tie, old_tie) && before != LAST);
    let position = select(old, found, takes);
    let key = key_max(best.key, old_key);
    for (var i = 0u; i < KEY_WORDS; i++) {
        partials[at + i] = key_word(key, i);
    }
    partials[at + KEY_WORDS] = position.x;
    partials[at + KEY_WORDS + 1u] = position.y;
    return unit;
}
fn store_unit(index: u32, unit: Unit) {}
