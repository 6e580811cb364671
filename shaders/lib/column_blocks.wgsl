// Four packs of columns side by side, reduced together.
import package::{
    Chunk, ColumnBests, FARTHEST, RUNS, Run, behind_packs, block_with_run, four_packs, no_column_bests, offer_row, rows_apart,
    run_of, run_within,
};

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

fn with_rows(block: array<ColumnBests, 4>, place: u32, run: Run) -> array<ColumnBests, 4> {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = block[0];
    var b1 = block[1];
    var b2 = block[2];
    var b3 = block[3];
    let behind = behind_packs();
    var p = place;
    for (var i = 0u; i < len; i++) {
        let row = four_packs(p, behind);
        offer_row(&b0, row.a, run.r + i);
        offer_row(&b1, row.b, run.r + i);
        offer_row(&b2, row.c, run.r + i);
        offer_row(&b3, row.d, run.r + i);
        p += step;
    }
    return array<ColumnBests, 4>(b0, b1, b2, b3);
}
