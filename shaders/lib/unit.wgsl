// What an invocation by itself makes of an output unit: one result after another, since they share it.
import package::{STORE_LANES, empty_unit, reduce_chunk, store_lane, store_unit};

fn make_unit(index: u32, tasks: u32) {
    if (STORE_LANES == 1u) { // SwiftShader pays for loops of one turn
        store_unit(index, store_lane(empty_unit(), 0u, index, reduce_chunk(index, 0u)));
        return;
    }
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
