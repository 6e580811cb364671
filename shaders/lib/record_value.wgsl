// A record of values is a key.
import package::{Best, KEY_WORDS, key_from_words, records};

fn recorded(at: u32) -> Best { return Best(key_from_words(records[at], records[at + KEY_WORDS - 1u])); }
fn of_fold(best: Best, fold: u32, bits: u32) -> Best { return best; }
