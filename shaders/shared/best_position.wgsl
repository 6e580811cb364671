// What a reduction to positions knows of the elements seen so far: the greatest key, and the position of the first
// (or last) element that has it. -0 and +0 share positions but not keys, so that the value comes out right beside the
// position: merging takes the maximum of the keys and compares their tie keys.
struct Best { key: Key, position: u32 }

override LAST: bool = false;

const BEST_WORDS = KEY_WORDS + 1u;
const NO_POSITION = 0xffffffffu; // nothing seen yet

fn no_best() -> Best { return Best(LEAST_KEY, NO_POSITION); }

fn merge(a: Best, b: Best) -> Best {
    let tie_a = tie_key(a.key);
    let tie_b = tie_key(b.key);
    let earlier = (b.position < a.position) != LAST;
    let takes = a.position == NO_POSITION || key_greater(tie_b, tie_a) || (key_equal(tie_b, tie_a) && earlier);
    let position = select(a.position, b.position, takes && b.position != NO_POSITION);
    return Best(key_max(a.key, b.key), position);
}

fn best_word(best: Best, i: u32) -> u32 {
    if (i == KEY_WORDS) {
        return best.position;
    }
    return key_word(best.key, i);
}

fn found_position(low: u32, high: u32) -> u32 { return low; }

// Where nothing but ignored NaNs was seen, the index is 0 whichever end wins ties.
fn index_of(best: Best) -> u32 { return select(best.position, 0u, nothing_but_nan(best.key)); }
fn index_word(best: Best, i: u32) -> u32 { return select(index_of(best), 0u, i == 1u); }
