// A Hardmax once the winners are known, written in packs. Slices are columns of blocks; those that follow one another are blocks of one
// column.
import package::{values, winners};

struct Params {
    len: u32, // output elements
    columns: u32,
    slice_len: u32,
    share: u32,     // what an invocation writes: packs or, of short rows, bunches; of columns the rows of packs side by side
    write_len: u32, // the elements that are written at once
}

@group(0) @binding(0) var<uniform> params: Params;

// Always false: asks for both lengths (see grid.wgsl, Lengths).
fn no_output() -> bool { return max(arrayLength(&values), arrayLength(&winners)) == 0u; }

// What a pack has of a row and, behind its first `count` elements, of the next one: of element i the winner is number own + i or
// next + i.
struct Pieces { count: u32, own: u32, next: u32, position: u32, next_position: u32 }
