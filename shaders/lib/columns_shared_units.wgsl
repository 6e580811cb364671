// Columns whose rows begin anywhere, and share units of the output.
import package::{ColumnOutputs, empty_unit, kept_offset, params, reduced_column, store_columns};

// Of as many rows of columns as have some of the outputs: in each row as if all were its.
fn reduce_outputs(own: ColumnOutputs) {
    let chunk = own.chunk;
    let first = own.first;
    let count = own.count;
    var row = first / params.columns;
    let rows_end = (first + count - 1u) / params.columns + 1u;
    var unit = empty_unit();
    loop {
        if (row >= rows_end) {
            break;
        }
        let row_first = row * params.columns;
        let start = kept_offset(row) + first - row_first;
        let begin = max(row_first, first) - first;
        let end = min(row_first + params.columns - first, count);
        unit = store_columns(reduced_column(start, chunk), chunk, first, begin, end, first + count, unit);
        continuing {
            row += 1u;
            break if row >= rows_end;
        }
    }
}
