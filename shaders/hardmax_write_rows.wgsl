// Hardmax once the winners are known, where slices follow one another, on devices whose neighbours are to write side by side: each pack at
// once, out of the slices in it.
import package::{BoundPack, GROUP, Grid, PACK_ELEMENTS, bound_pack, invocation_number, no_output, pack_with_one, params, winners};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_output()) {
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let last = min(first + params.share, params.len / PACK_ELEMENTS);
    for (var i = first; i < last; i++) {
        values[i] = bound_pack(pack_of_slices(i * PACK_ELEMENTS));
    }
}

// The pack that begins with an element.
fn pack_of_slices(begin: u32) -> vec4<u32> {
    var pack = vec4<u32>();
    let slices_end = (begin + PACK_ELEMENTS - 1u) / params.slice_len + 1u;
    for (var slice = begin / params.slice_len; slice < slices_end; slice++) {
        let e = slice * params.slice_len + winners[slice] - begin; // wraps where it lies before the pack
        if (e < PACK_ELEMENTS) {
            pack |= pack_with_one(e);
        }
    }
    return pack;
}
