// Elements of the input: number e is lane e % LANES of word e / LANES.
import package::{Key, LANES, first_elements, four_words, joined, shifted, word, word_count, word_key, words_at};

fn element_key(e: u32) -> Key { return word_key(word(e / LANES), e % LANES); }

// The pack whose first element is number `first`, where a word outside [begin, end) is the nearest one within.
fn pack_within(first: u32, begin: u32, end: u32) -> vec4<u32> {
    let elements = vec4<u32>(first) + vec4<u32>(0u, LANES, 2u * LANES, 3u * LANES);
    return four_words(clamp(elements, vec4<u32>(begin), vec4<u32>(end - 1u)) / LANES);
}

// The word in which element e lies, which may be before the first one.
fn word_of(e: u32) -> i32 { return bitcast<i32>(e) >> (LANES / 2u); } // LANES are 1, 2 or 4

// The pack that begins with that word.
fn pack_from_word(e: u32) -> vec4<u32> { return words_at(vec4<i32>(word_of(e)) + vec4<i32>(0, 1, 2, 3)); }

// The pack that begins with element e, wherever that is.
fn pack_from(e: u32) -> vec4<u32> {
    let own = pack_from_word(e);
    if (LANES == 1u || WHOLE_WORDS) {
        return own;
    }
    return shifted(own, fifth_word(e), e % LANES);
}

// The word behind those four.
fn fifth_word(e: u32) -> u32 { return word(bitcast<u32>(min(word_of(e) + 4, i32(word_count()) - 1))); }

override WHOLE_WORDS: bool = false; // rows of columns, or stretches of short rows, begin and end with words

// The first `count` elements of the pack that begins with element e, and behind them what the one that begins with `other` has
// there.
fn pack_from_two(e: u32, other: u32, count: u32) -> vec4<u32> {
    if (LANES > 1u && !WHOLE_WORDS) {
        return joined(pack_from(e), pack_from(other), first_elements(count));
    }
    let places = vec4<u32>(0u, LANES, 2u * LANES, 3u * LANES);
    let elements = select(vec4<u32>(other), vec4<u32>(e), places < vec4<u32>(count)) + places;
    return words_at(bitcast<vec4<i32>>(elements / LANES));
}
