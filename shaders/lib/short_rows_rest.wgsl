// Row by row, those at the end that do not fill a bunch, if it is one of bunches [first, last).
import package::{BUNCH_ROWS, STORE_LANES, make_unit, task_count};

fn reduce_rest(first: u32, last: u32) {
    let tasks = task_count();
    var unit = max(first, tasks / BUNCH_ROWS) * (BUNCH_ROWS / STORE_LANES);
    let end = min(last * (BUNCH_ROWS / STORE_LANES), (tasks + STORE_LANES - 1u) / STORE_LANES);
    loop {
        if (unit >= end) {
            break;
        }
        make_unit(unit, tasks);
        continuing {
            unit += 1u;
            break if unit >= end;
        }
    }
}
