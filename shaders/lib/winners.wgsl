// A Hardmax once the winners are known: which elements are this dispatch's, and which winners. Slices are columns of
// blocks; those that follow one another are blocks of one column.
import package::{values};

override BOUNDS_CHECKED: bool = false;   // winners come in several windows: a one of another's is another dispatch's to write
override ACCUMULATE: bool = false; // what other dispatches have written stays

struct Params {
    len: u32,     // output elements
    columns: u32,
    slice_len: u32,
    share: u32,   // packs, or units, that an invocation writes
    line: u32,    // elements of a line: some rows, or packs side by side
    column: u32,  // of the first element
    position: u32,
    first_winner: u32, // the window's, counted from the first element's block on
    winners: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

// Always false: asks for both lengths (see grid.wgsl, Lengths).
fn no_output() -> bool { return max(arrayLength(&values), arrayLength(&winners)) == 0u; }

// What a pack has of a row and, behind its first `count` elements, of the next one: of element i the winner is number own + i or
// next + i.
struct Pieces { count: u32, own: u32, next: u32, position: u32, next_position: u32 }
