// Values of short rows: the greatest element of each, and nothing else.
import package::{
    BunchPlace, RUNS, bunch_at, joined_bunch, moved, outer_offset, params, row_maxima, run_of, stored_whole,
};

fn store_bunch(first: u32, place: BunchPlace) {
    if (!RUNS) {
        stored_whole(row_maxima(bunch_at(place)), first);
        return;
    }
    var bunch = bunch_at(place);
    let runs = run_of(params.reduce_len - 1u) + 1u;
    for (var n = 1u; n < runs; n++) {
        bunch = joined_bunch(bunch, moved(place, outer_offset(n)));
    }
    stored_whole(row_maxima(bunch), first);
}
