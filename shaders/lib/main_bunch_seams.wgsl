// Bunches of short rows in which a stretch ends and the next one begins: an invocation takes those of a share of the stretches.
import package::{BUNCH_ROWS, GROUP, Grid, invocation_number, no_input, params, reduce_bunches, stretch_rows, values};

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_input() | (arrayLength(&values) == 0u)) { // see grid.wgsl, Lengths
        return;
    }
    let stretch_len = stretch_rows();
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let last = min(first + params.share, params.outputs / stretch_len);
    for (var stretch = first; stretch < last; stretch++) {
        let end = (stretch + 1u) * stretch_len;
        reduce_bunches(end / BUNCH_ROWS, (end + BUNCH_ROWS - 1u) / BUNCH_ROWS); // none where it ends with a bunch
    }
}
