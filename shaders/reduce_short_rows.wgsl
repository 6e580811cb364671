// Reduces rows so short that many of them share packs: an invocation takes a bunch of rows, as many as a pack has elements,
// which fill as many packs as a row has elements. They are taken apart in registers, and give a pack of results. The planner
// sees to it that bunches begin with a pack and lie in one piece.
import package::{
    PACK_ELEMENTS, ROW_LEN, STORE_LANES, group_number, kept_offset, make_unit, no_input, params, store_bunch, task_count,
};

override GROUP: u32 = 64u;
const TEAM = 1u;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (no_input()) { // see grid.wgsl
        return;
    }
    let tasks = task_count();
    let first = (group_number(id, groups) * GROUP + local) * params.share;
    let end = min(first + params.share, (tasks + PACK_ELEMENTS - 1u) / PACK_ELEMENTS);
    let whole = min(end, tasks / PACK_ELEMENTS);
    // Rows that follow one another make a stretch: where one begins is asked once.
    let stretch_len = max(params.kept[0].x / PACK_ELEMENTS, 1u);
    let stretches_end = (whole + stretch_len - 1u) / stretch_len;
    var stretch = first / stretch_len;
    loop {
        if (stretch >= stretches_end) {
            break;
        }
        let begin = max(first, stretch * stretch_len);
        store_bunches(begin, min(whole, (stretch + 1u) * stretch_len));
        continuing {
            stretch += 1u;
            break if stretch >= stretches_end;
        }
    }
    // Row by row, those at the end that do not fill packs.
    var unit = max(first, whole) * (PACK_ELEMENTS / STORE_LANES);
    let units_end = min(end * (PACK_ELEMENTS / STORE_LANES), (tasks + STORE_LANES - 1u) / STORE_LANES);
    loop {
        if (unit >= units_end) {
            break;
        }
        make_unit(unit, tasks);
        continuing {
            unit += 1u;
            break if unit >= units_end;
        }
    }
}

fn store_bunches(begin: u32, end: u32) {
    var p = kept_offset(begin * PACK_ELEMENTS) / PACK_ELEMENTS;
    var bunch = begin;
    loop {
        if (bunch >= end) {
            break;
        }
        store_bunch(bunch * PACK_ELEMENTS, p);
        p += ROW_LEN;
        continuing {
            bunch += 1u;
            break if bunch >= end;
        }
    }
}
