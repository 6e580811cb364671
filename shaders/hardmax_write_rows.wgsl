// Hardmax once the winners are known, where slices follow one another: an invocation writes its part of the output, zeros
// first, then the ones in it.
import package::{
    ACCUMULATE, BOUNDS_CHECKED, GROUP, Grid, WRITE_LEN, invocation_number, no_output, params, winners, write_one, write_zeros,
};

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_output()) {
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let last = min(first + params.share, (params.len + WRITE_LEN - 1u) / WRITE_LEN);
    if (first >= last) {
        return;
    }
    if (!ACCUMULATE) {
        for (var i = first; i < last; i++) {
            write_zeros(i);
        }
    }
    // Elements are counted from the beginning of the dispatch's first slice on.
    let begin = params.position + first * WRITE_LEN;
    let end = params.position + min(last * WRITE_LEN, params.len);
    let slices_end = (end - 1u) / params.slice_len + 1u;
    for (var slice = begin / params.slice_len; slice < slices_end; slice++) {
        let n = slice - params.first_winner;
        if (BOUNDS_CHECKED && n >= params.winners) {
            continue;
        }
        let start = slice * params.slice_len;
        let e = start + winners[n]; // wraps where it lies far behind the end
        if (e >= max(begin, start) && e < end) {
            write_one(e - params.position);
        }
    }
}
