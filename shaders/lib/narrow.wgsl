// Storage types of 8, 16 and 32 bits.
//
// Left-aligned bits: an element's bits moved to the top of a word, zeros below. A key is the unsigned integer whose
// order is the elements' order, left-aligned too. Element i of a pack is lane i % LANES of
// word i / LANES; lane 0 is a word's lowest (little-endian).
import package::{ELEMENT_BYTES, Maxima, ONE, bits_of, key_of, keys_of_ties, lane_maxima, ties_of};

alias Key = u32;
alias Unit = u32; // the smallest thing written to an output: LANES elements

const LANES = 4u / ELEMENT_BYTES;
const PACK_ELEMENTS = 4u * LANES; // in one 16-byte load
const ELEMENT_BITS = 32u / LANES;
const ELEMENT_MASK = (0xffffffffu >> (32u - ELEMENT_BITS)) << (32u - ELEMENT_BITS);
const KEY_WORDS = 1u;
const LEAST_KEY: Key = 0u;

fn key_max(a: Key, b: Key) -> Key { return max(a, b); }
fn key_greater(a: Key, b: Key) -> bool { return a > b; }
fn key_equal(a: Key, b: Key) -> bool { return a == b; }
fn key_word(key: Key, i: u32) -> u32 { return key; }
fn key_from_words(low: u32, high: u32) -> Key { return low; }
// From a number as wide as the element.
fn key_of_number(low: u32, high: u32) -> Key { return low << (32u - ELEMENT_BITS); }
fn key_below(key: Key) -> Key { return key - (1u << (32u - ELEMENT_BITS)); }

fn word_key(word: u32, lane: u32) -> Key {
    return key_of((word << (32u - ELEMENT_BITS * (lane + 1u))) & ELEMENT_MASK);
}
// The same lane's bits of four words. Multiplied: SwiftShader takes vectors apart to shift them. Masked even where that changes
// nothing: without it SwiftShader's columns take 1.05 times as long.
fn words_bits(words: vec4<u32>, lane: u32) -> vec4<u32> {
    var top = words;
    if (LANES > 1u) {
        top = words * (1u << (32u - ELEMENT_BITS * (lane + 1u)));
    }
    return top & vec4<u32>(ELEMENT_MASK);
}

const PACK_UNITS = 4u; // output units of as many elements as a pack has
fn pack_unit(pack: vec4<u32>, i: u32) -> Unit { return pack[i]; }
fn with_unit(pack: vec4<u32>, i: u32, unit: Unit) -> vec4<u32> {
    return select(pack, vec4<u32>(unit), vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(i));
}
fn with_element(unit: Unit, lane: u32, key: Key) -> Unit {
    return unit | (bits_of(key) >> (32u - ELEMENT_BITS * (lane + 1u)));
}
fn empty_unit() -> Unit { return 0u; }
fn with_one(unit: Unit, lane: u32) -> Unit { return unit | (ONE >> (32u - ELEMENT_BITS * (lane + 1u))); }
// A pack in which one element is 1 and all others are 0.
fn pack_with_one(element: u32) -> vec4<u32> {
    let unit = vec4<u32>(with_one(empty_unit(), element % LANES));
    return select(vec4<u32>(0u), unit, vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(element / LANES));
}
struct OneOfWord { word: u32, bits: u32 }
// The word of an output in which an element is, and what it has of that if it is 1.
fn one_of_element(e: u32) -> OneOfWord { return OneOfWord(e / LANES, with_one(empty_unit(), e % LANES)); }
// Of one lane of each word those are 1 whose winners are at their positions.
fn lane_ones(own: vec4<u32>, positions: vec4<u32>, lane: u32) -> vec4<u32> {
    return select(vec4<u32>(0u), vec4<u32>(with_one(empty_unit(), lane)), own == positions);
}
// What is kept of a unit whose first element is number `first`: the elements before `begin` and from `end` on.
fn kept_lanes(unit: Unit, first: u32, begin: u32, end: u32) -> Unit {
    if (LANES == 1u) {
        return select(0u, unit, first < begin || first >= end);
    }
    var kept = 0u;
    for (var lane = 0u; lane < LANES; lane++) {
        let e = first + lane;
        kept |= select(0u, unit & (ELEMENT_MASK >> (32u - ELEMENT_BITS * (lane + 1u))), e < begin || e >= end);
    }
    return kept;
}
fn unit_key(unit: Unit, lane: u32) -> Key { return word_key(unit, lane); }

