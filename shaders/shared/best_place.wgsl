// As best_position.wgsl, with positions of 64 bits: what is known once the pieces of a reduction are put together.
struct Best { key: Key, position: vec2<u32> } // low, high

override LAST: bool = false;

const BEST_WORDS = KEY_WORDS + 2u;
const NO_POSITION = vec2<u32>(0xffffffffu, 0xffffffffu); // nothing seen yet

fn no_best() -> Best { return Best(LEAST_KEY, NO_POSITION); }

fn merge(a: Best, b: Best) -> Best {
    let tie_a = tie_key(a.key);
    let tie_b = tie_key(b.key);
    let before = b.position.y < a.position.y || (b.position.y == a.position.y && b.position.x < a.position.x);
    let takes = all(a.position == NO_POSITION)
        || key_greater(tie_b, tie_a)
        || (key_equal(tie_b, tie_a) && before != LAST);
    let position = select(a.position, b.position, takes && any(b.position != NO_POSITION));
    return Best(key_max(a.key, b.key), position);
}

fn found_position(low: u32, high: u32) -> vec2<u32> { return vec2<u32>(low, high); }

// Where nothing but ignored NaNs was seen, the index is 0 whichever end wins ties.
fn index_word(best: Best, i: u32) -> u32 { return select(best.position[i], 0u, nothing_but_nan(best.key)); }
