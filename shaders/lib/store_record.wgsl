// Records, what is known of a part of an output's elements: where those of this dispatch belong among all of the output's.
import package::{Unit, chunk_of, params};

@group(0) @binding(3) var<storage, read_write> records: array<u32>;

// Windows of a larger tensor join what they find to what others have found.
override ACCUMULATE: bool = false;

const STORE_LANES = 1u;
const STORES_KEYS = true;

fn task_count() -> u32 { return params.outputs * params.chunks; }
fn store_unit(index: u32, unit: Unit) {}
fn store_values(first: u32, pack: vec4<u32>) {}

// The record of a task, among those of all outputs.
fn record_of(task: u32) -> u32 {
    let chunk = chunk_of(task, params.outputs);
    if (!ACCUMULATE) {
        return chunk.output * params.chunks + chunk.number;
    }
    var rest = chunk.output / params.columns;
    var place = (chunk.output - rest * params.columns) * params.column_logical_stride;
    for (var d = 0u; (d + 1u < params.kept_rank) & (rest != 0u); d++) { // see grid.wgsl, Parameters
        let dim = params.dims[d];
        let next = rest / dim.x;
        place += (rest - next * dim.x) * dim.z;
        rest = next;
    }
    place += rest * params.dims[max(params.kept_rank, 1u) - 1u].z;
    return place * params.records + params.first_record + chunk.number;
}
