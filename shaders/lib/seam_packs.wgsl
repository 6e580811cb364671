// The results of a pack of columns of two rows, stored together: values, or winners as wide.
import package::{ColumnBests, LANES, PACK_UNITS, first_elements, joined, pack_of_columns, pack_unit, store_unit};

alias ColumnResults = vec4<u32>;

// With those of columns [begin, end), behind what there is already.
fn with_results(results: ColumnResults, found: ColumnBests, first: u32, begin: u32, end: u32) -> ColumnResults {
    return joined(results, pack_of_columns(found), first_elements(begin));
}

fn store_results(results: ColumnResults, first: u32, count: u32) {
    for (var i = 0u; i < PACK_UNITS; i++) {
        if (i * LANES < count) {
            store_unit(first / LANES + i, pack_unit(results, i));
        }
    }
}
