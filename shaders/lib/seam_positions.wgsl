// The positions of a pack of columns of two rows, each stored by itself.
import package::{ColumnBests, column_best, empty_unit, store_lane};

alias ColumnResults = u32; // none are kept

// Stores those of columns [begin, end).
fn with_results(results: ColumnResults, found: ColumnBests, first: u32, begin: u32, end: u32) -> ColumnResults {
    var bests = found;
    for (var i = begin; i < end; i++) {
        store_lane(empty_unit(), 0u, first + i, column_best(&bests, i));
    }
    return results;
}

fn store_results(results: ColumnResults, first: u32, count: u32) {}
