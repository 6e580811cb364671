// Values that are merged.
import package::{Best, KEY_WORDS, key_from_words, least_key, partial_key, partial_place, records};

// A record of values is a key, whichever fold it is of.
fn recorded(at: u32) -> Best { return Best(key_from_words(records[at], records[at + KEY_WORDS - 1u])); }
fn of_fold(best: Best, fold: u32, folds: u32) -> Best { return best; }

// A partial of values, as a record.
fn best_of_partial(at: u32) -> Best {
    return Best(select(partial_key(at), least_key(), all(partial_place(at) == vec2<u32>(0u))));
}
