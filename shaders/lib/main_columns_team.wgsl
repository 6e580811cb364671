// TEAM invocations (a power of two) reduce a pack of columns together, each some of the rows that lie one below the other, and
// merge in workgroup memory. Packs side by side are neighbours in the workgroup. Rows share no units of the output.
import package::{
    Chunk, ColumnBests, PACK_ELEMENTS, chunk_of, group_number, join_columns, kept_offset, no_column_bests, no_input, params,
    reduced_column, store_first,
};

override GROUP: u32 = 256u;
override TEAM: u32 = 256u;
const IN_FLIGHT: u32 = 4u; // rows of ROW_BY_ROW

var<workgroup> parts: array<ColumnBests, GROUP>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let across = GROUP / TEAM;
    let member = local / across;
    let index = group_number(id, groups) * across + local % across;
    let blocks = (params.columns + PACK_ELEMENTS - 1u) / PACK_ELEMENTS;
    let rows = params.outputs / params.columns;
    let has_task = !no_input() && index < rows * params.chunks * blocks; // see grid.wgsl
    let task = select(0u, index, has_task);
    let row = task / blocks;
    let column = (task - row * blocks) * PACK_ELEMENTS;
    let chunk = chunk_of(row, rows);
    let part_len = rows_of_member(chunk.end - chunk.begin);
    let members = (chunk.end - chunk.begin + part_len - 1u) / part_len;
    var found = no_column_bests(0u);
    if (has_task && member < members) {
        let begin = chunk.begin + member * part_len;
        let part = Chunk(chunk.output, chunk.number, begin, min(begin + part_len, chunk.end));
        found = reduced_column(kept_offset(chunk.output) + column, part);
    }
    parts[local] = found;
    for (var half = TEAM / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (member < half && member + half < members) {
            join_columns(&found, parts[local + half * across]);
            parts[local] = found;
        }
    }
    if (has_task && member == 0u) {
        let count = min(params.columns - column, PACK_ELEMENTS);
        let first = chunk.output * params.columns + column;
        store_first(found, chunk, first, count);
    }
}

// Whole turns of four rows.
fn rows_of_member(rows: u32) -> u32 { return ((rows + TEAM - 1u) / TEAM + 3u) / 4u * 4u; }
