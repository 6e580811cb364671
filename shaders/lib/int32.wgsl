import package::{SignedKeys, no_keys, signed_keys};

const ELEMENT_BYTES = 4u;
const SIGN_BITS = 0x80000000u;

struct Maxima { lane0: SignedKeys }

fn no_maxima() -> Maxima { return Maxima(no_keys()); }
fn maxima_of(pack: vec4<u32>) -> Maxima { return Maxima(signed_keys(pack)); }
fn join_maxima(a: Maxima, b: Maxima) -> Maxima { return Maxima(max(a.lane0, b.lane0)); }
fn lane_keys(m: Maxima, lane: u32) -> SignedKeys { return m.lane0; }
fn word_maxima(pack: vec4<u32>) -> SignedKeys { return signed_keys(pack); }
