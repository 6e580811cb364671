// Reduces rows so short that many of them share packs: an invocation takes bunches of BUNCH_ROWS rows, which fill whole packs and
// give whole units of results. They are taken apart in registers, and where those are too few, part by part. Rows that follow one
// another make a stretch. Where RAGGED, stretches begin anywhere, and a bunch may have rows of two.
import package::{
    BUNCH_ROWS, RAGGED, ROW_LEN, STORE_LANES, kept_offset_around, make_unit, outer_offset, params, store_bunch, store_stretch,
    task_count, words_behind_packs,
};

override FEW_RUNS: u32 = 0u; // the runs of a row, if there are two or three: they are taken with no loop

// Bunches [first, last), of which there may be fewer.
fn reduce_bunches(first: u32, last: u32) {
    let tasks = task_count();
    let end = min(last, (tasks + BUNCH_ROWS - 1u) / BUNCH_ROWS);
    let whole = min(end, tasks / BUNCH_ROWS);
    if (RAGGED) {
        let end_pack = words_behind_packs();
        for (var bunch = first; bunch < whole; bunch++) {
            store_bunch(bunch * BUNCH_ROWS, ragged_bunch(bunch * BUNCH_ROWS, end_pack));
        }
    } else {
        store_bunches(first, whole);
    }
    // Row by row, those at the end that do not fill a bunch.
    var unit = max(first, whole) * (BUNCH_ROWS / STORE_LANES);
    let units_end = min(end * (BUNCH_ROWS / STORE_LANES), (tasks + STORE_LANES - 1u) / STORE_LANES);
    loop {
        if (unit >= units_end) {
            break;
        }
        make_unit(unit, tasks);
        continuing {
            unit += 1u;
            break if unit >= units_end;
        }
    }
}

// Whole ones: where a stretch begins is asked once.
fn store_bunches(first: u32, last: u32) {
    let stretch_len = max(params.kept[0].x / BUNCH_ROWS, 1u);
    let stretches_end = (last + stretch_len - 1u) / stretch_len;
    var stretch = first / stretch_len;
    loop {
        if (stretch >= stretches_end) {
            break;
        }
        let begin = max(first, stretch * stretch_len);
        let e = kept_offset_around(stretch, 1u) + (begin - stretch * stretch_len) * (ROW_LEN * BUNCH_ROWS);
        store_stretch(begin, min(last, (stretch + 1u) * stretch_len), e);
        continuing {
            stretch += 1u;
            break if stretch >= stretches_end;
        }
    }
}

// Where a bunch lies: its first `count` elements from element `first` on, the others as if all lay from `other` on. Where packs
// come in pairs: what is behind the last whole one.
struct BunchPlace { first: u32, other: u32, count: u32, end_pack: vec4<u32> }

// Of the bunch that begins with that row, in a stretch and in the next one.
fn ragged_bunch(row: u32, end_pack: vec4<u32>) -> BunchPlace {
    let stretch_len = max(params.kept[0].x, 1u);
    let stretch = row / stretch_len;
    let before = (row - stretch * stretch_len) * ROW_LEN;
    let count = stretch_len * ROW_LEN - before;
    let other = kept_offset_around(stretch + 1u, 1u) - count;
    return BunchPlace(kept_offset_around(stretch, 1u) + before, other, count, end_pack);
}

// How many runs a row has, and the bunch in which its run number n lies.
fn row_runs() -> u32 { return params.reduce_len / ROW_LEN; }
fn moved_by_runs(place: BunchPlace, n: u32) -> BunchPlace {
    var by = n * params.outer[0].y; // two or three runs lie along one dimension
    if (FEW_RUNS == 0u) {
        by = outer_offset(n);
    }
    return BunchPlace(place.first + by, place.other + by, place.count, place.end_pack);
}
