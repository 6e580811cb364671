// Positions of short rows of 8 and 16 bits: of each the greatest rank so far, which has the precedence of the position.
import package::{Best, Key, LEAST_TIE, SIGNED_ZEROS, STORES_KEYS, Tie, key_of_tie, precedence_of, rank_number, rank_tie};

alias Found = i32;

const NOTHING_FOUND: Found = LEAST_TIE;

fn first_found(tie: Tie) -> Found { return tie | bitcast<i32>(precedence_of(0u)); }
fn offered(found: Found, tie: Tie, at: u32) -> Found { return max(found, tie | bitcast<i32>(precedence_of(at))); }

fn found_best(found: Found, key: Key) -> Best {
    let position = rank_number(found);
    if (STORES_KEYS && SIGNED_ZEROS) {
        return Best(key, position);
    }
    return Best(key_of_tie(rank_tie(found)), position);
}
