// Floats of 32 bits.
import package::{Extremes, extreme_bits, extreme_keys, extreme_ties, extremes_of, join_extremes, no_extremes};

const ELEMENT_BYTES = 4u;

struct Maxima { lane0: Extremes }

fn no_maxima() -> Maxima { return Maxima(no_extremes()); }
fn maxima_of(pack: vec4<u32>) -> Maxima { return Maxima(extremes_of(pack)); }
fn join_maxima(a: Maxima, b: Maxima) -> Maxima { return Maxima(join_extremes(a.lane0, b.lane0)); }
fn lane_maxima(m: Maxima, lane: u32) -> vec4<u32> { return extreme_keys(m.lane0); }
fn lane_ties(m: Maxima, lane: u32) -> vec4<i32> { return extreme_ties(m.lane0); }
fn word_extremes(pack: vec4<u32>) -> Extremes { return extremes_of(pack); }
// The elements themselves, NaN made canonical.
fn pack_of(m: Maxima) -> vec4<u32> { return extreme_bits(m.lane0); }
