// What a reduction to values knows of the elements seen so far.
import package::{KEY_WORDS, Key, LEAST_KEY, key_max};

struct Best { key: Key }

const RECORD_WORDS = KEY_WORDS;

fn no_best() -> Best { return Best(LEAST_KEY); }
fn rows_earlier(best: Best, rows: u32) -> Best { return best; }
fn best_of(key: Key, position: u32) -> Best { return Best(key); }
fn merge(a: Best, b: Best) -> Best { return Best(key_max(a.key, b.key)); }
