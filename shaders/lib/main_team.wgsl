// Teams do a task each, and one invocation gathers the results that share an output unit.
import package::{
    GROUP, Grid, STORE_LANES, TEAM, bests, empty_unit, group_number, placed, reduce_in_team, store_lane, store_unit, task_count,
};

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let tasks = task_count();
    let teams = GROUP / TEAM;
    let first_task = group_number(grid.id, grid.groups) * teams;
    let task = first_task + grid.local / TEAM;
    reduce_in_team(task, task < tasks, grid.local);
    let first = first_task + grid.local * STORE_LANES;
    if (grid.local >= teams / STORE_LANES || first >= tasks) {
        return;
    }
    if (STORE_LANES == 1u) {
        store_unit(first, store_lane(empty_unit(), 0u, first, placed(bests[grid.local * TEAM], first)));
        return;
    }
    var unit = empty_unit();
    for (var lane = 0u; (lane < STORE_LANES) & (first + lane < tasks); lane++) {
        let best = bests[(grid.local * STORE_LANES + lane) * TEAM];
        unit = store_lane(unit, lane, first + lane, placed(best, first + lane));
    }
    store_unit(first / STORE_LANES, unit);
}
