// Reduces any view, element by element.
import package::{
    Best, FARTHEST, RUNS, TEAM, best_of, chunk_of, element_key, kept_offset, merge, no_best, params, run_of,
    run_within, word_count,
};

fn reduce_chunk(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var best = no_best();
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        let run = run_within(n, chunk.begin, chunk.end);
        let begin = base + run.offset;
        let len = min(run.len, FARTHEST);
        var i = member;
        if (word_count() == 0u) { // see grid.wgsl
            break;
        }
        loop {
            if (i >= len) {
                break;
            }
            best = merge(best, best_of(element_key(begin + i * params.run_stride), run.r + i));
            continuing {
                i += TEAM;
                break if i >= len;
            }
        }
        continuing {
            n += 1u;
            break if !RUNS | (n >= runs_end);
        }
    }
    return best;
}
