// ReduceMax for any view: element by element.

fn scan(task: u32, member: u32) -> Best {
    let chunk = chunk_of(task);
    let base = kept_offset(chunk.output);
    var key = LEAST_KEY;
    for (var r = chunk.begin; r < chunk.end;) {
        let run = run_from(r, chunk.end);
        let begin = base + run.offset;
        for (var i = member; i < run.len; i += TEAM) {
            key = key_max(key, element_key(begin + i * params.run_stride));
        }
        r += run.len;
    }
    return Best(key);
}
