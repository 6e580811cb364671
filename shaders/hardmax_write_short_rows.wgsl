// The same as hardmax_write_rows.wgsl where slices are so short that many of them share packs: an invocation writes bunches
// of them, as many as a pack has elements, which fill as many packs as a slice has elements.
import package::{BoundPack, GROUP, Grid, PACK_ELEMENTS, ROW_LEN, bound_pack, invocation_number, no_output, params, write_bunch};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_output()) {
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let last = min(first + params.share, params.len / (ROW_LEN * PACK_ELEMENTS));
    for (var bunch = first; bunch < last; bunch++) {
        write_bunch(bunch * ROW_LEN, bunch * PACK_ELEMENTS);
    }
}

fn store(i: u32, pack: vec4<u32>) { values[i] = bound_pack(pack); }
