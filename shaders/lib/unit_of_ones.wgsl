// An output unit of a Hardmax, by one who finds the winner of each element's slice: of the few slices that are left at an end.
import package::{LANES, Unit, empty_unit, index_word, params, reduce_chunk, with_one};

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

const STORE_LANES = LANES;

fn task_count() -> u32 { return params.outputs * params.reduce_len; }
fn make_unit(index: u32, tasks: u32) {
    if (LANES == 1u) { // SwiftShader pays for loops of one turn
        values[index] = with_winner(empty_unit(), 0u, index);
        return;
    }
    let first = index * LANES;
    var unit = empty_unit();
    var lane = 0u;
    loop {
        if (lane >= LANES) {
            break;
        }
        unit = with_winner(unit, lane, first + lane);
        continuing {
            lane += 1u;
            break if (lane >= LANES) | (first + lane >= tasks);
        }
    }
    values[index] = unit;
}

// With a one where element e is its slice's winner: slices are columns of blocks.
fn with_winner(unit: Unit, lane: u32, e: u32) -> Unit {
    let row = e / params.columns;
    let block = row / params.reduce_len;
    let best = reduce_chunk(block * params.columns + e - row * params.columns, 0u);
    return select(unit, with_one(unit, lane), index_word(best, 0u) == row - block * params.reduce_len);
}
