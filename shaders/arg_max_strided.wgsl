// ArgMax for any view: element by element.

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var best = no_best();
    var r = chunk.begin;
    loop {
        let run = run_from(r, chunk.end);
        let begin = base + run.offset;
        var i = member;
        if (arrayLength(&words) > 0u && i < run.len) { // see grid.wgsl
            loop {
                best = merge(best, Best(element_key(begin + i * params.run_stride), r + i));
                continuing {
                    i += TEAM;
                    break if i >= run.len;
                }
            }
        }
        r += run.len;
        continuing {
            break if !RUNS || r >= chunk.end;
        }
    }
    return best;
}
