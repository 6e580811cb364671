// Columns whose rows begin anywhere: the packs of the output in which rows end, one for each row. What is behind a row's end is of
// the next row, or of none.
import package::{
    Chunk, ColumnResults, GROUP, Grid, PACK_ELEMENTS, invocation_number, kept_offset, no_input, params, reduced_column,
    store_results, with_results,
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
        reduce_seam(row, first, end - first, min(params.outputs - first, PACK_ELEMENTS));
    }
}

// `count` outputs from number `first` on, of which `own_count` are of the row. In each row as if all were its.
fn reduce_seam(row: u32, first: u32, own_count: u32, count: u32) {
    let chunk = Chunk(row, 0u, 0u, params.reduce_len);
    let rows_end = row + select(1u, 2u, own_count < count);
    var results = ColumnResults();
    var n = row;
    loop {
        if (n >= rows_end) {
            break;
        }
        let start = kept_offset(n) + first - n * params.columns;
        let begin = select(own_count, 0u, n == row);
        let end = select(count, own_count, n == row);
        results = with_results(results, reduced_column(start, chunk), first, begin, end);
        continuing {
            n += 1u;
            break if n >= rows_end;
        }
    }
    store_results(results, first, count);
}
