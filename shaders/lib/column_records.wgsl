// The records of columns of one row. Where several rows count as one (src/plan/folds.rs), a block may begin and end within a row: what
// lies in such a row is joined here. What is not the block's in its first row is as in the row below, in its last as in the row above.
import package::{
    ACCUMULATE, Chunk, ColumnBests, LOOSE_ENDS, PACK_ELEMENTS, RAGGED, TEAM, column_best, columns_start, empty_unit, first_elements,
    join_columns, joined, lead_of, no_column_bests, offer_row, pack_from, params, part_of_columns, rows_earlier, store_lane, task_of,
};

// A pack of columns of an output's block, whose own columns begin behind the lead: what lies before that ends the row above.
struct RecordPack { chunk: Chunk, column: u32, lead: u32 }

// Columns [begin, end) of a pack whose first is output number `first`.
fn store_part(found: ColumnBests, chunk: Chunk, first: u32, begin: u32, end: u32) {
    let pack = RecordPack(chunk, first - chunk.output * params.columns, lead_of(chunk.output));
    var bests = with_ends(found, pack);
    if (RAGGED | ACCUMULATE | (TEAM > 1u)) { // few packs, or a long text
        for (var i = begin; i < end; i++) {
            store_column(&bests, pack, i);
        }
        return;
    }
    // No loop: which column it is would be looked up in memory.
    store_two(&bests, pack, 0u);
    if (PACK_ELEMENTS > 2u) {
        store_two(&bests, pack, 2u);
    }
    if (PACK_ELEMENTS > 4u) {
        store_two(&bests, pack, 4u);
        store_two(&bests, pack, 6u);
    }
    if (PACK_ELEMENTS > 8u) {
        store_two(&bests, pack, 8u);
        store_two(&bests, pack, 10u);
        store_two(&bests, pack, 12u);
        store_two(&bests, pack, 14u);
    }
}

fn store_two(bests: ptr<function, ColumnBests>, pack: RecordPack, i: u32) {
    store_column(bests, pack, i);
    store_column(bests, pack, i + 1u);
}

fn store_column(bests: ptr<function, ColumnBests>, pack: RecordPack, i: u32) {
    let column = pack.column + i;
    let above = LOOSE_ENDS & (column < pack.lead);
    let output = pack.chunk.output * params.columns + column - pack.lead + select(0u, params.columns, above);
    let best = rows_earlier(column_best(bests, i), select(0u, 1u, above));
    store_lane(empty_unit(), 0u, task_of(output, pack.chunk.number), best);
}

// With what rows have that are not the block's from end to end.
fn with_ends(found: ColumnBests, pack: RecordPack) -> ColumnBests {
    let chunk = pack.chunk;
    var all = found;
    if (!LOOSE_ENDS) {
        return all;
    }
    let e = columns_start(chunk.output) + pack.column;
    let len = select(0u, params.rest_len + pack.lead, chunk.end >= params.reduce_len); // from row reduce_len on
    let rows = (max(len, pack.column) - pack.column + params.columns - 1u) / params.columns;
    let next = max(chunk.end, params.reduce_len);
    let ends = 1u + max(params.reduce_len + rows, next) - next;
    // Row 0, if it is not whole, then those behind the chunk. A loop, since whoever has no ends then goes on: what is under a condition
    // SwiftShader does anyway.
    for (var n = select(1u, 0u, (chunk.number == 0u) & (chunk.begin > 0u)); n < ends; n++) {
        let row = select(next + n - 1u, 0u, n == 0u);
        let at = e + row * params.run_stride;
        let near = pack_from(at + select(0u - params.run_stride, params.run_stride, n == 0u));
        let left = len - (row - params.reduce_len) * params.columns - pack.column;
        let first = first_elements(select(left, max(pack.lead, pack.column) - pack.column, n == 0u));
        let own = pack_from(at);
        join_row(&all, chunk, row, joined(own, near, select(first, ~first, vec4<bool>(n == 0u))));
    }
    return all;
}

fn join_row(bests: ptr<function, ColumnBests>, chunk: Chunk, row: u32, pack: vec4<u32>) {
    var own = no_column_bests(Chunk(chunk.output, chunk.number, row, row + 1u));
    offer_row(&own, pack, row);
    join_columns(bests, part_of_columns(own));
}
