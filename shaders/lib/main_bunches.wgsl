// An invocation takes a share of the bunches of short rows, and stores whole packs. Rows that do not fill a bunch are another
// dispatch's.
import package::{GROUP, invocation_number, no_input, params, reduce_bunches, values};

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (no_input() | (arrayLength(&values) == 0u)) { // see grid.wgsl, Lengths
        return;
    }
    let first = invocation_number(id, groups, local) * params.share;
    reduce_bunches(first, first + params.share);
}
