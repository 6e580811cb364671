// TEAM invocations (a power of two) do a task together and merge in workgroup memory; GROUP / TEAM tasks a workgroup. One
// invocation gathers the results that share an output unit.
import package::{
    Best, STORE_LANES, empty_unit, group_number, merge, no_best, reduce_chunk, store_lane, store_unit, task_count,
};

override GROUP: u32 = 256u;
override TEAM: u32 = 256u;

var<workgroup> bests: array<Best, GROUP>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tasks = task_count();
    let teams = GROUP / TEAM;
    let first_task = group_number(id, groups) * teams;
    reduce_in_teams(first_task, local, tasks);
    let first = first_task + local * STORE_LANES;
    if (local >= teams / STORE_LANES || first >= tasks) {
        return;
    }
    var unit = empty_unit();
    for (var lane = 0u; (lane < STORE_LANES) & (first + lane < tasks); lane++) {
        unit = store_lane(unit, lane, first + lane, bests[(local * STORE_LANES + lane) * TEAM]);
    }
    store_unit(first / STORE_LANES, unit);
}

// Leaves the result of the workgroup's team number t in bests[t * TEAM], for all to read.
fn reduce_in_teams(first_task: u32, local: u32, tasks: u32) {
    let member = local % TEAM;
    let task = first_task + local / TEAM;
    var best = no_best();
    if (task < tasks) {
        best = reduce_chunk(task, member);
    }
    bests[local] = best;
    for (var half = TEAM / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (member < half) {
            best = merge(best, bests[local + half]);
            bests[local] = best;
        }
    }
    workgroupBarrier();
}
