// Elements of the input: number e is words 2e and 2e + 1.
import package::{Key, four_words, key_of, word, words_at};

fn element_key(e: u32) -> Key { return key_of(vec2<u32>(word(2u * e), word(2u * e + 1u))); }

// The pack whose first element is number `first`, where an element outside [begin, end) is the nearest one within.
fn pack_within(first: u32, begin: u32, end: u32) -> vec4<u32> {
    let at = clamp(vec2<u32>(first, first + 1u), vec2<u32>(begin), vec2<u32>(end - 1u)) * 2u;
    return four_words(at.xxyy + vec4<u32>(0u, 1u, 0u, 1u));
}

// The pack that begins with element e, wherever that is.
fn pack_from(e: u32) -> vec4<u32> { return words_at(vec4<i32>(bitcast<i32>(2u * e)) + vec4<i32>(0, 1, 2, 3)); }

fn pack_from_word(e: u32) -> vec4<u32> { return pack_from(e); }

// The first `count` elements of the pack that begins with element e, and behind them what the one that begins with `other` has
// there.
fn pack_from_two(e: u32, other: u32, count: u32) -> vec4<u32> {
    let own = 2u * select(vec2<u32>(other), vec2<u32>(e), vec2<u32>(0u, 1u) < vec2<u32>(count));
    return words_at(bitcast<vec4<i32>>(own.xxyy + vec4<u32>(0u, 1u, 2u, 3u)));
}
