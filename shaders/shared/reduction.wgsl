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
    // Of a piece of a larger reduction (place.wgsl): where its results belong.
    records: u32,        // records of one output, of all pieces together
    first_record: u32,   // the piece's first record
    first_position: vec2<u32>, // the position of its first element
    run_place: vec2<u32>, // positions from one element of a run to the next
    column_place: u32,    // outputs from one column to the next
    // (size, stride, place), innermost first. Places have two words: they say how many outputs, or positions, lie from
    // one to the next among those of all pieces.
    kept: array<vec4<u32>, 32>,  // column kernels: without the columns themselves
    outer: array<vec4<u32>, 32>, // reduced dimensions around the run
}

@group(0) @binding(0) var<uniform> params: Params;

override SPLIT: bool = false; // an output has more than one chunk
override RUNS: bool = false;  // an output has more than one run

fn kept_offset(index: u32) -> u32 {
    var rest = index;
    var offset = params.start;
    for (var d = 0u; d + 1u < params.kept_rank; d++) {
        let dim = params.kept[d];
        let next = rest / dim.x;
        offset += (rest - next * dim.x) * dim.y;
        rest = next;
    }
    return offset + rest * params.kept[max(params.kept_rank, 1u) - 1u].y; // the last needs no division
}

fn outer_offset(run: u32) -> u32 {
    var rest = run;
    var offset = 0u;
    for (var d = 0u; d + 1u < params.outer_rank; d++) {
        let dim = params.outer[d];
        let next = rest / dim.x;
        offset += (rest - next * dim.x) * dim.y;
        rest = next;
    }
    return offset + rest * params.outer[max(params.outer_rank, 1u) - 1u].y;
}

// Elements [begin, end) of those that are reduced to an output.
struct Chunk { output: u32, begin: u32, end: u32 }

fn chunk_of(task: u32) -> Chunk {
    if (!SPLIT) {
        return Chunk(task, 0u, params.reduce_len);
    }
    let output = task / params.chunks;
    let begin = (task - output * params.chunks) * params.chunk_len;
    return Chunk(output, begin, min(begin + params.chunk_len, params.reduce_len));
}

// The number of a chunk of an output, which is also that of its partial result.
fn task_of(output: u32, chunk: u32) -> u32 { return output * params.chunks + chunk; }

// What is left of a run from reduced element r on: that element's offset from the output's first, and how many there
// are before `end`.
struct Run { offset: u32, len: u32 }

fn run_from(r: u32, end: u32) -> Run {
    if (!RUNS) {
        return Run(r * params.run_stride, end - r);
    }
    let run = r / params.run_len;
    let within = r - run * params.run_len;
    return Run(outer_offset(run) + within * params.run_stride, min(params.run_len - within, end - r));
}
