// Partial results, one record a task, for the finishing pass.
@group(0) @binding(3) var<storage, read_write> partials: array<u32>;

const STORES_KEYS = true;
const STORE_LANES = 1u;
const STORES_UNITS = false; // but records

fn task_count() -> u32 { return params.outputs * params.chunks; }
fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    let chunk = chunk_of(task, params.outputs);
    let record = chunk.output * params.chunks + chunk.number;
    for (var i = 0u; i < BEST_WORDS; i++) {
        partials[record * BEST_WORDS + i] = best_word(best, i);
    }
    return unit;
}
fn store_unit(index: u32, unit: Unit) {}
