// A record of positions is a key and a position of 64 bits.
import package::{Best, KEY_WORDS, key_from_words, records};

fn recorded(at: u32) -> Best {
    let position = vec2<u32>(records[at + KEY_WORDS], records[at + KEY_WORDS + 1u]);
    return Best(key_from_words(records[at], records[at + KEY_WORDS - 1u]), position);
}
// In a fold, one of 2^bits, are each so many-th positions.
fn of_fold(best: Best, fold: u32, bits: u32) -> Best {
    let position = best.position << vec2<u32>(bits);
    return Best(best.key, vec2<u32>(position.x | fold, position.y | (best.position.x >> (32u - bits))));
}
