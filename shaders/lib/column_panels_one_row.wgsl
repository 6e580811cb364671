// Panels of columns of one row: outputs of no other row share their units.
import package::{
    ColumnOutputs, PACK_ELEMENTS, PANEL_PACKS, RAGGED, reduce_runs, store_part, whole_rows,
};

// Packs side by side, moved back where they would reach behind the end. What lies before `own` is another invocation's to store.
fn reduce_outputs(own: ColumnOutputs) {
    let column = min(own.column, own.end - PANEL_PACKS * PACK_ELEMENTS);
    let panel_first = own.first - (own.column - column);
    let chunk = whole_rows(own.chunk, column, PANEL_PACKS * PACK_ELEMENTS);
    var panel = reduce_runs(own.start + column, chunk);
    for (var n = 0u; n < PANEL_PACKS; n++) {
        let across = n * PACK_ELEMENTS;
        let first = panel_first + across;
        if (first + PACK_ELEMENTS > own.first) {
            let begin = select(0u, max(own.first, first) - first, RAGGED); // else all of it is own, or none
            store_part(panel[n], chunk, first, begin, PACK_ELEMENTS);
        }
    }
}
