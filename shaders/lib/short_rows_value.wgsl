// Values of short rows: the greatest element of each, and nothing else.
import package::{
    PACK_ELEMENTS, RUNS, bunch_at, joined_bunch, outer_offset, params, row_maxima, run_of, stored_whole,
};

fn store_bunch(first: u32, p: u32) {
    if (!RUNS) {
        stored_whole(row_maxima(bunch_at(p)), first);
        return;
    }
    var bunch = bunch_at(p);
    let runs = run_of(params.reduce_len - 1u) + 1u;
    for (var n = 1u; n < runs; n++) {
        bunch = joined_bunch(bunch, p + outer_offset(n) / PACK_ELEMENTS);
    }
    stored_whole(row_maxima(bunch), first);
}
