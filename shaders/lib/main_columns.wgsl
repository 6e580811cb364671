// An invocation takes a panel, COLUMN_PACKS packs of columns side by side, or several of one. Where RAGGED, and rows share units of the
// output, all outputs are cut into panels as if they were one row, and a panel may begin in one row and end in another.
import package::{
    COLUMN_PACKS, ColumnOutputs, GROUP, Grid, PACK_ELEMENTS, RAGGED, STORE_LANES, chunk_of, columns_start,
    invocation_number, no_input, params, reduce_outputs,
};

const TEAM = 1u;

override NEIGHBOURS: u32 = 1u; // where more, as many see all of a row, and some of them nothing
override IN_TURN: bool = false; // several panels: params.share of a row, one after another

// All in one function: in two SwiftShader takes a tenth longer for 80 rows.
@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let panel_elements = COLUMN_PACKS * PACK_ELEMENTS;
    let columns = select(params.columns, params.outputs, RAGGED && STORE_LANES > 1u);
    let panels = select((columns + panel_elements - 1u) / panel_elements, NEIGHBOURS, NEIGHBOURS > 1u);
    let whole_panels = select(columns / panel_elements, NEIGHBOURS, NEIGHBOURS > 1u);
    var share = 1u;
    var shares = whole_panels; // of a row
    if (IN_TURN) {
        share = params.share;
        shares = (whole_panels + share - 1u) / share;
    }
    let index = invocation_number(grid.id, grid.groups, grid.local);
    let rows = params.outputs / columns;
    if (no_input() || index >= rows * params.chunks * (shares + panels - whole_panels)) {
        return;
    }
    // First all whole panels, then those at the ends of rows: neighbours do the same.
    var row = index / max(shares, 1u);
    var panel_number = (index - row * shares) * share;
    var panels_end = min(panel_number + share, whole_panels);
    if (index >= rows * params.chunks * shares) {
        row = index - rows * params.chunks * shares;
        panel_number = whole_panels;
        panels_end = panels;
    }
    let chunk = chunk_of(row, rows);
    let start = columns_start(chunk.output);
    let row_first = chunk.output * columns;
    if (!IN_TURN) {
        let column = panel_number * panel_elements;
        if (NEIGHBOURS == 1u || column < columns) {
            let count = min(panel_elements, columns - column);
            reduce_outputs(ColumnOutputs(chunk, start, column, row_first + column, count, columns));
        }
        return;
    }
    for (; panel_number < panels_end; panel_number++) {
        let column = panel_number * panel_elements;
        let count = min(panel_elements, columns - column);
        reduce_outputs(ColumnOutputs(chunk, start, column, row_first + column, count, columns));
    }
}
