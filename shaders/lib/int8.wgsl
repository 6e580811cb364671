import package::{SignedKeys, no_keys, signed_keys};

const ELEMENT_BYTES = 1u;
const SIGN_BITS = 0x80808080u;

struct Maxima { lane0: SignedKeys, lane1: SignedKeys, lane2: SignedKeys, lane3: SignedKeys }

fn no_maxima() -> Maxima { return Maxima(no_keys(), no_keys(), no_keys(), no_keys()); }
fn maxima_of(pack: vec4<u32>) -> Maxima {
    let keys = signed_keys(pack);
    return Maxima(keys << vec4<u32>(24u), keys << vec4<u32>(16u), keys << vec4<u32>(8u), keys);
}
fn join_maxima(a: Maxima, b: Maxima) -> Maxima {
    return Maxima(
        max(a.lane0, b.lane0),
        max(a.lane1, b.lane1),
        max(a.lane2, b.lane2),
        max(a.lane3, b.lane3),
    );
}
fn lane_keys(m: Maxima, lane: u32) -> SignedKeys {
    let low = select(m.lane0, m.lane1, (lane & 1u) == 1u);
    let high = select(m.lane2, m.lane3, (lane & 1u) == 1u);
    return select(low, high, lane >= 2u);
}
fn word_maxima(pack: vec4<u32>) -> SignedKeys {
    let m = maxima_of(pack);
    return max(max(m.lane0, m.lane1), max(m.lane2, m.lane3));
}
