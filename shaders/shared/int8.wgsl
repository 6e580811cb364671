const ELEMENT_BYTES = 1u;

// The top element decides the comparison of two words: what lies below it is cleared once, at the end.
struct Maxima { lane0: vec4<u32>, lane1: vec4<u32>, lane2: vec4<u32>, lane3: vec4<u32> }

fn no_maxima() -> Maxima { return Maxima(vec4<u32>(0u), vec4<u32>(0u), vec4<u32>(0u), vec4<u32>(0u)); }
fn fold(m: Maxima, pack: vec4<u32>) -> Maxima {
    let keys = pack ^ vec4<u32>(SIGNS);
    return Maxima(
        max(m.lane0, keys << vec4<u32>(24u)),
        max(m.lane1, keys << vec4<u32>(16u)),
        max(m.lane2, keys << vec4<u32>(8u)),
        max(m.lane3, keys),
    );
}
fn lane_maxima(m: Maxima, lane: u32) -> vec4<u32> {
    let low = select(m.lane0, m.lane1, (lane & 1u) == 1u);
    let high = select(m.lane2, m.lane3, (lane & 1u) == 1u);
    return select(low, high, lane >= 2u) & vec4<u32>(ELEMENT_MASK);
}
