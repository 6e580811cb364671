// Max for any views: element by element, output units written whole.
import package::{
    ACCUMULATE, LANES, Unit, empty_unit, fold_elements, group_number, kept_lanes, key_max, longest_operand, params,
    row_addresses, unit_key, with_element,
};

override GROUP: u32 = 64u;
override PRESERVE_EDGES: bool = false;   // elements before params.begin, and from params.end on, stay as they are
override BOUNDS_CHECKED: bool = false; // operands have elements in no binding of this dispatch: those are another's to take

@group(0) @binding(1) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (max(arrayLength(&values), longest_operand()) == 0u) { // see grid.wgsl
        return;
    }
    let first = params.first + (group_number(id, groups) * GROUP + local) * params.share;
    let stop = params.begin + params.len;
    let last = min(first + params.share, (stop + LANES - 1u) / LANES);
    let before = max(first * LANES, params.begin) - params.begin; // elements that come before this invocation's
    var row = before / params.row_len;
    var column = before - row * params.row_len;
    var addresses = row_addresses(row);
    for (var i = first; i < last; i++) {
        var unit = empty_unit();
        var lane = 0u;
        if (PRESERVE_EDGES && (i * LANES < params.begin || (i + 1u) * LANES > params.end)) {
            unit = kept_lanes(values[i], i * LANES, params.begin, params.end);
            lane = max(i * LANES, params.begin) - i * LANES;
        }
        loop {
            if (lane >= LANES) {
                break;
            }
            if (column == params.row_len) {
                column = 0u;
                row += 1u;
                addresses = row_addresses(row);
            }
            var key = fold_elements(addresses, column);
            if (ACCUMULATE) {
                key = key_max(key, unit_key(values[i], lane));
            }
            unit = with_element(unit, lane, key);
            column += 1u;
            continuing {
                lane += 1u;
                break if (lane >= LANES) | (i * LANES + lane >= stop);
            }
        }
        values[i] = unit;
    }
}
