// Values alone. STORE_LANES results make one output unit, written once by one invocation.
import package::{Best, LANES, Unit, params, with_element};

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

const STORE_LANES = LANES;
const STORES_UNITS = true;

fn task_count() -> u32 { return params.outputs; }
fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit { return with_element(unit, lane, best.key); }
fn store_unit(index: u32, unit: Unit) { values[index] = unit; }
