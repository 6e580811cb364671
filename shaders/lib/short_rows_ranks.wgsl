// Positions of short rows of 8 and 16 bits: of each the greatest rank so far, whose places are positions.
import package::{Best, Key, LEAST, STORES_KEYS, key_of_tie, place_of_number, rank_number, rank_tie};

alias Found = i32;

const NOTHING_FOUND: Found = LEAST;

fn first_found(tie: i32) -> Found { return tie | bitcast<i32>(place_of_number(0u)); }
fn offered(found: Found, tie: i32, at: u32) -> Found { return max(found, tie | bitcast<i32>(place_of_number(at))); }

fn found_best(found: Found, key: Key) -> Best {
    let position = rank_number(found);
    if (STORES_KEYS) {
        return Best(key, position);
    }
    return Best(key_of_tie(rank_tie(found)), position);
}
