// Floats of at most 32 bits, on left-aligned bits (see narrow.wgsl).
//
// No comparison here is a float's: an implementation may assume that NaN does not occur and may flush subnormals.
// Keys: the negative numbers' bits inverted, the others' with the sign bit set, so that -0 stands just below +0. NaN,
// of either sign, is the greatest key, or the least where NANS_IGNORED.

override NANS_IGNORED: bool = false;

const ABOVE_NEGATIVE_INFINITY = 0x80000000u | INFINITY | ~ELEMENT_MASK;

fn is_nan(bits: u32) -> bool { return (bits & 0x7fffffffu & ELEMENT_MASK) > INFINITY; }

fn key_of(bits: u32) -> Key {
    let key = bits ^ select(0x80000000u, ELEMENT_MASK, bits >= 0x80000000u);
    return select(key, select(ELEMENT_MASK, 0u, NANS_IGNORED), is_nan(bits));
}
// NaN comes back as the canonical quiet one.
fn bits_of(key: Key) -> u32 {
    let bits = key ^ select(ELEMENT_MASK, 0x80000000u, key >= 0x80000000u);
    return select(bits, QUIET_NAN, is_nan(bits));
}
// For positions -0 and +0 are equal.
fn tie_key(key: Key) -> Key { return select(key, 0x80000000u, key == (0x7fffffffu & ELEMENT_MASK)); }
fn tie_keys(keys: vec4<u32>) -> vec4<u32> {
    return select(keys, vec4<u32>(0x80000000u), keys == vec4<u32>(0x7fffffffu & ELEMENT_MASK));
}
fn nothing_but_nan(key: Key) -> bool { return NANS_IGNORED && key == 0u; }

// Lanes that must not count: -inf, or a NaN where NaN loses to everything.
fn least_pack() -> vec4<u32> {
    let least = 0x80000000u | INFINITY;
    return select(vec4<u32>(least | (least >> (ELEMENT_BITS % 32u))), vec4<u32>(0xffffffffu), vec4<bool>(NANS_IGNORED));
}

// Three plain maxima of raw bits are enough to know, once, at the end: the greatest non-negative number or positive
// NaN (as signed integers), the greatest negative number (the least unsigned), a negative NaN (the greatest unsigned).
// Bits below the element are decided by it and cleared at the end.
struct Extremes { signed_max: vec4<i32>, unsigned_min: vec4<u32>, unsigned_max: vec4<u32> }

fn no_extremes() -> Extremes {
    return Extremes(vec4<i32>(bitcast<i32>(0x80000000u)), vec4<u32>(0xffffffffu), vec4<u32>(0u));
}

fn fold_extremes(e: Extremes, raw: vec4<u32>) -> Extremes {
    var bits = raw;
    if (NANS_IGNORED) {
        // All ones: below -inf among the negative numbers, and told from it at the end.
        let nan = (raw & vec4<u32>(0x7fffffffu & ELEMENT_MASK)) > vec4<u32>(INFINITY);
        bits = select(raw, vec4<u32>(0xffffffffu), nan);
    }
    return Extremes(
        max(e.signed_max, bitcast<vec4<i32>>(bits)),
        min(e.unsigned_min, bits),
        max(e.unsigned_max, bits),
    );
}

fn extreme_is_nan(e: Extremes) -> vec4<bool> {
    let positive = bitcast<vec4<u32>>(e.signed_max) & vec4<u32>(ELEMENT_MASK);
    let positive_nan = (e.signed_max >= vec4<i32>(0)) & (positive > vec4<u32>(INFINITY));
    return positive_nan | (e.unsigned_max > vec4<u32>(ABOVE_NEGATIVE_INFINITY));
}

fn extreme_keys(e: Extremes) -> vec4<u32> {
    let positive = bitcast<vec4<u32>>(e.signed_max) | vec4<u32>(0x80000000u);
    let keys = select(~e.unsigned_min, positive, e.signed_max >= vec4<i32>(0)) & vec4<u32>(ELEMENT_MASK);
    if (NANS_IGNORED) {
        return keys;
    }
    return select(keys, vec4<u32>(ELEMENT_MASK), extreme_is_nan(e));
}

fn extreme_bits(e: Extremes) -> vec4<u32> {
    let greatest = select(e.unsigned_min, bitcast<vec4<u32>>(e.signed_max), e.signed_max >= vec4<i32>(0));
    let bits = greatest & vec4<u32>(ELEMENT_MASK);
    if (NANS_IGNORED) {
        return select(bits, vec4<u32>(QUIET_NAN), (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(INFINITY));
    }
    return select(bits, vec4<u32>(QUIET_NAN), extreme_is_nan(e));
}
