// Floats of 64 bits.
import package::{INFINITY, Key, Maxima, QUIET_NAN};

const ELEMENT_BYTES = 8u;
const SIGNED_ZEROS = true; // which are one tie, and two keys

override NANS_IGNORED: bool = false;

// Keys as in float.wgsl, over two words.
fn key_of(bits: vec2<u32>) -> Key {
    let negative = bits.y >= 0x80000000u;
    let key = bits ^ select(vec2<u32>(0u, 0x80000000u), vec2<u32>(0xffffffffu), negative);
    let magnitude = bits.y & 0x7fffffffu;
    let nan = (magnitude > INFINITY) | ((magnitude == INFINITY) & (bits.x != 0u));
    return select(key, vec2<u32>(select(0xffffffffu, 0u, NANS_IGNORED)), nan);
}
// NaN comes back as the canonical quiet one.
fn bits_of(key: Key) -> vec2<u32> {
    let bits = key ^ select(vec2<u32>(0xffffffffu), vec2<u32>(0u, 0x80000000u), key.y >= 0x80000000u);
    let nan = all(key == vec2<u32>(0u)) | all(key == vec2<u32>(0xffffffffu));
    return select(bits, vec2<u32>(0u, QUIET_NAN), nan);
}
// For positions -0 and +0 are equal.
fn tie_key(key: Key) -> Key {
    return select(key, vec2<u32>(0u, 0x80000000u), all(key == vec2<u32>(0xffffffffu, 0x7fffffffu)));
}
fn nothing_but_nan(key: Key) -> bool { return NANS_IGNORED && all(key == vec2<u32>(0u)); }
// What every element is greater than, or the same as: -inf, or a NaN where NaN loses to everything.
fn least_key() -> Key {
    return select(vec2<u32>(0xffffffffu, ~(0x80000000u | INFINITY)), vec2<u32>(0u), NANS_IGNORED);
}
// Lanes that must not count.
fn least_pack() -> vec4<u32> {
    let least = 0x80000000u | INFINITY;
    return select(vec4<u32>(0u, least, 0u, least), vec4<u32>(0xffffffffu), vec4<bool>(NANS_IGNORED));
}

fn maxima_of(pack: vec4<u32>) -> Maxima {
    let low = pack.xz;
    let high = pack.yw;
    let flip = select(vec2<u32>(0u), vec2<u32>(0xffffffffu), high >= vec2<u32>(0x80000000u));
    let magnitude = high & vec2<u32>(0x7fffffffu);
    let infinity = vec2<u32>(INFINITY);
    let nan = (magnitude > infinity) | ((magnitude == infinity) & (low != vec2<u32>(0u)));
    let nan_word = vec2<u32>(select(0xffffffffu, 0u, NANS_IGNORED));
    return Maxima(select(low ^ flip, nan_word, nan), select(high ^ (flip | vec2<u32>(0x80000000u)), nan_word, nan));
}
