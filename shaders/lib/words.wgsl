// Words of the input, four at once.
import package::{word, word_count};

fn four_words(at: vec4<u32>) -> vec4<u32> { return vec4<u32>(word(at.x), word(at.y), word(at.z), word(at.w)); }

// Of those outside the binding the nearest one within: their elements are no one's.
fn words_at(numbers: vec4<i32>) -> vec4<u32> {
    return four_words(vec4<u32>(clamp(numbers, vec4<i32>(0), vec4<i32>(i32(word_count()) - 1))));
}
