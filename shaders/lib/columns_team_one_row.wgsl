// Columns of one row, reduced by a team: outputs of no other row share their units.
import package::{ColumnOutputs, Invocation, found_by_team, kept_offset, store_part};

fn reduce_outputs_in_team(own: ColumnOutputs, by: Invocation) {
    let found = found_by_team(kept_offset(own.chunk.output) + own.column, own.chunk, by);
    if (by.member == 0u) {
        store_part(found, own.chunk, own.first, 0u, own.count);
    }
}
