// Positions of short rows: of each the greatest tie so far, and the position of the first (or last) element that has it;
// where keys are stored, the greatest key beside it, which tells +0 from -0.
import package::{
    Best, Bunch, BunchPlace, FEW_RUNS, Key, LAST, LEAST_TIE, ROW_LEN, RUNS, STORES_KEYS, Tie, bunch_at, joined_bunch, key_of_tie,
    moved_by_runs, no_winners, offered_bunch, row_maxima, row_runs, store_winners, tie_equal, tie_greater,
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
    var winners = offered_bunch(no_winners(), place, 0u);
    var bunch = bunch_at(place);
    if (FEW_RUNS > 1u) {
        winners = offered_bunch(winners, moved_by_runs(place, 1u), ROW_LEN);
        bunch = joined_keys(bunch, moved_by_runs(place, 1u));
    }
    if (FEW_RUNS > 2u) {
        winners = offered_bunch(winners, moved_by_runs(place, 2u), 2u * ROW_LEN);
        bunch = joined_keys(bunch, moved_by_runs(place, 2u));
    }
    if (RUNS && FEW_RUNS == 0u) {
        let runs = row_runs();
        for (var n = 1u; n < runs; n++) {
            winners = offered_bunch(winners, moved_by_runs(place, n), n * ROW_LEN);
            bunch = joined_keys(bunch, moved_by_runs(place, n));
        }
    }
    store_winners(first, winners, row_maxima(bunch));
}

fn joined_keys(bunch: Bunch, place: BunchPlace) -> Bunch {
    if (STORES_KEYS) {
        return joined_bunch(bunch, place);
    }
    return bunch;
}
