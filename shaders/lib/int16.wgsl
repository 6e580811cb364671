// Integers of 16 bits: running maxima of each of a word's two lanes.
import package::{ELEMENT_MASK, LEAST, left_keys, placed_keys};

const ELEMENT_BYTES = 2u;
const SIGN_BITS = 0x80008000u;

struct Maxima { lane0: vec4<i32>, lane1: vec4<i32> }

fn no_maxima() -> Maxima { return Maxima(vec4<i32>(0), vec4<i32>(LEAST)); }
fn maxima_of(pack: vec4<u32>) -> Maxima {
    let keys = placed_keys(pack);
    return Maxima(keys & vec4<i32>(0xffff), keys);
}
fn join_maxima(a: Maxima, b: Maxima) -> Maxima { return Maxima(max(a.lane0, b.lane0), max(a.lane1, b.lane1)); }
fn joined_lanes(m: Maxima) -> vec4<i32> { return m.lane0 | (m.lane1 & vec4<i32>(bitcast<i32>(ELEMENT_MASK))); }
// Multiplied: SwiftShader takes vectors apart to shift them.
fn word_maxima(pack: vec4<u32>) -> vec4<i32> {
    let keys = left_keys(pack);
    return max(keys * (1i << 16u), keys);
}
