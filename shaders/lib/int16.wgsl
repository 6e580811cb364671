import package::{SignedKeys, no_keys, signed_keys};

const ELEMENT_BYTES = 2u;
const SIGN_BITS = 0x80008000u;

struct Maxima { lane0: SignedKeys, lane1: SignedKeys }

fn no_maxima() -> Maxima { return Maxima(no_keys(), no_keys()); }
fn maxima_of(pack: vec4<u32>) -> Maxima {
    let keys = signed_keys(pack);
    return Maxima(keys << vec4<u32>(16u), keys);
}
fn join_maxima(a: Maxima, b: Maxima) -> Maxima { return Maxima(max(a.lane0, b.lane0), max(a.lane1, b.lane1)); }
fn lane_keys(m: Maxima, lane: u32) -> SignedKeys { return select(m.lane0, m.lane1, lane == 1u); }
fn word_maxima(pack: vec4<u32>) -> SignedKeys {
    let m = maxima_of(pack);
    return max(m.lane0, m.lane1);
}
