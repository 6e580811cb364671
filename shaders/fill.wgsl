// Writes one element everywhere: the maximum of nothing, or zeros for others to write over.
import package::{FARTHEST, GROUP, Grid, fill, invocation_number, values};

struct Params {
    first: u32, // the first pack or word to write
    len: u32, // how many there are with those before it
    share: u32, // those that an invocation writes, one after another
    low: u32, // the element, repeated to fill a word; its two words where it has 64 bits
    high: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

override NEIGHBOURS: u32 = 1u; // neighbours that take turns, one pack or word each

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (arrayLength(&values) == 0u) { // see grid.wgsl, Lengths
        return;
    }
    let index = invocation_number(grid.id, grid.groups, grid.local);
    let first = params.first + index / NEIGHBOURS * (NEIGHBOURS * params.share);
    let end = min(min(first + NEIGHBOURS * params.share, params.len), FARTHEST);
    for (var i = first + index % NEIGHBOURS; i < end; i += NEIGHBOURS) {
        fill(i);
    }
}
