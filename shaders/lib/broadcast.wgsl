// Operands that are broadcast together: where each one's elements are for a row of the output, the innermost dimension
// that all of them share. OPERANDS, the number of operands that this dispatch reads, and their bindings come with the
// kernel.
import package::{OPERANDS};

struct Params {
    len: u32,          // output elements
    share: u32,        // packs, or output units, that an invocation writes
    row_len: u32,
    rank: u32,         // dimensions around the row
    first: u32,        // the first unit to write: those before it are another dispatch's
    begin: u32,        // the first element to write, in the output's binding
    end: u32,          // the first one after them that is to be kept, where some are
    sizes: array<vec4<u32>, 8>, // innermost first
    operands: array<Operand, max(OPERANDS, 1u)>,
}

// In elements, two's complement.
struct Operand {
    start: u32,
    row_stride: u32,   // from one element of a row to the next
    strides: array<vec4<u32>, 8>,
}

@group(0) @binding(0) var<uniform> params: Params;

// Whether the output holds a maximum already: of the inputs of earlier dispatches, or of the input written in place.
override ACCUMULATE: bool = false;

alias Addresses = array<u32, max(OPERANDS, 1u)>;

// Each operand's first element.
fn first_addresses() -> Addresses {
    var addresses: Addresses;
    for (var n = 0u; n < OPERANDS; n++) {
        addresses[n] = params.operands[n].start;
    }
    return addresses;
}

// Each operand's first element of a row.
fn row_addresses(row: u32) -> Addresses {
    var addresses = first_addresses();
    var rest = row;
    for (var d = 0u; (d < params.rank) & (rest != 0u); d++) { // see grid.wgsl
        let size = params.sizes[d / 4u][d % 4u];
        let next = rest / size;
        for (var n = 0u; n < OPERANDS; n++) {
            addresses[n] += (rest - next * size) * params.operands[n].strides[d / 4u][d % 4u];
        }
        rest = next;
    }
    return addresses;
}
