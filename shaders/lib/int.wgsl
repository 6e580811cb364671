// Integers of at most 32 bits: flipping the sign bits makes the key.
import package::{
    ELEMENT_BITS, ELEMENT_MASK, Key, LANES, LEAST_KEY, Maxima, SIGN, SIGN_BITS, joined_lanes, word_maxima, words_bits,
};

const SIGNS = (SIGN >> 31u) * SIGN_BITS; // of a word's elements
const SIGNED_ZEROS = false;
const ONE = 1u << (32u - ELEMENT_BITS); // left-aligned

fn key_of(bits: u32) -> Key { return bits ^ SIGN; }
fn bits_of(key: Key) -> u32 { return key ^ SIGN; }
fn tie_key(key: Key) -> Key { return key; }
fn ties_of(bits: vec4<u32>) -> vec4<i32> { return bitcast<vec4<i32>>(bits ^ vec4<u32>(SIGN ^ 0x80000000u)); }
fn keys_of_ties(ties: vec4<i32>) -> vec4<u32> { return bitcast<vec4<u32>>(ties) ^ vec4<u32>(0x80000000u); }
fn ties_of_keys(keys: vec4<u32>) -> vec4<i32> { return bitcast<vec4<i32>>(keys ^ vec4<u32>(0x80000000u)); }
fn nothing_but_nan(key: Key) -> bool { return false; }
fn least_key() -> Key { return LEAST_KEY; }
fn least_pack() -> vec4<u32> { return vec4<u32>(SIGNS); }

// Running maxima are of signed integers, which compilers compare in fewer steps than unsigned ones where processors know
// nothing else. Each element's key stays in its place within the word: of those below the top one nothing else is there; of the
// top one the sign bit is flipped, and what lies below it decides nothing and is cleared once, at the end.
fn placed_keys(pack: vec4<u32>) -> vec4<i32> { return bitcast<vec4<i32>>(pack ^ vec4<u32>(SIGNS ^ 0x80000000u)); }
// The maxima of left-aligned keys, with their sign bits flipped, in a lane's place.
fn placed_lane(left: vec4<i32>, lane: u32) -> vec4<i32> {
    if (lane == LANES - 1u) {
        return left;
    }
    let keys = (bitcast<vec4<u32>>(left) ^ vec4<u32>(0x80000000u)) & vec4<u32>(ELEMENT_MASK);
    return bitcast<vec4<i32>>(keys >> vec4<u32>(32u - ELEMENT_BITS * (lane + 1u)));
}
// Keys with the sign bit of each element flipped: whichever is moved to the top is compared as a signed integer.
fn left_keys(pack: vec4<u32>) -> vec4<i32> { return bitcast<vec4<i32>>(pack ^ vec4<u32>(SIGNS ^ SIGN_BITS)); }
// One maximum of all elements together, left-aligned.
struct Peak { greatest: i32 }

const LEAST = -2147483647 - 1;

fn keys_of_words(m: Maxima) -> vec4<u32> { return bitcast<vec4<u32>>(joined_lanes(m)) ^ vec4<u32>(0x80000000u); }
fn lane_maxima(m: Maxima, lane: u32) -> vec4<u32> { return words_bits(keys_of_words(m), lane); }
fn pack_of(m: Maxima) -> vec4<u32> { return keys_of_words(m) ^ vec4<u32>(SIGNS); }

fn no_peak() -> Peak { return Peak(LEAST); }
fn peak_of(pack: vec4<u32>) -> Peak {
    let words = word_maxima(pack);
    let pair = max(words.xy, words.zw);
    return Peak(max(pair.x, pair.y));
}
fn join_peaks(a: Peak, b: Peak) -> Peak { return Peak(max(a.greatest, b.greatest)); }
fn peak_key(p: Peak) -> Key { return (bitcast<u32>(p.greatest) ^ 0x80000000u) & ELEMENT_MASK; }
