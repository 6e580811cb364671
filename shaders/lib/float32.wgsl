// Floats of 32 bits.
import package::{
    Extremes, GREATEST, NANS_IGNORED, extreme_bits, extreme_is_nan, extreme_keys, extremes_of, join_extremes, no_extremes, shift,
};

const ELEMENT_BYTES = 4u;

struct Maxima { lane0: Extremes }

fn no_maxima() -> Maxima { return Maxima(no_extremes()); }
fn maxima_of(pack: vec4<u32>) -> Maxima { return Maxima(extremes_of(pack)); }
fn join_maxima(a: Maxima, b: Maxima) -> Maxima { return Maxima(join_extremes(a.lane0, b.lane0)); }
fn lane_maxima(m: Maxima, lane: u32) -> vec4<u32> { return extreme_keys(m.lane0); }
fn ties_of_maxima(m: Maxima) -> vec4<i32> {
    let e = m.lane0;
    let negative = vec4<i32>(bitcast<i32>(shift() + 0x80000000u)) - e.shifted_least;
    let ties = select(e.greatest, negative, e.greatest < vec4<i32>(0));
    if (NANS_IGNORED) {
        return ties;
    }
    return select(ties, vec4<i32>(GREATEST), extreme_is_nan(e));
}
fn word_extremes(pack: vec4<u32>) -> Extremes { return extremes_of(pack); }
// The elements themselves, NaN made canonical.
fn pack_of(m: Maxima) -> vec4<u32> { return extreme_bits(m.lane0); }
