// TEAM invocations (a power of two) reduce a pack of columns together, each some of the rows that lie one below the other, and
// merge in workgroup memory. Packs side by side are neighbours in the workgroup. Where RAGGED, and rows share units of the output,
// all outputs are cut into packs as if they were one row.
import package::{
    Chunk, ColumnBests, ColumnOutputs, ColumnPart, GROUP, Grid, PACK_ELEMENTS, RAGGED, STORE_LANES, chunk_of, columns_start,
    group_number, join_columns, no_column_bests, no_input, params, part_of_columns, reduce_outputs_in_team, reduce_runs,
};

override TEAM: u32 = 256u;

// Who reduces them. Whoever has nothing to do is member number TEAM.
struct Invocation { member: u32, local: u32 }

var<workgroup> parts: array<ColumnPart, GROUP>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let across = GROUP / TEAM;
    let index = group_number(grid.id, grid.groups) * across + grid.local % across;
    let columns = select(params.columns, params.outputs, RAGGED && STORE_LANES > 1u);
    let packs = (columns + PACK_ELEMENTS - 1u) / PACK_ELEMENTS;
    let rows = params.outputs / columns;
    let has_task = !no_input() && index < rows * params.chunks * packs;
    let task = select(0u, index, has_task);
    let row = task / packs;
    let column = (task - row * packs) * PACK_ELEMENTS;
    let chunk = chunk_of(row, rows);
    let count = min(columns - column, PACK_ELEMENTS);
    let own = ColumnOutputs(chunk, columns_start(chunk.output), column, chunk.output * columns + column, count, columns);
    reduce_outputs_in_team(own, Invocation(select(TEAM, grid.local / across, has_task), grid.local));
}

// What all members have found in a pack of columns. Member 0 is told. Whoever calls this twice puts a barrier between, since members
// may still read `parts`.
fn found_by_team(start: u32, chunk: Chunk, by: Invocation) -> ColumnBests {
    let across = GROUP / TEAM;
    let part_len = rows_of_member(chunk.end - chunk.begin);
    let members = (chunk.end - chunk.begin + part_len - 1u) / part_len;
    var found = no_column_bests(chunk);
    if (by.member < members) {
        let begin = chunk.begin + by.member * part_len;
        let part = Chunk(chunk.output, chunk.number, begin, min(begin + part_len, chunk.end));
        found = reduce_runs(start, part);
    }
    parts[by.local] = part_of_columns(found);
    for (var half = TEAM / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (by.member < half && by.member + half < members) {
            join_columns(&found, parts[by.local + half * across]);
            parts[by.local] = part_of_columns(found);
        }
    }
    return found;
}

// Whole turns of four rows.
fn rows_of_member(rows: u32) -> u32 { return ((rows + TEAM - 1u) / TEAM + 3u) / 4u * 4u; }
