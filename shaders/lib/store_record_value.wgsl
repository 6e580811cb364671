// Stores records of values. Those that windows write to together begin as zeros, which are the least key.
import package::{ACCUMULATE, Best, KEY_WORDS, RECORD_WORDS, Unit, key_word, merge, record_of, recorded, records};

fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    let at = record_of(task) * RECORD_WORDS;
    var known = best;
    if (ACCUMULATE) {
        known = merge(recorded(at), best);
    }
    records[at] = key_word(known.key, 0u);
    if (KEY_WORDS > 1u) {
        records[at + 1u] = key_word(known.key, 1u);
    }
    return unit;
}
