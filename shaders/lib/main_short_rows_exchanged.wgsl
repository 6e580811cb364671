// An invocation takes a bunch of short rows. The positions of a workgroup's rows meet in workgroup memory, so that neighbours store
// what lies side by side.
import package::{
    BUNCH_ROWS, Best, GROUP, Grid, Unit, found_position, index_word, invocation_number, leave_position, no_input, params,
    reduce_bunches, reduce_rest,
};

@group(0) @binding(3) var<storage, read_write> indices: array<u32>;

override INDEX_WORDS: u32 = 2u; // i64 has two, the low one first
const TEAM = 1u;

const STORES_KEYS = false;
const STORE_LANES = 1u;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let first = invocation_number(grid.id, grid.groups, grid.local);
    let last = select(first + 1u, first, no_input());
    reduce_bunches(first, last);
    reduce_rest(first, last);
    workgroupBarrier();
    let group_first = (first - grid.local) * BUNCH_ROWS;
    let count = (params.outputs - min(params.outputs, group_first)) * INDEX_WORDS;
    for (var n = 0u; n < BUNCH_ROWS * INDEX_WORDS; n++) {
        let i = n * GROUP + grid.local;
        if (i < count) {
            let row = i / INDEX_WORDS;
            let position = found_position(row / BUNCH_ROWS, row % BUNCH_ROWS);
            indices[group_first * INDEX_WORDS + i] = select(position, 0u, i % INDEX_WORDS == 1u);
        }
    }
}

fn task_count() -> u32 { return params.outputs; }
fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    leave_position(task / BUNCH_ROWS % GROUP, task % BUNCH_ROWS, index_word(best, 0u));
    return unit;
}
fn store_unit(index: u32, unit: Unit) {}
