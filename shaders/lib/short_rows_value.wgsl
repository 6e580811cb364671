// Values of short rows: the greatest element of each, and nothing else.
import package::{BunchPlace, FEW_RUNS, RUNS, bunch_at, joined_bunch, moved_by_runs, row_maxima, row_runs, stored_whole};

fn store_bunch(first: u32, place: BunchPlace) {
    var bunch = bunch_at(place);
    if (FEW_RUNS > 1u) {
        bunch = joined_bunch(bunch, moved_by_runs(place, 1u));
    }
    if (FEW_RUNS > 2u) {
        bunch = joined_bunch(bunch, moved_by_runs(place, 2u));
    }
    if (RUNS && FEW_RUNS == 0u) {
        let runs = row_runs();
        for (var n = 1u; n < runs; n++) {
            bunch = joined_bunch(bunch, moved_by_runs(place, n));
        }
    }
    stored_whole(row_maxima(bunch), first);
}
