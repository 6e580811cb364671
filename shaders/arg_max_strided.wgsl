// ArgMax for any view: element by element.

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task);
    let base = kept_offset(chunk.output);
    var best = no_best();
    for (var r = chunk.begin; r < chunk.end;) {
        let run = run_from(r, chunk.end);
        let begin = base + run.offset;
        for (var i = member; i < run.len; i += TEAM) {
            best = merge(best, Best(element_key(begin + i * params.run_stride), r + i));
        }
        r += run.len;
    }
    return best;
}
