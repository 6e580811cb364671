// An invocation takes a pack of columns by itself, or four packs side by side where WIDE. Where RAGGED, and rows share units of the
// output, all outputs are cut into packs as if they were one row, and a pack may begin in one row and end in another.
import package::{
    Chunk, ColumnBests, FARTHEST, PACK_ELEMENTS, RAGGED, ROW_BY_ROW, RUNS, Run, STORE_LANES, Unit, WIDE, chunk_of, empty_unit,
    found_rows, four_packs, group_number, has_five_packs, kept_offset, no_column_bests, no_input, offer_row, offer_rows, params,
    place_of, reduced_column, rows_apart, run_of, run_within, store_columns, tile_maxima, tile_maxima_ahead, tile_rows, two_tile_maxima,
    two_tile_maxima_ahead, two_tiles,
};

override GROUP: u32 = 64u;
const IN_FLIGHT: u32 = 1u; // rows of ROW_BY_ROW: with four SwiftShader takes 1.4 times as long

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block_elements = select(1u, 4u, WIDE) * PACK_ELEMENTS;
    let columns = select(params.columns, params.outputs, RAGGED && STORE_LANES > 1u);
    let blocks = (columns + block_elements - 1u) / block_elements;
    let index = group_number(id, groups) * GROUP + local;
    let rows = params.outputs / columns;
    if (no_input() || index >= rows * params.chunks * blocks) { // see grid.wgsl
        return;
    }
    // First all whole blocks, then those at the ends of rows: neighbours do the same.
    let whole_blocks = columns / block_elements;
    var row = index / max(whole_blocks, 1u);
    var block_number = index - row * whole_blocks;
    if (index >= rows * params.chunks * whole_blocks) {
        row = index - rows * params.chunks * whole_blocks;
        block_number = whole_blocks;
    }
    let chunk = chunk_of(row, rows);
    let column = block_number * block_elements;
    let end = min(column + block_elements, columns);
    let first = chunk.output * columns + column;
    if (RAGGED) {
        let count = min(end - column, block_elements);
        if (!WIDE) {
            reduce_ragged(chunk, first, count);
        } else if (has_blocks(first, count)) {
            reduce_ragged_block(chunk, first, count);
        } else {
            for (var n = 0u; n < count; n += PACK_ELEMENTS) {
                reduce_ragged(chunk, first + n, min(count - n, PACK_ELEMENTS));
            }
        }
        return;
    }
    let start = kept_offset(chunk.output) + column;
    if (!WIDE) {
        reduce_pack(start, chunk, first);
    } else if (end - column == block_elements) {
        store_block(reduce_block(start, chunk), start, chunk, first);
    } else {
        for (var n = 0u; n < min(end - column, 4u * PACK_ELEMENTS); n += PACK_ELEMENTS) {
            reduce_pack(start + n, chunk, first + n);
        }
    }
}

// Outputs from number `first` on, of as many rows of columns as have some of them: in each row as if all were its.
fn reduce_ragged(chunk: Chunk, first: u32, count: u32) {
    var row = first / params.columns;
    if (STORE_LANES == 1u) { // of one row
        let start = kept_offset(row) + first - row * params.columns;
        store_columns(reduced_column(start, chunk), chunk, first, 0u, count, first + count, empty_unit());
        return;
    }
    let rows_end = (first + count - 1u) / params.columns + 1u;
    var unit = empty_unit();
    loop {
        if (row >= rows_end) {
            break;
        }
        let row_first = row * params.columns;
        let start = kept_offset(row) + first - row_first;
        let begin = max(row_first, first) - first;
        let end = min(row_first + params.columns - first, count);
        unit = store_columns(reduced_column(start, chunk), chunk, first, begin, end, first + count, unit);
        continuing {
            row += 1u;
            break if row >= rows_end;
        }
    }
}

// Whether these outputs' rows of columns have four packs each, of which memory has five whole ones.
fn has_blocks(first: u32, count: u32) -> bool {
    let row = first / params.columns;
    var start = kept_offset(row) + block_column(first - row * params.columns);
    if (STORE_LANES > 1u) {
        start = max(start, kept_offset((first + count - 1u) / params.columns));
    }
    return (params.columns >= 4u * PACK_ELEMENTS) & has_five_packs(start + params.reach);
}

// Where a block begins that has a row's column number `column`.
fn block_column(column: u32) -> u32 { return min(column, params.columns - 4u * PACK_ELEMENTS); }

