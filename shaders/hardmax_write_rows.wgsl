// Hardmax once the winners are known, where slices follow one another: an invocation writes some packs, zeros first, then the ones
// in them or, where neighbours write side by side, each pack at once.
import package::{
    BoundPack, GROUP, Grid, PACK_ELEMENTS, PACK_PARTS, bound_pack, invocation_number, no_output, pack_with_one, params, winners,
};

override RAGGED: bool = false; // slices share packs
override SPREAD: bool = false; // packs at once, each out of the slices in it

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_output()) {
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let last = min(first + params.share, params.len / PACK_ELEMENTS);
    if (first >= last) {
        return;
    }
    if (SPREAD) {
        for (var i = first; i < last; i++) {
            values[i] = bound_pack(pack_of_slices(i * PACK_ELEMENTS));
        }
        return;
    }
    for (var i = first; i < last; i++) {
        values[i] = BoundPack();
    }
    let begin = first * PACK_ELEMENTS;
    let end = last * PACK_ELEMENTS;
    let slices_end = (end - 1u) / params.slice_len + 1u;
    for (var slice = begin / params.slice_len; slice < slices_end; slice++) {
        let start = slice * params.slice_len;
        let e = start + winners[slice]; // wraps where it lies far behind the end
        if (e >= max(begin, start) && e < end) {
            write_one(e);
        }
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

// Where zeros stand, or ones beside it: then of the pack only what the element lies in.
fn write_one(e: u32) {
    let p = e / PACK_ELEMENTS;
    let one = bound_pack(pack_with_one(e % PACK_ELEMENTS));
    if (RAGGED) {
        let part = e % PACK_ELEMENTS * PACK_PARTS / PACK_ELEMENTS;
        values[p][part] = values[p][part] | one[part];
        if (PACK_PARTS > PACK_ELEMENTS) {
            values[p][part + 1u] = values[p][part + 1u] | one[part + 1u];
        }
    } else {
        values[p] = one;
    }
}
