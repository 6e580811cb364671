// Integers of 64 bits: flipping the sign bit of the high word makes the key.
import package::{Key, LEAST_KEY, Maxima, SIGN};

const ELEMENT_BYTES = 8u;
const SIGNED_ZEROS = false;
const ONE = vec2<u32>(1u, 0u);

fn key_of(bits: vec2<u32>) -> Key { return vec2<u32>(bits.x, bits.y ^ SIGN); }
fn bits_of(key: Key) -> vec2<u32> { return vec2<u32>(key.x, key.y ^ SIGN); }
fn tie_key(key: Key) -> Key { return key; }
fn nothing_but_nan(key: Key) -> bool { return false; }
fn least_key() -> Key { return LEAST_KEY; }
fn least_pack() -> vec4<u32> { return vec4<u32>(0u, SIGN, 0u, SIGN); }

fn maxima_of(pack: vec4<u32>) -> Maxima { return Maxima(pack.xz, pack.yw ^ vec2<u32>(SIGN)); }
