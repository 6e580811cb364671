// Columns whose rows begin anywhere: packs of the output that lie in one row each. An invocation takes COLUMN_PACKS
// side by side.
import package::{
    COLUMN_PACKS, Chunk, ColumnOutputs, GROUP, Grid, PACK_ELEMENTS, invocation_number, no_input, params, reduce_outputs,
};

const TEAM = 1u;

override NEIGHBOURS: u32 = 1u; // where more, as many see all of a row, and some of them nothing

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let panel_elements = COLUMN_PACKS * PACK_ELEMENTS;
    let all = (params.columns / PACK_ELEMENTS * PACK_ELEMENTS + panel_elements - 1u) / panel_elements;
    let panels = select(all, NEIGHBOURS, NEIGHBOURS > 1u);
    let index = invocation_number(grid.id, grid.groups, grid.local);
    let row = index / panels;
    let row_first = row * params.columns;
    if (no_input() || row_first >= params.outputs) {
        return;
    }
    let begin = (row_first + PACK_ELEMENTS - 1u) / PACK_ELEMENTS * PACK_ELEMENTS;
    let end = (row_first + params.columns) / PACK_ELEMENTS * PACK_ELEMENTS;
    let first = begin + (index - row * panels) * panel_elements;
    if (first < end) {
        let chunk = Chunk(row, 0u, 0u, params.reduce_len);
        reduce_outputs(ColumnOutputs(chunk, first - row_first, first, PACK_ELEMENTS, end - row_first));
    }
}
