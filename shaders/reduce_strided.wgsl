// Reduces any view, element by element.
import package::{
    Best, FARTHEST, RUNS, Run, TEAM, best_of, chunk_of, element_key, kept_offset, merge, no_best, params, run_of,
    run_within, word_count,
};

fn placed(best: Best, task: u32) -> Best { return best; }

fn reduce_chunk(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    if (!RUNS) {
        return with_run(no_best(), base, run_within(0u, chunk.begin, chunk.end), member);
    }
    var best = no_best();
    let runs_end = run_of(chunk.end - 1u) + 1u;
    var n = run_of(chunk.begin);
    loop {
        if (n >= runs_end) {
            break;
        }
        best = with_run(best, base, run_within(n, chunk.begin, chunk.end), member);
        continuing {
            n += 1u;
            break if n >= runs_end;
        }
    }
    return best;
}

// The best so far, or one of a run: a member takes every TEAM-th element of it.
fn with_run(before: Best, base: u32, run: Run, member: u32) -> Best {
    let begin = base + run.offset;
    let len = min(run.len, FARTHEST);
    var best = before;
    var i = member;
    if (word_count() == 0u) { // see grid.wgsl, Lengths
        return best;
    }
    loop {
        if (i >= len) {
            break;
        }
        // Four in flight; behind the last, the first once more.
        let all = i + vec4<u32>(0u, TEAM, 2u * TEAM, 3u * TEAM);
        let own = select(vec4<u32>(i), all, all < vec4<u32>(len));
        let places = begin + own * params.run_stride;
        let a = element_key(places.x);
        let b = element_key(places.y);
        let c = element_key(places.z);
        let d = element_key(places.w);
        let ab = merge(best_of(a, run.r + own.x), best_of(b, run.r + own.y));
        let cd = merge(best_of(c, run.r + own.z), best_of(d, run.r + own.w));
        best = merge(best, merge(ab, cd));
        continuing {
            i += 4u * TEAM;
            break if i >= len;
        }
    }
    return best;
}
