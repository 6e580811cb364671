// Columns whose rows begin anywhere: the packs of the output in which rows end, one for each row. What is behind a row's end is of
// the next row, or of none.
import package::{
    Chunk, ColumnOutputs, GROUP, Grid, PACK_ELEMENTS, invocation_number, no_input, params, reduce_outputs,
};

const TEAM = 1u;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let row = invocation_number(grid.id, grid.groups, grid.local);
    if (no_input() || row >= params.outputs / params.columns) { // no product: rows may be few and long
        return;
    }
    let end = (row + 1u) * params.columns;
    let first = end / PACK_ELEMENTS * PACK_ELEMENTS;
    if (first < end) {
        let chunk = Chunk(row, 0u, 0u, params.reduce_len);
        reduce_outputs(ColumnOutputs(chunk, 0u, 0u, first, min(params.outputs - first, PACK_ELEMENTS), 0u));
    }
}
