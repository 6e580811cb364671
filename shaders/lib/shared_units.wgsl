// Columns whose rows begin anywhere, and share units of the output: of each row that has some of an invocation's outputs its part, one
// after another.
import package::{ColumnOutputs, empty_unit, params, store_row_part};

fn reduce_outputs(own: ColumnOutputs) {
    let first = own.first;
    let count = own.count;
    var row = first / params.columns;
    let rows_end = (first + count - 1u) / params.columns + 1u;
    var unit = empty_unit();
    loop {
        if (row >= rows_end) {
            break;
        }
        unit = store_row_part(own.chunk, row, first, count, unit);
        continuing {
            row += 1u;
            break if row >= rows_end;
        }
    }
}
