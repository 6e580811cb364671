// Panels of columns whose rows begin anywhere, and share units of the output.
import package::{
    Chunk, ColumnOutputs, PACK_ELEMENTS, PANEL_PACKS, Unit, empty_unit, kept_offset, panel_column, params, reduce_panel,
    store_columns,
};

// Of each row that has some of the outputs some packs are reduced at once, moved back where they would reach behind the row.
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
        unit = store_shared_panel(chunk, row, first, count, unit);
        continuing {
            row += 1u;
            break if row >= rows_end;
        }
    }
}

// What a row has of the outputs. Given back is what it makes of a unit that the next one shares.
fn store_shared_panel(chunk: Chunk, row: u32, first: u32, count: u32, shared_unit: Unit) -> Unit {
    let row_first = row * params.columns;
    let begin = max(row_first, first) - row_first;
    let end = min(first + count - row_first, params.columns);
    let column = panel_column(begin);
    var panel = reduce_panel(kept_offset(row) + column, chunk);
    var unit = shared_unit;
    for (var n = 0u; n < PANEL_PACKS; n++) {
        let pack_begin = column + n * PACK_ELEMENTS;
        let own_begin = max(begin, pack_begin);
        let own_end = min(end, pack_begin + PACK_ELEMENTS);
        if (own_begin < own_end) {
            let pack_first = row_first + pack_begin;
            let left = own_begin - pack_begin;
            unit = store_columns(panel[n], chunk, pack_first, left, own_end - pack_begin, first + count, unit);
        }
    }
    return unit;
}
