// ReduceMax for any view: element by element.

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task, params.outputs);
    let base = kept_offset(chunk.output);
    var key = LEAST_KEY;
    var r = chunk.begin;
    loop {
        let run = run_from(r, chunk.end);
        let begin = base + run.offset;
        var i = member;
        if (arrayLength(&words) > 0u && i < run.len) { // see grid.wgsl
            loop {
                key = key_max(key, element_key(begin + i * params.run_stride));
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
    return Best(key);
}
