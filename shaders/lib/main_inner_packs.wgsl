// Columns whose rows begin anywhere: packs of the output that lie in one row each. An invocation takes a panel, COLUMN_PACKS side by
// side, or several.
import package::{
    COLUMN_PACKS, Chunk, ColumnOutputs, FARTHEST, GROUP, Grid, PACK_ELEMENTS, columns_start, invocation_number, no_input,
    params, reduce_outputs,
};

const TEAM = 1u;

override NEIGHBOURS: u32 = 1u; // where more, as many see all of a row, and some of them nothing
override IN_TURN: bool = false; // several panels: params.share of a row, one after another

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let panel_elements = COLUMN_PACKS * PACK_ELEMENTS;
    let all = (params.columns / PACK_ELEMENTS * PACK_ELEMENTS + panel_elements - 1u) / panel_elements;
    var shares = select(all, NEIGHBOURS, NEIGHBOURS > 1u); // of a row
    var share_elements = panel_elements;
    if (IN_TURN) {
        share_elements = panel_elements * params.share;
        shares = (all + params.share - 1u) / params.share;
    }
    let index = invocation_number(grid.id, grid.groups, grid.local);
    let row = index / shares;
    let row_first = row * params.columns;
    if (no_input() || row_first >= params.outputs) {
        return;
    }
    let begin = (row_first + PACK_ELEMENTS - 1u) / PACK_ELEMENTS * PACK_ELEMENTS;
    let end = (row_first + params.columns) / PACK_ELEMENTS * PACK_ELEMENTS;
    let chunk = Chunk(row, 0u, 0u, params.reduce_len);
    let start = columns_start(row);
    let first = begin + (index - row * shares) * share_elements;
    if (!IN_TURN) {
        if (first < end) {
            reduce_outputs(ColumnOutputs(chunk, start, first - row_first, first, PACK_ELEMENTS, end - row_first));
        }
        return;
    }
    let share_end = min(first + share_elements, min(end, FARTHEST));
    for (var own = first; own < share_end; own += panel_elements) {
        reduce_outputs(ColumnOutputs(chunk, start, own - row_first, own, PACK_ELEMENTS, end - row_first));
    }
}
