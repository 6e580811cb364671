// Integers of 8 bits: running maxima of each of a word's four lanes.
import package::{ELEMENT_MASK, LEAST, left_keys, placed_keys};

const ELEMENT_BYTES = 1u;
const SIGN_BITS = 0x80808080u;

struct Maxima { lane0: vec4<i32>, lane1: vec4<i32>, lane2: vec4<i32>, lane3: vec4<i32> }

fn no_maxima() -> Maxima { return Maxima(vec4<i32>(0), vec4<i32>(0), vec4<i32>(0), vec4<i32>(LEAST)); }
fn maxima_of(pack: vec4<u32>) -> Maxima {
    let keys = placed_keys(pack);
    return Maxima(keys & vec4<i32>(0xff), keys & vec4<i32>(0xff00), keys & vec4<i32>(0xff0000), keys);
}
fn join_maxima(a: Maxima, b: Maxima) -> Maxima {
    return Maxima(
        max(a.lane0, b.lane0),
        max(a.lane1, b.lane1),
        max(a.lane2, b.lane2),
        max(a.lane3, b.lane3),
    );
}
fn joined_lanes(m: Maxima) -> vec4<i32> {
    return m.lane0 | m.lane1 | m.lane2 | (m.lane3 & vec4<i32>(bitcast<i32>(ELEMENT_MASK)));
}
// Multiplied: SwiftShader takes vectors apart to shift them.
fn word_maxima(pack: vec4<u32>) -> vec4<i32> {
    let keys = left_keys(pack);
    return max(max(keys * (1i << 24u), keys * (1i << 16u)), max(keys * (1i << 8u), keys));
}
