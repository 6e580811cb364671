// Positions that are merged: in a whole tensor, of 64 bits, the low word first.
import package::{Best, KEY_WORDS, LAST, key_from_words, least_key, params, partial_key, partial_place, records};

alias Position = vec2<u32>;

const NO_POSITION = vec2<u32>(0xffffffffu, 0xffffffffu); // nothing seen yet

fn is_none(position: Position) -> bool { return all(position == NO_POSITION); }
fn is_before(a: Position, b: Position) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }
fn position_word(position: Position, i: u32) -> u32 { return position[i]; }

// A record of positions is a key and a position.
fn recorded(at: u32) -> Best {
    let position = vec2<u32>(records[at + KEY_WORDS], records[at + KEY_WORDS + 1u]);
    return Best(key_from_words(records[at], records[at + KEY_WORDS - 1u]), position);
}
// In a fold are each so many-th positions, in 32 bits. One behind the last is the one before, which was found once more.
fn of_fold(best: Best, fold: u32, folds: u32) -> Best {
    let position = best.position.x * folds + fold;
    return Best(best.key, vec2<u32>(position - select(0u, folds, position >= params.slice_len), 0u));
}

// A partial of positions, as a record: its place is position + 1 where the last wins, else 2^63 - 1 - position.
fn best_of_partial(at: u32) -> Best {
    let place = partial_place(at);
    if (all(place == vec2<u32>(0u))) {
        return Best(least_key(), NO_POSITION);
    }
    let first = ~place & vec2<u32>(0xffffffffu, 0x7fffffffu);
    let last = vec2<u32>(place.x - 1u, place.y - select(0u, 1u, place.x == 0u));
    return Best(partial_key(at), select(first, last, LAST));
}
