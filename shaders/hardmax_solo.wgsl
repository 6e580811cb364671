// Hardmax where slices follow one another: an invocation writes its slices' rows, zeros first, then the winners it finds;
// of as many slices as fill whole units, and of several such groups in turn. No barrier.

fn task_count() -> u32 { return params.outputs; }

fn make_unit(index: u32, tasks: u32) {
    if (arrayLength(&values) == 0u) { // see grid.wgsl
        return;
    }
    let first = index * STORE_LANES;
    let count = min(STORE_LANES, tasks - first);
    let end = ((first + count) * params.reduce_len + WRITE_LEN - 1u) / WRITE_LEN;
    for (var i = first * params.reduce_len / WRITE_LEN; i < end; i++) {
        write_zeros(i);
    }
    var n = 0u;
    loop {
        if (n >= count) {
            break;
        }
        let slice = first + n;
        write_one(slice * params.reduce_len + index_of(scan(slice, 0u)));
        continuing {
            n += 1u;
            break if n >= count;
        }
    }
}
