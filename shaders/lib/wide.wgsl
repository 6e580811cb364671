// Storage types of 64 bits: two words an element, the low one first. A key is (low, high).
import package::{ONE, bits_of, key_of, maxima_of, tie_key};

alias Key = vec2<u32>;
alias Unit = vec2<u32>; // the smallest thing written to an output: one element

const LANES = 1u;
const PACK_ELEMENTS = 2u; // in one 16-byte load
const ELEMENT_BITS = 64u;
const KEY_WORDS = 2u;
const LEAST_KEY: Key = vec2<u32>(0u, 0u);

fn key_greater(a: Key, b: Key) -> bool { return (a.y > b.y) | ((a.y == b.y) & (a.x > b.x)); }
fn key_max(a: Key, b: Key) -> Key { return select(b, a, key_greater(a, b)); }
fn key_equal(a: Key, b: Key) -> bool { return all(a == b); }
fn key_word(key: Key, i: u32) -> u32 { return select(key.x, key.y, i == 1u); }
fn key_from_words(low: u32, high: u32) -> Key { return vec2<u32>(low, high); }
fn key_of_number(low: u32, high: u32) -> Key { return vec2<u32>(low, high); }
fn key_below(key: Key) -> Key { return vec2<u32>(key.x - 1u, key.y - select(0u, 1u, key.x == 0u)); }

const PACK_UNITS = 2u; // output units of as many elements as a pack has
fn pack_unit(pack: vec4<u32>, i: u32) -> Unit { return select(pack.xy, pack.zw, i == 1u); }
fn with_unit(pack: vec4<u32>, i: u32, unit: Unit) -> vec4<u32> {
    return select(vec4<u32>(unit, pack.zw), vec4<u32>(pack.xy, unit), i == 1u);
}
fn with_element(unit: Unit, lane: u32, key: Key) -> Unit { return bits_of(key); }
fn empty_unit() -> Unit { return vec2<u32>(0u, 0u); }
fn with_one(unit: Unit, lane: u32) -> Unit { return ONE; }
// The pack that begins with element e, out of the two that have it.
fn pack_between(first: vec4<u32>, second: vec4<u32>, e: u32) -> vec4<u32> {
    return select(first, vec4<u32>(first.zw, second.xy), e % 2u == 1u);
}
struct OneOfWord { word: u32, bits: u32 }
// The word of an output that is not 0 if an element is 1, and what it is then.
fn one_of_element(e: u32) -> OneOfWord { return OneOfWord(2u * e + select(0u, 1u, ONE.x == 0u), ONE.x | ONE.y); }
// A pack in which one element is 1 and the other is 0.
fn pack_with_one(element: u32) -> vec4<u32> { return select(vec4<u32>(ONE, 0u, 0u), vec4<u32>(0u, 0u, ONE), element == 1u); }
// The elements are 1 whose winners are at their positions.
fn ones_where(own: vec2<u32>, positions: vec2<u32>) -> vec4<u32> {
    let zero = vec2<u32>(0u, 0u);
    return vec4<u32>(select(zero, ONE, own.x == positions.x), select(zero, ONE, own.y == positions.y));
}
fn kept_lanes(unit: Unit, first: u32, begin: u32, end: u32) -> Unit { return empty_unit(); }
fn unit_key(unit: Unit, lane: u32) -> Key { return key_of(unit); }

// The running maximum of a pack's two elements, side by side; one of all elements together.
struct Maxima { low: vec2<u32>, high: vec2<u32> }
alias Peak = Key;

fn no_maxima() -> Maxima { return Maxima(vec2<u32>(0u), vec2<u32>(0u)); }
fn no_peak() -> Peak { return LEAST_KEY; }

fn join_maxima(a: Maxima, b: Maxima) -> Maxima {
    let greater = (b.high > a.high) | ((b.high == a.high) & (b.low > a.low));
    return Maxima(select(a.low, b.low, greater), select(a.high, b.high, greater));
}
alias Tie = Key;
const LEAST_TIE: Tie = vec2<u32>(0u, 0u);
fn tie_greater(a: Tie, b: Tie) -> bool { return key_greater(a, b); }
fn tie_equal(a: Tie, b: Tie) -> bool { return key_equal(a, b); }
fn key_of_tie(tie: Tie) -> Key { return tie; }
fn tie_of(key: Key) -> Tie { return tie_key(key); }
// A bit for each element of a pack: whether it has the tie.
fn matches(pack: vec4<u32>, tie: Tie) -> u32 {
    let first = key_equal(tie_key(key_of(pack.xy)), tie);
    let second = key_equal(tie_key(key_of(pack.zw)), tie);
    return select(0u, 1u, first) | select(0u, 2u, second);
}
fn peak_of(pack: vec4<u32>) -> Peak {
    let keys = maxima_of(pack);
    return key_max(element_maximum(keys, 0u), element_maximum(keys, 1u));
}
fn join_peaks(a: Peak, b: Peak) -> Peak { return key_max(a, b); }
fn peak_key(p: Peak) -> Key { return p; }
fn element_maximum(m: Maxima, i: u32) -> Key { return vec2<u32>(m.low[i], m.high[i]); }

// The elements themselves, NaN made canonical.
fn pack_of(m: Maxima) -> vec4<u32> {
    return vec4<u32>(bits_of(element_maximum(m, 0u)), bits_of(element_maximum(m, 1u)));
}
