// Reduces rows so short that many of them share packs: an invocation takes bunches of BUNCH_ROWS rows, which fill whole packs and
// give whole units of results. They are taken apart in registers, and where those are too few, part by part. Rows that follow one
// another make a stretch. Where ROW_COLUMNS rows lie side by side and take turns, they are a block, and blocks follow one another.
import package::{BUNCH_ROWS, OUTER, ROW_COLUMNS, ROW_LEN, kept_offset_around, outer_offset, params, reduce_stretches};

override FEW_RUNS: u32 = 0u; // the runs of a row, each in another bunch, if there are at most three: they are taken with no loop

// Bunches [first, last), of which there may be fewer, as far as rows fill them.
fn reduce_bunches(first: u32, last: u32) { reduce_stretches(first, min(last, params.outputs / BUNCH_ROWS)); }

// The rows of a stretch, and where it begins.
fn stretch_rows() -> u32 {
    if (ROW_COLUMNS > 1u) {
        return max(params.dims[0].x * params.dims[1].x, 1u);
    }
    return max(params.dims[0].x, 1u);
}
fn stretch_offset(stretch: u32) -> u32 { return kept_offset_around(stretch, select(1u, 2u, ROW_COLUMNS > 1u)); }

// Where a bunch lies: its first `count` elements from element `first` on, the others as if all lay from `other` on. Where packs
// come in pairs: what is behind the last whole one.
struct BunchPlace { first: u32, other: u32, count: u32, end_pack: vec4<u32> }

// How many runs a row has, and the bunch in which its run number n lies.
fn row_runs() -> u32 { return params.reduce_len / ROW_LEN; }
fn moved_by_runs(place: BunchPlace, n: u32) -> BunchPlace {
    var by = n * params.dims[OUTER].y; // two or three runs lie along one dimension
    if (FEW_RUNS == 0u) {
        by = outer_offset(n);
    }
    return BunchPlace(place.first + by, place.other + by, place.count, place.end_pack);
}
