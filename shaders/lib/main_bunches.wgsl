// An invocation takes a share of the bunches of short rows, and stores whole packs. Rows that do not fill a bunch are another
// dispatch's.
import package::{GROUP, Grid, invocation_number, no_input, params, reduce_bunches, values};

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_input() | (arrayLength(&values) == 0u)) { // see grid.wgsl, Lengths
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    reduce_bunches(first, first + params.share);
}
