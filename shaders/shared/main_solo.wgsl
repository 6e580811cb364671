// One invocation does a task by itself; several in turn where their results share an output unit. No barrier.
override GROUP: u32 = 64u;
const TEAM = 1u;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = group_number(id, groups) * GROUP + local;
    let first = index * STORE_LANES;
    let tasks = task_count();
    if (first >= tasks) {
        return;
    }
    var unit = empty_unit();
    for (var lane = 0u; lane < STORE_LANES && first + lane < tasks; lane++) {
        unit = store_lane(unit, lane, first + lane, scan(first + lane, 0u));
    }
    store_unit(index, unit);
}
