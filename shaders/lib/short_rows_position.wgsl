// Positions of short rows: of each the greatest tie so far, and the position of the first (or last) element that has it;
// where keys are stored, the greatest key beside it, which tells +0 from -0.
import package::{
    Best, BunchPlace, Key, LAST, LEAST_TIE, ROW_LEN, RUNS, STORES_KEYS, Tie, bunch_at, joined_bunch, key_of_tie, moved,
    no_winners, offered_bunch, outer_offset, params, row_maxima, run_of, store_winners, tie_equal, tie_greater,
};

struct Found { tie: Tie, at: u32 }

// Nothing is less: until something is greater, the first has won.
const NOTHING_FOUND = Found(LEAST_TIE, 0u);

fn offered(found: Found, tie: Tie, at: u32) -> Found {
    let takes = tie_greater(tie, found.tie) | (LAST & tie_equal(tie, found.tie));
    return Found(select(found.tie, tie, takes), select(found.at, at, takes));
}

fn found_best(found: Found, key: Key) -> Best {
    if (STORES_KEYS) {
        return Best(key, found.at);
    }
    return Best(key_of_tie(found.tie), found.at);
}

fn store_bunch(first: u32, place: BunchPlace) {
    if (!RUNS) {
        store_winners(first, offered_bunch(no_winners(), place, 0u), row_maxima(bunch_at(place)));
        return;
    }
    var winners = offered_bunch(no_winners(), place, 0u);
    var bunch = bunch_at(place);
    let runs = run_of(params.reduce_len - 1u) + 1u;
    for (var n = 1u; n < runs; n++) {
        let next = moved(place, outer_offset(n));
        winners = offered_bunch(winners, next, n * ROW_LEN);
        if (STORES_KEYS) {
            bunch = joined_bunch(bunch, next);
        }
    }
    store_winners(first, winners, row_maxima(bunch));
}
