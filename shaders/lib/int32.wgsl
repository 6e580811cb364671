// Integers of 32 bits.
import package::{LEAST, placed_keys};

const ELEMENT_BYTES = 4u;
const SIGN_BITS = 0x80000000u;

struct Maxima { lane0: vec4<i32> }

fn no_maxima() -> Maxima { return Maxima(vec4<i32>(LEAST)); }
fn maxima_of(pack: vec4<u32>) -> Maxima { return Maxima(placed_keys(pack)); }
fn join_maxima(a: Maxima, b: Maxima) -> Maxima { return Maxima(max(a.lane0, b.lane0)); }
fn ties_of_maxima(m: Maxima) -> vec4<i32> { return m.lane0; }
fn joined_lanes(m: Maxima) -> vec4<i32> { return m.lane0; }
fn word_maxima(pack: vec4<u32>) -> vec4<i32> { return placed_keys(pack); }
