// Tasks done by teams; one invocation gathers the results that share an output unit.
@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = group_number(id, groups);
    let tasks = task_count();
    reduce_in_teams(group, local, tasks);
    let teams = GROUP / TEAM;
    let first = group * teams + local * STORE_LANES;
    if (local >= teams / STORE_LANES || first >= tasks) {
        return;
    }
    var unit = empty_unit();
    for (var lane = 0u; (lane < STORE_LANES) & (first + lane < tasks); lane++) {
        unit = store_lane(unit, lane, first + lane, bests[(local * STORE_LANES + lane) * TEAM]);
    }
    store_unit(first / STORE_LANES, unit);
}
