// Columns of one row, reduced by a team: outputs of no other row share their units.
import package::{ColumnOutputs, Invocation, found_by_team, kept_offset, store_part, with_rest};

fn reduce_outputs_in_team(own: ColumnOutputs, by: Invocation) {
    let start = kept_offset(own.chunk.output) + own.column;
    let found = found_by_team(start, own.chunk, by);
    if (by.member == 0u) {
        store_part(with_rest(found, start, own.column, own.chunk), own.chunk, own.first, 0u, own.count);
    }
}
