// Stretches that begin anywhere: a bunch may have rows of two.
import package::{BUNCH_ROWS, BunchPlace, ROW_LEN, store_bunch, stretch_offset, stretch_rows, words_behind_packs};

// Bunches [first, last).
fn reduce_stretches(first: u32, last: u32) {
    let end_pack = words_behind_packs();
    for (var bunch = first; bunch < last; bunch++) {
        store_bunch(bunch * BUNCH_ROWS, ragged_bunch(bunch * BUNCH_ROWS, end_pack));
    }
}

// The bunch that begins with that row, in a stretch and in the next one.
fn ragged_bunch(row: u32, end_pack: vec4<u32>) -> BunchPlace {
    let stretch_len = stretch_rows();
    let stretch = row / stretch_len;
    let before = (row - stretch * stretch_len) * ROW_LEN;
    let count = stretch_len * ROW_LEN - before;
    let other = stretch_offset(stretch + 1u) - count;
    return BunchPlace(stretch_offset(stretch) + before, other, count, end_pack);
}
