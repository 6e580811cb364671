// Operands that are broadcast together: where each one's elements are for a row of the output, the innermost dimension
// that all of them share, or a single element. OPERANDS, the number of operands that this dispatch reads, and their bindings
// come with the kernel.
import package::{OPERANDS, first_addresses, first_steps, moved, moved_along};

struct Params {
    len: u32,          // output elements
    share: u32,        // packs, or output units, that an invocation writes. In kernels of packs: those of several rows, or of a
                       // part of one row. In those of columns: rows
    row_len: u32,
    rank: u32,         // dimensions around the row
    first: u32,        // the first unit to write: those before it are another dispatch's
    begin: u32,        // the first element to write, in the output's binding
    end: u32,          // the first one after them that is to be kept, where some are
    sizes: array<vec4<u32>, 8>, // innermost first; three at least, of 1 where there are none
    operands: array<Operand, max(OPERANDS, 1u)>,
}

// In elements, two's complement.
struct Operand {
    steps: vec3<u32>,  // from one row to the next: along the innermost dimension, from its end, and from the next one's end
    start: u32,
    strides: array<vec4<u32>, 8>,
}

@group(0) @binding(0) var<uniform> params: Params;

// Whether the output holds a maximum already: of the inputs of earlier dispatches, or of the input written in place.
override ACCUMULATE: bool = false;

alias Addresses = array<u32, max(OPERANDS, 1u)>;

// Each operand's first element of a row.
fn row_addresses(row: u32) -> Addresses {
    var addresses = first_addresses();
    var rest = row;
    for (var d = 0u; (d < params.rank) & (rest != 0u); d++) { // see grid.wgsl, Parameters
        let size = params.sizes[d / 4u][d % 4u];
        let next = rest / size;
        addresses = moved_along(addresses, d, rest - next * size);
        rest = next;
    }
    return addresses;
}

// A walk from row to row along the three innermost dimensions: it divides once, where it begins. Its place is counted in two of
// them: it does not go on from the end of the third. What it needs of the parameters it has itself: lavapipe reads them anew in
// every row.
struct Walk { addresses: Addresses, x: u32, y: u32, sizes: vec2<u32>, steps: Steps }

alias Steps = array<vec3<u32>, max(OPERANDS, 1u)>;

// The rows of a walk from end to end.
fn walk_rows() -> u32 { return params.sizes[0].x * params.sizes[0].y * params.sizes[0].z; }

fn walk_from(row: u32) -> Walk {
    let sizes = params.sizes[0].xy;
    let y = row / sizes.x;
    return Walk(row_addresses(row), row - y * sizes.x, y % sizes.y, sizes, first_steps());
}

fn next_row(walk: Walk) -> Walk {
    let x = walk.x + 1u;
    let ends_x = x == walk.sizes.x;
    let y = walk.y + u32(ends_x);
    let ends_y = y == walk.sizes.y;
    let addresses = moved(walk.addresses, walk.steps, ends_x, ends_y);
    return Walk(addresses, select(x, 0u, ends_x), select(y, 0u, ends_y), walk.sizes, walk.steps);
}

fn step_of(steps: vec3<u32>, ends_x: bool, ends_y: bool) -> u32 {
    return select(select(steps.x, steps.y, ends_x), steps.z, ends_y);
}