// The same as `reduce_ragged`, of as many outputs as a block has at most: of each row that has some of them four packs are
// reduced at once, moved back where they would reach behind the row.
fn reduce_ragged_block(chunk: Chunk, first: u32, count: u32) {
    var row = first / params.columns;
    if (STORE_LANES == 1u) { // of one row
        store_ragged_block(chunk, row, first, count, empty_unit());
        return;
    }
    let rows_end = (first + count - 1u) / params.columns + 1u;
    var unit = empty_unit();
    loop {
        if (row >= rows_end) {
            break;
        }
        unit = store_ragged_block(chunk, row, first, count, unit);
        continuing {
            row += 1u;
            break if row >= rows_end;
        }
    }
}

// What a row has of the outputs. Given back is what it makes of a unit that the next one shares.
fn store_ragged_block(chunk: Chunk, row: u32, first: u32, count: u32, shared_unit: Unit) -> Unit {
    let row_first = row * params.columns;
    let begin = max(row_first, first) - row_first;
    let end = min(first + count - row_first, params.columns);
    let column = block_column(begin);
    var block = reduce_block(kept_offset(row) + column, chunk);
    var unit = shared_unit;
    for (var n = 0u; n < 4u; n++) {
        let pack_begin = column + n * PACK_ELEMENTS;
        let own_begin = max(begin, pack_begin);
        let own_end = min(end, pack_begin + PACK_ELEMENTS);
        if (own_begin < own_end) {
            let pack_first = row_first + pack_begin;
            let left = own_begin - pack_begin;
            unit = store_columns(block[n], chunk, pack_first, left, own_end - pack_begin, first + count, unit);
        }
    }
    return unit;
}

fn reduce_pack(start: u32, chunk: Chunk, first: u32) {
    store_pack(reduced_column(start, chunk), chunk, first);
}

fn store_block(found: array<ColumnBests, 4>, start: u32, chunk: Chunk, first: u32) {
    var block = found;
    for (var n = 0u; n < 4u; n++) {
        store_pack(found_rows(block[n], start + n * PACK_ELEMENTS, chunk), chunk, first + n * PACK_ELEMENTS);
    }
}

fn store_pack(found: ColumnBests, chunk: Chunk, first: u32) {
    store_columns(found, chunk, first, 0u, PACK_ELEMENTS, first + PACK_ELEMENTS, empty_unit());
}

// Four packs side by side.
fn reduce_block(start: u32, chunk: Chunk) -> array<ColumnBests, 4> {
    let none = no_column_bests(chunk.begin);
    var block = array<ColumnBests, 4>(none, none, none, none);
    if (!RUNS) {
        return block_with_run(block, start, run_within(0u, chunk.begin, chunk.end));
    }
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        block = block_with_run(block, start, run_within(n, chunk.begin, chunk.end));
        continuing {
            n += 1u;
            break if n >= runs_end;
        }
    }
    return block;
}

fn block_with_run(block: array<ColumnBests, 4>, start: u32, run: Run) -> array<ColumnBests, 4> {
    let place = place_of(start + run.offset);
    if (ROW_BY_ROW || RAGGED) {
        return with_rows(block, place, run);
    }
    return with_tiles(block, place, run);
}

fn with_rows(block: array<ColumnBests, 4>, place: u32, run: Run) -> array<ColumnBests, 4> {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = block[0];
    var b1 = block[1];
    var b2 = block[2];
    var b3 = block[3];
    var p = place;
    for (var i = 0u; i < len; i++) {
        let row = four_packs(p);
        offer_row(&b0, row.a, run.r + i);
        offer_row(&b1, row.b, run.r + i);
        offer_row(&b2, row.c, run.r + i);
        offer_row(&b3, row.d, run.r + i);
        p += step;
    }
    return array<ColumnBests, 4>(b0, b1, b2, b3);
}

// Eight rows in flight. By itself: lavapipe runs through a loop's body once even where it has nothing to do.
fn with_tiles(block: array<ColumnBests, 4>, place: u32, run: Run) -> array<ColumnBests, 4> {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = block[0];
    var b1 = block[1];
    var b2 = block[2];
    var b3 = block[3];
    var p = place;
    var i = 0u;
    for (; i + 4u < len; i += 8u) {
        let tiles = two_tiles(p, step, len - i);
        offer_rows(&b0, two_tile_maxima_ahead(tiles), run.r + i);
        offer_rows(&b1, two_tile_maxima(tiles, 1u), run.r + i);
        offer_rows(&b2, two_tile_maxima(tiles, 2u), run.r + i);
        offer_rows(&b3, two_tile_maxima(tiles, 3u), run.r + i);
        p += 8u * step;
    }
    if (i < len) {
        let rows = tile_rows(p, step, len - i);
        offer_rows(&b0, tile_maxima_ahead(rows), run.r + i);
        offer_rows(&b1, tile_maxima(rows + 1u), run.r + i);
        offer_rows(&b2, tile_maxima(rows + 2u), run.r + i);
        offer_rows(&b3, tile_maxima(rows + 3u), run.r + i);
    }
    return array<ColumnBests, 4>(b0, b1, b2, b3);
}
