// Columns of one row, reduced by a team: outputs of no other row share their units.
import package::{ColumnOutputs, Invocation, PACK_ELEMENTS, found_by_team, store_part, whole_rows};

fn reduce_outputs_in_team(own: ColumnOutputs, by: Invocation) {
    let chunk = whole_rows(own.chunk, own.column, PACK_ELEMENTS);
    let found = found_by_team(own.start + own.column, chunk, by);
    if (by.member == 0u) {
        store_part(found, chunk, own.first, 0u, own.count);
    }
}
