// Stores records of positions, each a key and a position of 64 bits. Those that windows write to together begin as zeros:
// the least key, at the first position. That wins only where every key is the least and the first of equal ones is asked
// for, and then it is the answer.
import package::{
    ACCUMULATE, Best, KEY_WORDS, LAST, OUTER, RECORD_WORDS, Unit, key_equal, key_from_words, key_greater, key_max, key_word,
    params, record_of, records, tie_key,
};

fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    let at = record_of(task) * RECORD_WORDS;
    var key = best.key;
    var position = vec2<u32>(best.position, 0u);
    if (ACCUMULATE) {
        position = whole_position(best.position);
        let old_key = key_from_words(records[at], records[at + KEY_WORDS - 1u]);
        let old = vec2<u32>(records[at + KEY_WORDS], records[at + KEY_WORDS + 1u]);
        let tie = tie_key(best.key);
        let old_tie = tie_key(old_key);
        let earlier = (position.y < old.y || (position.y == old.y && position.x < old.x)) != LAST;
        let takes = key_greater(tie, old_tie) || (key_equal(tie, old_tie) && earlier);
        position = select(old, position, takes);
        key = key_max(best.key, old_key);
    }
    records[at] = key_word(key, 0u);
    if (KEY_WORDS > 1u) {
        records[at + 1u] = key_word(key, 1u);
    }
    records[at + KEY_WORDS] = position.x;
    records[at + KEY_WORDS + 1u] = position.y;
    return unit;
}

// The position in the whole tensor of the window's element r: 64 bits, the low word first.
fn whole_position(r: u32) -> vec2<u32> {
    var rest = r / params.run_len;
    var position = add_product(params.first_position, r - rest * params.run_len, params.run_logical_stride);
    let end = OUTER + params.outer_rank;
    for (var d = OUTER; (d + 1u < end) & (rest != 0u); d++) { // see grid.wgsl, Parameters
        let dim = params.dims[d];
        let next = rest / dim.x;
        position = add_product(position, rest - next * dim.x, dim.zw);
        rest = next;
    }
    return add_product(position, rest, params.dims[end - 1u].zw);
}

// sum + n * factor, in 64 bits.
fn add_product(sum: vec2<u32>, n: u32, factor: vec2<u32>) -> vec2<u32> {
    let n_low = n & 0xffffu;
    let n_high = n >> 16u;
    let factor_low = factor.x & 0xffffu;
    let factor_high = factor.x >> 16u;
    let a = n_low * factor_low;
    let b = n_high * factor_low + (a >> 16u);
    let c = n_low * factor_high + (b & 0xffffu);
    let low = sum.x + ((c << 16u) | (a & 0xffffu));
    let carry = select(0u, 1u, low < sum.x);
    return vec2<u32>(low, sum.y + n_high * factor_high + (b >> 16u) + (c >> 16u) + n * factor.y + carry);
}
