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
    // (size, stride), innermost first.
    kept: array<vec4<u32>, 32>,  // column kernels: without the columns themselves
    outer: array<vec4<u32>, 32>, // reduced dimensions around the run
}

@group(0) @binding(0) var<uniform> params: Params;

fn kept_offset(index: u32) -> u32 {
    var rest = index;
    var offset = params.start;
    for (var d = 0u; d < params.kept_rank; d++) {
        let dim = params.kept[d];
        let next = rest / dim.x;
        offset += (rest - next * dim.x) * dim.y;
        rest = next;
    }
    return offset;
}

fn outer_offset(run: u32) -> u32 {
    var rest = run;
    var offset = 0u;
    for (var d = 0u; d < params.outer_rank; d++) {
        let dim = params.outer[d];
        let next = rest / dim.x;
        offset += (rest - next * dim.x) * dim.y;
        rest = next;
    }
    return offset;
}

// The number of a chunk of an output, which is also that of its partial result.
fn task_of(output: u32, chunk: u32) -> u32 { return output * params.chunks + chunk; }

// Folded grids: the number of this workgroup. The last row may hold surplus groups: every kernel guards its bounds.
fn group_number(id: vec3<u32>, groups: vec3<u32>) -> u32 { return id.y * groups.x + id.x; }
