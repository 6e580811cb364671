// Floats of at most 32 bits, on left-aligned bits (see narrow.wgsl).
//
// No comparison here is a float's: an implementation may assume that NaN does not occur and may flush subnormals.
// Keys: the negative numbers' bits inverted, the others' with the sign bit set, so that -0 stands just below +0. NaN,
// of either sign, is the greatest key, or the least where NANS_IGNORED.
import package::{ELEMENT_BITS, ELEMENT_MASK, INFINITY, Key, QUIET_NAN, word_extremes};

override NANS_IGNORED: bool = false;

const SIGNED_ZEROS = true; // which are one tie, and two keys
const LEAST_BIT = ~ELEMENT_MASK + 1u; // of an element

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
// Ties are the same order as signed integers, which take fewer steps to make and to compare: of a negative number its
// magnitude's bits negated, so that both zeros' is 0; of NaN the greatest element's or, where ignored, the one above LEAST.
fn ties_of(bits: vec4<u32>) -> vec4<i32> {
    let signed = bitcast<vec4<i32>>(bits);
    let ties = select(signed, vec4<i32>(LEAST) - signed, signed < vec4<i32>(0));
    let nan_tie = select(bitcast<i32>(0x7fffffffu & ELEMENT_MASK), LEAST + i32(LEAST_BIT), NANS_IGNORED);
    let magnitude = bitcast<vec4<i32>>(bits & vec4<u32>(0x7fffffffu & ELEMENT_MASK));
    return select(ties, vec4<i32>(nan_tie), magnitude > vec4<i32>(i32(INFINITY)));
}
// +0's key for either zero.
fn keys_of_ties(ties: vec4<i32>) -> vec4<u32> {
    let own = ties - select(vec4<i32>(0), vec4<i32>(i32(LEAST_BIT)), ties < vec4<i32>(0));
    return bitcast<vec4<u32>>(own) ^ vec4<u32>(0x80000000u);
}
// And back, of either zero's.
fn ties_of_keys(keys: vec4<u32>) -> vec4<i32> {
    let ties = bitcast<vec4<i32>>(keys ^ vec4<u32>(0x80000000u));
    return ties + select(vec4<i32>(0), vec4<i32>(i32(LEAST_BIT)), ties < vec4<i32>(0));
}
fn nothing_but_nan(key: Key) -> bool { return NANS_IGNORED && key == 0u; }

// What every element is greater than, or the same as: -inf, or a NaN where NaN loses to everything.
fn least_key() -> Key { return select(~(0x80000000u | INFINITY) & ELEMENT_MASK, 0u, NANS_IGNORED); }
// Lanes that must not count.
fn least_pack() -> vec4<u32> {
    let least = 0x80000000u | INFINITY;
    return select(vec4<u32>(least | (least >> (ELEMENT_BITS % 32u))), vec4<u32>(0xffffffffu), vec4<bool>(NANS_IGNORED));
}

// Two extremes of the raw bits, as signed integers, are enough to know, once, at the end, the greatest number and whether
// there was a NaN. The greatest is the greatest non-negative number or positive NaN, if there is any. The least of the
// bits shifted is a negative NaN, if there is any, or else the greatest of the negative numbers, if there are no others.
// Bits below the element are decided by it, and for whoever asks for elements to clear.
struct Extremes { greatest: vec4<i32>, shifted_least: vec4<i32> }
// The same, of all elements together.
struct Peak { greatest: i32, shifted_least: i32 }

// Shifted bits wrap around so that the first one above -inf is the least; where NaNs are ignored, so that all ones,
// which stand for them, are the greatest.
fn shift() -> u32 {
    return select(0x7fffffffu - (0x80000000u | INFINITY | ~ELEMENT_MASK), 0x80000000u, NANS_IGNORED);
}

const LEAST = -2147483647 - 1;
const GREATEST = 2147483647;

fn no_extremes() -> Extremes { return Extremes(vec4<i32>(LEAST), vec4<i32>(GREATEST)); }
fn no_peak() -> Peak { return Peak(LEAST, GREATEST); }

fn extremes_of(raw: vec4<u32>) -> Extremes {
    var bits = raw;
    if (NANS_IGNORED) {
        let nan = (raw & vec4<u32>(0x7fffffffu & ELEMENT_MASK)) > vec4<u32>(INFINITY);
        bits = select(raw, vec4<u32>(0xffffffffu), nan);
    }
    return Extremes(bitcast<vec4<i32>>(bits), bitcast<vec4<i32>>(bits + vec4<u32>(shift())));
}

fn join_extremes(a: Extremes, b: Extremes) -> Extremes {
    return Extremes(max(a.greatest, b.greatest), min(a.shifted_least, b.shifted_least));
}

fn peak_of(pack: vec4<u32>) -> Peak {
    let e = word_extremes(pack);
    let greatest = max(e.greatest.xy, e.greatest.zw);
    let least = min(e.shifted_least.xy, e.shifted_least.zw);
    return Peak(max(greatest.x, greatest.y), min(least.x, least.y));
}
fn join_peaks(a: Peak, b: Peak) -> Peak {
    return Peak(max(a.greatest, b.greatest), min(a.shifted_least, b.shifted_least));
}
fn peak_key(p: Peak) -> Key {
    return extreme_keys(Extremes(vec4<i32>(p.greatest), vec4<i32>(p.shifted_least))).x & ELEMENT_MASK;
}

fn greatest_negative(e: Extremes) -> vec4<u32> { return bitcast<vec4<u32>>(e.shifted_least) - vec4<u32>(shift()); }

fn extreme_is_nan(e: Extremes) -> vec4<bool> {
    let positive_nan = e.greatest > vec4<i32>(bitcast<i32>(INFINITY | ~ELEMENT_MASK));
    return positive_nan | (e.shifted_least < vec4<i32>(bitcast<i32>(shift())));
}

fn extreme_keys(e: Extremes) -> vec4<u32> {
    let positive = bitcast<vec4<u32>>(e.greatest) | vec4<u32>(0x80000000u);
    let keys = select(positive, ~greatest_negative(e), e.greatest < vec4<i32>(0));
    if (NANS_IGNORED) {
        return keys;
    }
    return select(keys, vec4<u32>(ELEMENT_MASK), extreme_is_nan(e));
}

fn extreme_bits(e: Extremes) -> vec4<u32> {
    let bits = select(bitcast<vec4<u32>>(e.greatest), greatest_negative(e), e.greatest < vec4<i32>(0));
    if (NANS_IGNORED) {
        let nan = (bits & vec4<u32>(0x7fffffffu & ELEMENT_MASK)) > vec4<u32>(INFINITY);
        return select(bits, vec4<u32>(QUIET_NAN), nan);
    }
    return select(bits, vec4<u32>(QUIET_NAN), extreme_is_nan(e));
}
