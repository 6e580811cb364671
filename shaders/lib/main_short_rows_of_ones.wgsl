// An invocation takes a share of the bunches of short slices, and writes ones and zeros. Slices that do not fill a bunch are another
// dispatch's.
import package::{BoundPack, bound_pack, group_number, no_input, params, reduce_bunches};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

override GROUP: u32 = 64u;
const TEAM = 1u;

const STORES_KEYS = false;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (no_input() | (arrayLength(&values) == 0u)) { // see grid.wgsl
        return;
    }
    let first = (group_number(id, groups) * GROUP + local) * params.share;
    reduce_bunches(first, first + params.share);
}

fn store_ones(i: u32, pack: vec4<u32>) { values[i] = bound_pack(pack); }
