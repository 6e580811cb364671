// Words of the input, four at once.
import package::{word, word_count};

fn four_words(at: vec4<u32>) -> vec4<u32> { return vec4<u32>(word(at.x), word(at.y), word(at.z), word(at.w)); }

// Of those outside the binding the nearest one within: their elements are no one's.
fn words_at(numbers: vec4<i32>) -> vec4<u32> {
    return four_words(vec4<u32>(clamp(numbers, vec4<i32>(0), vec4<i32>(i32(word_count()) - 1))));
}

// Those of pack number p. Where the binding ends within it, what is behind is any of the binding's: WGSL sees to that.
fn words_of_pack(p: u32) -> vec4<u32> { return four_words(4u * p + vec4<u32>(0u, 1u, 2u, 3u)); }
