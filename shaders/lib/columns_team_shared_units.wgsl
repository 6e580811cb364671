// Columns of a team whose rows begin anywhere, and share units of the output: a pack lies in one row or in two. In each it is
// reduced as if all of it were there.
import package::{ColumnOutputs, Invocation, TEAM, empty_unit, found_by_team, kept_offset, params, store_columns};

fn reduce_outputs_in_team(own: ColumnOutputs, by: Invocation) {
    let chunk = own.chunk;
    let row = own.first / params.columns;
    let start = kept_offset(row) + own.first - row * params.columns;
    let found = found_by_team(start, chunk, by);
    let next_first = (row + 1u) * params.columns;
    let count = min(next_first - own.first, own.count);
    let last = own.first + own.count;
    var unit = empty_unit();
    if (by.member == 0u) {
        unit = store_columns(found, chunk, own.first, 0u, count, last, unit);
    }
    // All of a workgroup meet again, and most have nothing to do. Until they meet, some may read what others have found.
    let next_member = select(TEAM, by.member, count < own.count);
    workgroupBarrier();
    let next_start = kept_offset(row + 1u) + own.first - next_first;
    let next_found = found_by_team(next_start, chunk, Invocation(next_member, by.local));
    if (next_member == 0u) {
        store_columns(next_found, chunk, own.first, count, own.count, last, unit);
    }
}
