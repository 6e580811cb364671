// Hardmax where slices follow one another: an invocation finds the winners of as many as fill whole output units, and
// writes their rows. No barrier.
override GROUP: u32 = 64u;
const TEAM = 1u;

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let first = (group_number(id, groups) * GROUP + local) * LANES;
    if (arrayLength(&values) == 0u || first >= params.outputs) { // see grid.wgsl
        return;
    }
    let count = min(LANES, params.outputs - first);
    var winners: array<u32, LANES>;
    var slice = 0u;
    loop {
        winners[slice] = index_of(scan(first + slice, 0u));
        continuing {
            slice += 1u;
            break if slice >= count;
        }
    }
    let begin = first * params.reduce_len / LANES; // whole: first is a multiple of LANES
    let units = (count * params.reduce_len + LANES - 1u) / LANES;
    slice = 0u;
    var position = 0u;
    for (var i = 0u; i < units; i++) {
        var unit = empty_unit();
        var lane = 0u;
        loop {
            if (position == winners[slice]) {
                unit = with_one(unit, lane);
            }
            position += 1u;
            if (position == params.reduce_len) {
                position = 0u;
                slice += 1u;
            }
            continuing {
                lane += 1u;
                break if lane >= LANES || slice >= count;
            }
        }
        values[begin + i] = unit;
    }
}
