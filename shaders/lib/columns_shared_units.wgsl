// One pack of columns, some of which are a row's: reduced as if all were its. Given back is what the row makes of a unit that the next
// one shares.
import package::{Chunk, Unit, kept_offset, params, reduce_runs, store_columns};

fn store_row_part(chunk: Chunk, row: u32, first: u32, count: u32, shared_unit: Unit) -> Unit {
    let row_first = row * params.columns;
    let start = kept_offset(row) + first - row_first;
    let begin = max(row_first, first) - first;
    let end = min(row_first + params.columns - first, count);
    return store_columns(reduce_runs(start, chunk), chunk, first, begin, end, first + count, shared_unit);
}
