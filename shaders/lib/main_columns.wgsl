// An invocation takes a pack of columns by itself, or four side by side where FOUR_PACKS. Where RAGGED, and rows share units of
// the output, all outputs are cut into blocks as if they were one row, and a block may begin in one row and end in another.
import package::{
    ColumnOutputs, FOUR_PACKS, GROUP, Grid, PACK_ELEMENTS, RAGGED, STORE_LANES, chunk_of, invocation_number, no_input, params,
    reduce_outputs,
};

const TEAM = 1u;

// All in one function: in two SwiftShader takes a tenth longer for 80 rows.
@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let block_elements = select(1u, 4u, FOUR_PACKS) * PACK_ELEMENTS;
    let columns = select(params.columns, params.outputs, RAGGED && STORE_LANES > 1u);
    let blocks = (columns + block_elements - 1u) / block_elements;
    let index = invocation_number(grid.id, grid.groups, grid.local);
    let rows = params.outputs / columns;
    if (no_input() || index >= rows * params.chunks * blocks) {
        return;
    }
    // First all whole blocks, then those at the ends of rows: neighbours do the same.
    let whole_blocks = columns / block_elements;
    var row = index / max(whole_blocks, 1u);
    var block_number = index - row * whole_blocks;
    if (index >= rows * params.chunks * whole_blocks) {
        row = index - rows * params.chunks * whole_blocks;
        block_number = whole_blocks;
    }
    let chunk = chunk_of(row, rows);
    let column = block_number * block_elements;
    let count = min(block_elements, columns - column);
    reduce_outputs(ColumnOutputs(chunk, column, chunk.output * columns + column, count));
}
