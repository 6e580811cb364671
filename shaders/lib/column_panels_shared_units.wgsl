// A panel of columns, moved back where it would reach behind the row whose part it has. Given back is what the row makes of a unit that
// the next one shares.
import package::{Chunk, PACK_ELEMENTS, PANEL_PACKS, Unit, kept_offset, params, reduce_runs, store_columns};

fn store_row_part(chunk: Chunk, row: u32, first: u32, count: u32, shared_unit: Unit) -> Unit {
    let row_first = row * params.columns;
    let begin = max(row_first, first) - row_first;
    let end = min(first + count - row_first, params.columns);
    let column = panel_column(begin);
    var panel = reduce_runs(kept_offset(row) + column, chunk);
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

// Where a panel begins that has a row's column number `column`. A row has no fewer packs.
fn panel_column(column: u32) -> u32 { return min(column, params.columns - PANEL_PACKS * PACK_ELEMENTS); }
