// Positions of short rows of 32 and 64 bits: of each the greatest tie so far, and the position of the first (or last) element that has it;
// of floats whose keys are stored the greatest key is found beside it, which tells +0 from -0.
import package::{Best, Key, LAST, LEAST_TIE, SIGNED_ZEROS, STORES_KEYS, Tie, key_of_tie, tie_equal, tie_greater};

struct Found { tie: Tie, at: u32 }

// Nothing is less: until something is greater, the first has won.
const NOTHING_FOUND = Found(LEAST_TIE, 0u);

fn first_found(tie: Tie) -> Found { return Found(tie, 0u); }
fn offered(found: Found, tie: Tie, at: u32) -> Found {
    let takes = tie_greater(tie, found.tie) | (LAST & tie_equal(tie, found.tie));
    return Found(select(found.tie, tie, takes), select(found.at, at, takes));
}

fn found_best(found: Found, key: Key) -> Best {
    if (STORES_KEYS && SIGNED_ZEROS) {
        return Best(key, found.at);
    }
    return Best(key_of_tie(found.tie), found.at);
}
