// Stores records of values. Those that windows write to together begin as zeros, which are the least key.
import package::{ACCUMULATE, Best, KEY_WORDS, RECORD_WORDS, Unit, key_from_words, key_max, key_word, record_of, records};

fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    let at = record_of(task) * RECORD_WORDS;
    var key = best.key;
    if (ACCUMULATE) {
        key = key_max(key_from_words(records[at], records[at + KEY_WORDS - 1u]), key);
    }
    records[at] = key_word(key, 0u);
    if (KEY_WORDS > 1u) {
        records[at + 1u] = key_word(key, 1u);
    }
    return unit;
}
