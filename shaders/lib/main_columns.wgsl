// An invocation takes COLUMN_PACKS packs of columns side by side. Where RAGGED, and rows share units of the output, all outputs are cut
// into panels as if they were one row, and a panel may begin in one row and end in another.
import package::{
    COLUMN_PACKS, ColumnOutputs, GROUP, Grid, PACK_ELEMENTS, RAGGED, STORE_LANES, chunk_of, invocation_number, no_input, params,
    reduce_outputs,
};

const TEAM = 1u;

override NEIGHBOURS: u32 = 1u; // where more, as many see all of a row, and some of them nothing

// All in one function: in two SwiftShader takes a tenth longer for 80 rows.
@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let panel_elements = COLUMN_PACKS * PACK_ELEMENTS;
    let columns = select(params.columns, params.outputs, RAGGED && STORE_LANES > 1u);
    let panels = select((columns + panel_elements - 1u) / panel_elements, NEIGHBOURS, NEIGHBOURS > 1u);
    let index = invocation_number(grid.id, grid.groups, grid.local);
    let rows = params.outputs / columns;
    if (no_input() || index >= rows * params.chunks * panels) {
        return;
    }
    // First all whole panels, then those at the ends of rows: neighbours do the same.
    let whole_panels = select(columns / panel_elements, NEIGHBOURS, NEIGHBOURS > 1u);
    var row = index / max(whole_panels, 1u);
    var panel_number = index - row * whole_panels;
    if (index >= rows * params.chunks * whole_panels) {
        row = index - rows * params.chunks * whole_panels;
        panel_number = whole_panels;
    }
    let chunk = chunk_of(row, rows);
    let column = panel_number * panel_elements;
    if (NEIGHBOURS > 1u && column >= columns) {
        return;
    }
    let count = min(panel_elements, columns - column);
    reduce_outputs(ColumnOutputs(chunk, column, chunk.output * columns + column, count, columns));
}
