// Values, or winners as wide. STORE_LANES results make one output unit, written once by one invocation.
import package::{LANES, PACK_UNITS, Unit, pack_unit, params};

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

const STORE_LANES = LANES;
const STORES_KEYS = false;

fn task_count() -> u32 { return params.outputs; }
fn store_unit(index: u32, unit: Unit) { values[index] = unit; }

// Those of a whole pack.
fn store_values(first: u32, pack: vec4<u32>) {
    let unit = first / LANES;
    values[unit] = pack_unit(pack, 0u);
    values[unit + 1u] = pack_unit(pack, 1u);
    if (PACK_UNITS == 4u) {
        values[unit + 2u] = pack_unit(pack, 2u);
        values[unit + 3u] = pack_unit(pack, 3u);
    }
}
