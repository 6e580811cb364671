// Writes one element everywhere: the maximum of nothing, or zeros for others to write over.
import package::{GROUP, Grid, fill, invocation_number, values};

struct Params {
    first: u32, // the first pack or word to write
    len: u32, // how many there are with those before it
    share: u32, // those that an invocation writes, one after another
    low: u32, // the element, repeated to fill a word; its two words where it has 64 bits
    high: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (arrayLength(&values) == 0u) { // see grid.wgsl, Lengths
        return;
    }
    let first = params.first + invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let end = min(first + params.share, params.len);
    for (var i = first; i < end; i++) {
        fill(i);
    }
}
