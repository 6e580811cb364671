// TEAM invocations (a power of two) do a task together and merge in workgroup memory; GROUP / TEAM tasks a workgroup.
import package::{Best, GROUP, merge, no_best, reduce_chunk};

override TEAM: u32 = 256u;

var<workgroup> bests: array<Best, GROUP>;

// Leaves the result of the workgroup's team number t, if it has a task, in bests[t * TEAM], for all to read.
fn reduce_in_team(task: u32, has_task: bool, local: u32) {
    let member = local % TEAM;
    var best = no_best();
    if (has_task) {
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
