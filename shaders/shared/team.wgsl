// TEAM invocations (a power of two) do a task together and merge in workgroup memory; GROUP / TEAM tasks a workgroup.
override GROUP: u32 = 256u;
override TEAM: u32 = 256u;

var<workgroup> bests: array<Best, GROUP>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let teams = GROUP / TEAM;
    let group = group_number(id, groups);
    let tasks = task_count();
    let member = local % TEAM;
    let task = group * teams + local / TEAM;
    var best = no_best();
    if (task < tasks) {
        best = scan(task, member);
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
    let first = group * teams + local * STORE_LANES;
    if (local >= teams / STORE_LANES || first >= tasks) {
        return;
    }
    var unit = empty_unit();
    for (var lane = 0u; lane < STORE_LANES && first + lane < tasks; lane++) {
        unit = store_lane(unit, lane, first + lane, bests[(local * STORE_LANES + lane) * TEAM]);
    }
    store_unit(first / STORE_LANES, unit);
}
