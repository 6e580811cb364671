// ReduceMax for any view: element by element.

fn scan(task: u32, member: u32) -> Best {
    let output = task / params.chunks;
    let base = kept_offset(output);
    var r = (task - output * params.chunks) * params.chunk_len;
    let stop = min(r + params.chunk_len, params.reduce_len);
    var key = LEAST_KEY;
    while (r < stop) {
        let run = r / params.run_len;
        let within = r - run * params.run_len;
        let len = min(params.run_len - within, stop - r);
        let begin = base + outer_offset(run) + within * params.run_stride;
        for (var i = member; i < len; i += TEAM) {
            key = key_max(key, element_key(begin + i * params.run_stride));
        }
        r += len;
    }
    return Best(key);
}