// One element in every place of a pack.
fn splat(word: u32, lane: u32) -> vec4<u32> { return lane_splats(vec4<u32>(word), lane); }
// One element of each word in every place of the word.
fn lane_splats(words: vec4<u32>, lane: u32) -> vec4<u32> {
    let elements = (words >> vec4<u32>(ELEMENT_BITS * lane)) & vec4<u32>(0xffffffffu >> (32u - ELEMENT_BITS));
    return elements * (0xffffffffu / (0xffffffffu >> (32u - ELEMENT_BITS)));
}

// A word with nothing but one of its elements, in another's place.
fn lane_moved(word: u32, lane: u32, place: u32) -> u32 {
    let element = (word >> (ELEMENT_BITS * lane)) & (0xffffffffu >> (32u - ELEMENT_BITS));
    return element << (ELEMENT_BITS * place);
}

// The pack that begins with a lane of the first of five words. SwiftShader takes vectors apart to shift them to the right, so
// that is done once. To the left it is a product.
fn shifted(words: vec4<u32>, fifth: u32, lane: u32) -> vec4<u32> {
    let next = vec4<u32>(words.yzw, fifth);
    if (LANES == 2u) {
        return select(words, (words >> vec4<u32>(16u)) | (next * (1u << 16u)), (lane & 1u) != 0u);
    }
    let bits = lane * ELEMENT_BITS;
    return (words >> vec4<u32>(bits)) | (next * select(1u << (32u - bits), 0u, bits == 0u));
}

// The pack that begins with element e, out of the two that have it.
fn pack_between(first: vec4<u32>, second: vec4<u32>, e: u32) -> vec4<u32> {
    let words = e % PACK_ELEMENTS / LANES;
    let odd = (words & 1u) != 0u;
    let a = select(first, vec4<u32>(first.yzw, second.x), odd);
    let b = select(second, second.yzww, odd);
    let two = (words & 2u) != 0u;
    let own = select(a, vec4<u32>(a.zw, b.xy), two);
    if (LANES == 1u) {
        return own;
    }
    return shifted(own, select(b.x, b.z, two), e % LANES);
}

alias Tie = i32;
const LEAST_TIE: Tie = -2147483647 - 1;
fn tie_greater(a: Tie, b: Tie) -> bool { return a > b; }
fn tie_equal(a: Tie, b: Tie) -> bool { return a == b; }
fn tie_of(key: Key) -> Tie { return ties_of(vec4<u32>(bits_of(key))).x; }
fn key_of_tie(tie: Tie) -> Key { return keys_of_ties(vec4<Tie>(tie)).x; }
// A bit for each element of a pack: whether it has the tie. No loop over lanes: it would cost as much as what it does.
fn matches(pack: vec4<u32>, tie: Tie) -> u32 {
    var words = lane_matches(pack, 0u, tie);
    if (LANES > 1u) {
        words |= lane_matches(pack, 1u, tie);
    }
    if (LANES > 2u) {
        words |= lane_matches(pack, 2u, tie) | lane_matches(pack, 3u, tie);
    }
    return words.x | words.y | words.z | words.w;
}
fn lane_matches(pack: vec4<u32>, lane: u32, tie: Tie) -> vec4<u32> {
    let elements = vec4<u32>(0u, LANES, 2u * LANES, 3u * LANES) + lane;
    return select(vec4<u32>(0u), vec4<u32>(1u) << elements, ties_of(words_bits(pack, lane)) == vec4<Tie>(tie));
}

// A pack's running maxima (Maxima, in int*.wgsl and float*.wgsl), read out.
fn element_maximum(m: Maxima, i: u32) -> Key { return lane_maxima(m, i % LANES)[i / LANES]; }
