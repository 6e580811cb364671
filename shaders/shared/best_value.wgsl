// What a reduction to values knows of the elements seen so far.
struct Best { key: Key }

const BEST_WORDS = KEY_WORDS;

fn no_best() -> Best { return Best(LEAST_KEY); }
fn merge(a: Best, b: Best) -> Best { return Best(key_max(a.key, b.key)); }

fn best_word(best: Best, i: u32) -> u32 { return key_word(best.key, i); }
