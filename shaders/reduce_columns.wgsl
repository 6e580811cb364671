// Reduces where the outputs stand side by side in memory: a pack of columns, rows apart by run_stride. Where RAGGED, rows of
// columns begin anywhere.
import package::{
    Chunk, ColumnBests, FARTHEST, RAGGED, RUNS, Run, TEAM, column_pack, located, lone_tile_maxima, no_column_bests, offer_row,
    offer_rows, place_of, rows_apart, run_of, run_within, tile_rows,
};

override FOUR_PACKS: bool = false; // an invocation takes four packs side by side
override ROW_BY_ROW: bool = false; // rows are compared one by one, and none is looked for at the end

// `count` outputs from number `first` on, which begin at a column of their row.
struct ColumnOutputs { chunk: Chunk, column: u32, first: u32, count: u32 }

// With the rows of the winners.
fn reduced_column(start: u32, chunk: Chunk) -> ColumnBests {
    return located(reduce_column(start, chunk), start, chunk.end);
}

// One pack.
fn reduce_column(start: u32, chunk: Chunk) -> ColumnBests {
    let none = no_column_bests(chunk.begin);
    if (!RUNS) {
        return with_run(none, start, run_within(0u, chunk.begin, chunk.end));
    }
    var bests = none;
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        bests = with_run(bests, start, run_within(n, chunk.begin, chunk.end));
        continuing {
            n += 1u;
            break if n >= runs_end;
        }
    }
    return bests;
}

fn with_run(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let place = place_of(start + run.offset);
    if (ROW_BY_ROW) {
        return reduce_row_by_row(before, place, run);
    }
    return reduce_tiles(before, place, run);
}

fn reduce_row_by_row(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var bests = before;
    var i = 0u;
    if (TEAM > 1u) { // four in flight, with which SwiftShader takes 1.4 times as long where there is no team
        for (; i + 3u < len; i += 4u) {
            let places = start + (i + vec4<u32>(0u, 1u, 2u, 3u)) * step;
            let a = column_pack(places.x);
            let b = column_pack(places.y);
            let c = column_pack(places.z);
            let d = column_pack(places.w);
            offer_row(&bests, a, run.r + i);
            offer_row(&bests, b, run.r + i + 1u);
            offer_row(&bests, c, run.r + i + 2u);
            offer_row(&bests, d, run.r + i + 3u);
        }
    }
    if (TEAM == 1u && !RAGGED) { // two a turn, which is worth more than it costs
        for (; i + 1u < len; i += 2u) {
            offer_row(&bests, column_pack(start + i * step), run.r + i);
            offer_row(&bests, column_pack(start + (i + 1u) * step), run.r + i + 1u);
        }
        if (i < len) {
            offer_row(&bests, column_pack(start + i * step), run.r + i);
        }
        return bests;
    }
    loop {
        if (i >= len) {
            break;
        }
        offer_row(&bests, column_pack(start + i * step), run.r + i);
        continuing {
            i += 1u;
            break if i >= len;
        }
    }
    return bests;
}

// By itself: with this loop in the one above SwiftShader takes a tenth longer.
fn reduce_tiles(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var bests = before;
    var i = 0u;
    loop {
        if (i >= len) {
            break;
        }
        offer_rows(&bests, lone_tile_maxima(tile_rows(start + i * step, step, len - i)), run.r + i);
        continuing {
            i += 4u;
            break if i >= len;
        }
    }
    return bests;
}
