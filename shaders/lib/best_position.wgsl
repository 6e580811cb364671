// What a reduction to positions knows of the elements seen so far: the greatest key, and the position of the first
// (or last) element that has it. -0 and +0 share positions but not keys, so that the value comes out right beside the
// position: merging takes the maximum of the keys and compares their tie keys.
import package::{
    KEY_WORDS, Key, LEAST_KEY, NO_POSITION, Position, is_before, is_none, key_equal, key_greater, key_max,
    nothing_but_nan, position_word, tie_key,
};

struct Best { key: Key, position: Position }

override LAST: bool = false;

const RECORD_WORDS = KEY_WORDS + 2u; // whatever the positions here, those of records have 64 bits

fn no_best() -> Best { return Best(LEAST_KEY, NO_POSITION); }

fn merge(a: Best, b: Best) -> Best {
    let tie_a = tie_key(a.key);
    let tie_b = tie_key(b.key);
    let earlier = is_before(b.position, a.position) != LAST;
    let takes = is_none(a.position) || key_greater(tie_b, tie_a) || (key_equal(tie_b, tie_a) && earlier);
    let position = select(a.position, b.position, takes && !is_none(b.position));
    return Best(key_max(a.key, b.key), position);
}

// Where nothing but ignored NaNs was seen, the index is 0 whichever end wins ties.
fn index_word(best: Best, i: u32) -> u32 { return select(position_word(best.position, i), 0u, nothing_but_nan(best.key)); }
