// One invocation does tasks by itself: a share of output units, one after another. No barrier.
import package::{STORE_LANES, empty_unit, group_number, params, reduce_chunk, store_lane, store_unit, task_count};

override GROUP: u32 = 64u;
const TEAM = 1u;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tasks = task_count();
    var index = (group_number(id, groups) * GROUP + local) * params.share;
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

// An output unit: one result after another, since they share it.
fn make_unit(index: u32, tasks: u32) {
    let first = index * STORE_LANES;
    var unit = empty_unit();
    var lane = 0u;
    loop {
        if (lane >= STORE_LANES) {
            break;
        }
        unit = store_lane(unit, lane, first + lane, reduce_chunk(first + lane, 0u));
        continuing {
            lane += 1u;
            break if (lane >= STORE_LANES) | (first + lane >= tasks);
        }
    }
    store_unit(index, unit);
}
