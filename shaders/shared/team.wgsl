// TEAM invocations (a power of two) do a task together and merge in workgroup memory; GROUP / TEAM tasks a workgroup.
override GROUP: u32 = 256u;
override TEAM: u32 = 256u;

var<workgroup> bests: array<Best, GROUP>;

// Leaves the result of the workgroup's team number t in bests[t * TEAM], for all to read.
fn reduce_in_teams(group: u32, local: u32, tasks: u32) {
    let member = local % TEAM;
    let task = group * (GROUP / TEAM) + local / TEAM;
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
}
