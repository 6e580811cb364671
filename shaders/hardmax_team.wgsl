// Hardmax where slices follow one another: teams find the winners of a workgroup's slices, which fill whole output
// units; the whole workgroup writes their rows' zeros, and then some invocations the ones.
@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = group_number(id, groups);
    reduce_in_teams(group, local, params.outputs);
    let teams = GROUP / TEAM;
    let first = group * teams;
    if (first >= params.outputs) {
        return;
    }
    let last = min(first + teams, params.outputs);
    let end = min((last * params.reduce_len + WRITE_LEN - 1u) / WRITE_LEN, FARTHEST);
    for (var i = first * params.reduce_len / WRITE_LEN + local; i < end; i += GROUP) {
        write_zeros(i);
    }
    storageBarrier();
    // Slices that share a unit are one invocation's.
    let own = first + local * STORE_LANES;
    let own_end = min(own + STORE_LANES, last);
    for (var slice = own; slice < own_end; slice++) {
        write_one(slice * params.reduce_len + index_of(bests[(slice - first) * TEAM]));
    }
}
