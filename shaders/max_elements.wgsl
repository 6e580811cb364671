// Max for any views: element by element, row after row, output units written whole.
import package::{
    ACCUMULATE, Addresses, Key, LANES, Unit, empty_unit, fold_elements, group_number, kept_lanes, key_max, longest_operand,
    params, row_addresses, unit_key, with_element,
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
    let begin = max(first * LANES, params.begin);
    let end = min(last * LANES, stop);
    if (begin >= end) {
        return;
    }
    let rows_end = (end - params.begin + params.row_len - 1u) / params.row_len;
    var unit = fresh_unit(first); // the one that a row ends in, and the next begins in
    for (var row = (begin - params.begin) / params.row_len; row < rows_end; row++) {
        let addresses = row_addresses(row);
        let row_begin = params.begin + row * params.row_len;
        let left = max(row_begin, begin);
        let right = min(row_begin + params.row_len, end);
        let whole = (left + LANES - 1u) / LANES;
        let whole_end = right / LANES;
        if (LANES > 1u) {
            unit = with_elements(unit, addresses, row_begin, left, min(right, whole * LANES));
            if (left < whole * LANES && right >= whole * LANES) {
                values[whole - 1u] = unit;
            }
        }
        for (var i = whole; i < whole_end; i++) {
            values[i] = whole_unit(addresses, i, i * LANES - row_begin);
        }
        if (LANES > 1u) {
            let rest = max(whole_end * LANES, min(right, whole * LANES));
            if (rest < right) {
                unit = fresh_unit(whole_end);
            }
            unit = with_elements(unit, addresses, row_begin, rest, right);
        }
    }
    if (end % LANES != 0u) {
        values[end / LANES] = unit;
    }
}

// A unit to begin with: nothing, or what is to stay in it.
fn fresh_unit(i: u32) -> Unit {
    if (PRESERVE_EDGES && (i * LANES < params.begin || (i + 1u) * LANES > params.end)) {
        return kept_lanes(values[i], i * LANES, params.begin, params.end);
    }
    return empty_unit();
}

fn whole_unit(addresses: Addresses, i: u32, column: u32) -> Unit {
    var unit = with_element(empty_unit(), 0u, element(addresses, i, 0u, column));
    if (LANES > 1u) {
        unit = with_element(unit, 1u, element(addresses, i, 1u, column + 1u));
    }
    if (LANES > 2u) {
        unit = with_element(unit, 2u, element(addresses, i, 2u, column + 2u));
        unit = with_element(unit, 3u, element(addresses, i, 3u, column + 3u));
    }
    return unit;
}

// Elements [left, right) of a row, which are in the unit.
fn with_elements(before: Unit, addresses: Addresses, row_begin: u32, left: u32, right: u32) -> Unit {
    var unit = before;
    var e = left;
    loop {
        if (e >= right) {
            break;
        }
        unit = with_element(unit, e % LANES, element(addresses, e / LANES, e % LANES, e - row_begin));
        continuing {
            e += 1u;
            break if e >= right;
        }
    }
    return unit;
}

fn element(addresses: Addresses, i: u32, lane: u32, column: u32) -> Key {
    let key = fold_elements(addresses, column);
    if (ACCUMULATE) {
        return key_max(key, unit_key(values[i], lane));
    }
    return key;
}
