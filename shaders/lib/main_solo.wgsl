// One invocation does tasks by itself: a share of output units, one after another. No barrier.
import package::{GROUP, Grid, STORE_LANES, invocation_number, make_unit, params, task_count};

const TEAM = 1u;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let tasks = task_count();
    var index = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let end = min(index + params.share, (tasks + STORE_LANES - 1u) / STORE_LANES);
    loop {
        if (index >= end) {
            break;
        }
        make_unit(index, tasks);
        continuing {
            index += 1u;
            break if index >= end;
        }
    }
}
