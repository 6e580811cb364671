const ELEMENT_BYTES = 4u;

struct Maxima { lane0: vec4<u32> }

fn no_maxima() -> Maxima { return Maxima(vec4<u32>(0u)); }
fn fold(m: Maxima, pack: vec4<u32>) -> Maxima { return Maxima(max(m.lane0, pack ^ vec4<u32>(SIGNS))); }
fn lane_maxima(m: Maxima, lane: u32) -> vec4<u32> { return m.lane0; }
