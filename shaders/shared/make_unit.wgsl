// An output unit of a reduction: one result after another, since they share it.

fn make_unit(index: u32, tasks: u32) {
    let first = index * STORE_LANES;
    var unit = empty_unit();
    var lane = 0u;
    loop {
        if (lane >= STORE_LANES) {
            break;
        }
        unit = store_lane(unit, lane, first + lane, scan(first + lane, 0u));
        continuing {
            lane += 1u;
            break if (lane >= STORE_LANES) | (first + lane >= tasks);
        }
    }
    store_unit(index, unit);
}
