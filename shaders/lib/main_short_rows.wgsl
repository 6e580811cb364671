// An invocation takes a share of the bunches of short rows.
import package::{GROUP, Grid, invocation_number, no_input, params, reduce_bunches, reduce_rest};

const TEAM = 1u;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_input()) {
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    reduce_bunches(first, first + params.share);
    reduce_rest(first, first + params.share);
}
