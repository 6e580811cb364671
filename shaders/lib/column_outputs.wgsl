// The outputs that an invocation of a column kernel takes, out of a chunk of the rows. Where RAGGED, and rows share units of the
// output, all outputs are cut into blocks as if they were one row, and a block may begin in one row and end in another.
import package::{Chunk, RAGGED, STORE_LANES, chunk_of, params};

// `count` outputs from number `first` on, which begin at a column of their row.
struct ColumnOutputs { chunk: Chunk, column: u32, first: u32, count: u32 }

fn row_of_blocks() -> u32 { return select(params.columns, params.outputs, RAGGED && STORE_LANES > 1u); }

// Of all chunks.
fn blocks_of_columns(block_elements: u32) -> u32 {
    let columns = row_of_blocks();
    return params.outputs / columns * params.chunks * ((columns + block_elements - 1u) / block_elements);
}

// First come all whole blocks, then those at the ends of rows: neighbours do the same.
fn column_outputs(index: u32, block_elements: u32) -> ColumnOutputs {
    let columns = row_of_blocks();
    let rows = params.outputs / columns;
    let whole_blocks = columns / block_elements;
    var row = index / max(whole_blocks, 1u);
    var block_number = index - row * whole_blocks;
    if (index >= rows * params.chunks * whole_blocks) {
        row = index - rows * params.chunks * whole_blocks;
        block_number = whole_blocks;
    }
    let chunk = chunk_of(row, rows);
    let column = block_number * block_elements;
    return ColumnOutputs(chunk, column, chunk.output * columns + column, min(block_elements, columns - column));
}
