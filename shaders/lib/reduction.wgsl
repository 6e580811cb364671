// One reduction: which elements belong to which output.
//
// The reduced elements of an output are numbered row-major over the reduced dimensions. They come as runs of run_len
// elements, run_stride apart; a task reduces one chunk of chunk_len of them.

struct Params {
    outputs: u32,      // output elements
    reduce_len: u32,   // elements reduced to one output
    chunk_len: u32,
    chunks: u32,       // chunks an output
    run_len: u32,
    run_stride: u32,   // elements, two's complement like every stride
    start: u32,        // the view's first element
    columns: u32,      // column kernels: outputs side by side in memory
    kept_rank: u32,
    outer_rank: u32,
    share: u32,        // output units, or panels of columns, that an invocation without a team makes in turn
    // Of a window of a larger tensor (store_record.wgsl): where its records belong.
    records: u32,        // records of one output, of all windows together
    first_record: u32,   // the window's first record
    column_logical_stride: u32,   // outputs from one column to the next
    first_position: vec2<u32>, // the position of its first element
    run_logical_stride: vec2<u32>, // positions from one element of a run to the next
    rest_len: u32, // elements of a block that are more than whole rows of columns (column_records.wgsl)
    // (size, stride, logical stride). The last has two words: how many outputs, or positions, lie from one to the next in the whole
    // tensor. First the kept dimensions, innermost first, in column kernels without the columns themselves. Then, from number OUTER
    // on, the reduced ones around the run.
    dims: array<vec4<u32>, 64>,
}

const OUTER = 32u;

@group(0) @binding(0) var<uniform> params: Params;

override SPLIT: bool = false; // an output has more than one chunk
override RUNS: bool = false;  // an output has more than one run

fn kept_offset(index: u32) -> u32 { return kept_offset_around(index, 0u); }

// The same without the innermost dimensions: `index` counts what is around them.
fn kept_offset_around(index: u32, inner: u32) -> u32 { return params.start + offset_along(index, inner, params.kept_rank); }
fn outer_offset(run: u32) -> u32 { return offset_along(run, OUTER, OUTER + params.outer_rank); }

// How far it is to number `index` along dimensions [first, end), of which there may be none.
fn offset_along(index: u32, first: u32, end: u32) -> u32 {
    var rest = index;
    var offset = 0u;
    var d = first;
    loop {
        if ((d + 1u >= end) | (rest == 0u)) { // see grid.wgsl, Parameters
            break;
        }
        let dim = params.dims[d];
        let next = rest / dim.x;
        offset += (rest - next * dim.x) * dim.y;
        rest = next;
        continuing {
            d += 1u;
            break if (d + 1u >= end) | (rest == 0u);
        }
    }
    return offset + rest * params.dims[max(end, 1u) - 1u].y; // the last needs no division
}

// Elements [begin, end) of those that are reduced to an output: chunk `number` of them.
struct Chunk { output: u32, number: u32, begin: u32, end: u32 }

// Tasks are numbered through all outputs' first chunks, then their second ones, and so on: where outputs are neighbours
// and chunks lie far apart, neighbouring tasks read on.
fn chunk_of(task: u32, outputs: u32) -> Chunk {
    if (!SPLIT) {
        return Chunk(task, 0u, 0u, params.reduce_len);
    }
    let number = task / outputs;
    let begin = number * params.chunk_len;
    return Chunk(task - number * outputs, number, begin, min(begin + params.chunk_len, params.reduce_len));
}

fn task_of(output: u32, number: u32) -> u32 { return number * params.outputs + output; }

// What of a run is among elements [begin, end): the first element's number, its offset from the output's first, and how
// many there are.
struct Run { r: u32, offset: u32, len: u32 }

fn run_within(run: u32, begin: u32, end: u32) -> Run {
    if (!RUNS) {
        return Run(begin, begin * params.run_stride, end - begin);
    }
    let first = run * params.run_len;
    let r = max(first, begin);
    return Run(r, outer_offset(run) + (r - first) * params.run_stride, min(first + params.run_len, end) - r);
}

// The number of the run that element r belongs to.
fn run_of(r: u32) -> u32 {
    if (!RUNS) {
        return 0u;
    }
    return r / params.run_len;
}
