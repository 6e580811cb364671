const ELEMENT_BYTES = 2u;

struct Maxima { lane0: Extremes, lane1: Extremes }

fn no_maxima() -> Maxima { return Maxima(no_extremes(), no_extremes()); }
fn maxima_of(pack: vec4<u32>) -> Maxima {
    return Maxima(extremes_of(pack << vec4<u32>(16u)), extremes_of(pack));
}
fn fold(m: Maxima, pack: vec4<u32>) -> Maxima {
    return Maxima(fold_extremes(m.lane0, pack << vec4<u32>(16u)), fold_extremes(m.lane1, pack));
}
fn lane_maxima(m: Maxima, lane: u32) -> vec4<u32> {
    return select(extreme_keys(m.lane0), extreme_keys(m.lane1), lane == 1u);
}
fn lane_bits(m: Maxima, lane: u32) -> vec4<u32> {
    return select(extreme_bits(m.lane0), extreme_bits(m.lane1), lane == 1u);
}
fn word_extremes(pack: vec4<u32>) -> Extremes { return fold_extremes(extremes_of(pack << vec4<u32>(16u)), pack); }
