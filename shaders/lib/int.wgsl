// Integers of at most 32 bits: flipping the sign bits makes the key.
import package::{ELEMENT_MASK, Key, LEAST_KEY, Maxima, SIGNS, SIGN_BITS, lane_keys, word_maxima};

fn key_of(bits: u32) -> Key { return bits ^ (SIGNS & 0x80000000u); }
fn bits_of(key: Key) -> u32 { return key ^ (SIGNS & 0x80000000u); }
fn tie_key(key: Key) -> Key { return key; }
fn ties_of(bits: vec4<u32>) -> vec4<i32> { return bitcast<vec4<i32>>(bits ^ vec4<u32>(~SIGNS & 0x80000000u)); }
fn key_of_tie(tie: i32) -> Key { return bitcast<u32>(tie) ^ 0x80000000u; }
fn nothing_but_nan(key: Key) -> bool { return false; }
fn least_key() -> Key { return LEAST_KEY; }
fn least_pack() -> vec4<u32> { return vec4<u32>(SIGNS); }

// Running maxima are of signed integers, which compilers compare in fewer steps than unsigned ones where processors know
// nothing else: words in which every element's key has its sign bit flipped. The top element decides the comparison of
// two words: what lies below it is cleared once, at the end.
alias SignedKeys = vec4<i32>;
// The same, of all elements together.
struct Peak { greatest: i32 }

const LEAST = -2147483647 - 1;

fn no_keys() -> SignedKeys { return vec4<i32>(LEAST); }
fn signed_keys(pack: vec4<u32>) -> SignedKeys { return bitcast<vec4<i32>>(pack ^ vec4<u32>(SIGNS ^ SIGN_BITS)); }
fn keys_of(signed: SignedKeys) -> vec4<u32> {
    return (bitcast<vec4<u32>>(signed) ^ vec4<u32>(0x80000000u)) & vec4<u32>(ELEMENT_MASK);
}
fn lane_maxima(m: Maxima, lane: u32) -> vec4<u32> { return keys_of(lane_keys(m, lane)); }
fn lane_ties(m: Maxima, lane: u32) -> vec4<i32> { return lane_keys(m, lane) & vec4<i32>(bitcast<i32>(ELEMENT_MASK)); }
fn lane_bits(m: Maxima, lane: u32) -> vec4<u32> { return lane_maxima(m, lane) ^ vec4<u32>(SIGNS & 0x80000000u); }

fn no_peak() -> Peak { return Peak(LEAST); }
fn peak_of(pack: vec4<u32>) -> Peak {
    let words = word_maxima(pack);
    let pair = max(words.xy, words.zw);
    return Peak(max(pair.x, pair.y));
}
fn join_peaks(a: Peak, b: Peak) -> Peak { return Peak(max(a.greatest, b.greatest)); }
fn peak_key(p: Peak) -> Key { return keys_of(vec4<i32>(p.greatest)).x; }
