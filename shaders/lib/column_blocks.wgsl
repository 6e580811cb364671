// Four packs of columns side by side, reduced together, run by run. How a block goes down the rows of a run (`block_with_run`) is
// said by column_blocks_aligned.wgsl, column_blocks_ragged.wgsl or inner_block.wgsl, and so is what is stored of it.
import package::{Chunk, ColumnBests, RUNS, block_with_run, no_column_bests, run_of, run_within};

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
