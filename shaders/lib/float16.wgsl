// Floats of 16 bits: extremes of each of a word's two lanes.
import package::{ELEMENT_MASK, Extremes, extreme_bits, extreme_keys, extremes_of, join_extremes, no_extremes};

const ELEMENT_BYTES = 2u;

struct Maxima { lane0: Extremes, lane1: Extremes }

fn no_maxima() -> Maxima { return Maxima(no_extremes(), no_extremes()); }
fn maxima_of(pack: vec4<u32>) -> Maxima {
    return Maxima(extremes_of(pack * (1u << 16u)), extremes_of(pack));
}
fn join_maxima(a: Maxima, b: Maxima) -> Maxima {
    return Maxima(join_extremes(a.lane0, b.lane0), join_extremes(a.lane1, b.lane1));
}
fn lane_maxima(m: Maxima, lane: u32) -> vec4<u32> {
    return select(extreme_keys(m.lane0), extreme_keys(m.lane1), lane == 1u) & vec4<u32>(ELEMENT_MASK);
}
fn word_extremes(pack: vec4<u32>) -> Extremes {
    let m = maxima_of(pack);
    return join_extremes(m.lane0, m.lane1);
}
// The elements themselves, NaN made canonical.
fn pack_of(m: Maxima) -> vec4<u32> {
    let top = extreme_bits(m.lane1) & vec4<u32>(ELEMENT_MASK);
    return top | ((extreme_bits(m.lane0) & vec4<u32>(ELEMENT_MASK)) >> vec4<u32>(16u));
}
