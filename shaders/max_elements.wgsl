// Max for any views: element by element, each a row of its own, output units written whole.
import package::{
    ACCUMULATE, GROUP, Grid, LANES, Unit, Walk, empty_unit, fold_elements, invocation_number, kept_lanes, key_max,
    longest_operand, next_row, params, unit_key, walk_from, walk_rows, with_element,
};

override PRESERVE_EDGES: bool = false;   // elements before params.begin, and from params.end on, stay as they are
override BOUNDS_CHECKED: bool = false; // operands have elements in no binding of this dispatch: those are another's to take

@group(0) @binding(1) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (max(arrayLength(&values), longest_operand()) == 0u) { // see grid.wgsl, Lengths
        return;
    }
    let first = params.first + invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let stop = params.begin + params.len;
    let last = min(first + params.share, (stop + LANES - 1u) / LANES);
    let begin = max(first * LANES, params.begin);
    let end = min(last * LANES, stop);
    if (begin >= end) {
        return;
    }
    var unit = fresh_unit(first); // the one that a walk ends in, and the next begins in
    let walk_len = walk_rows();
    let walks_end = (end - params.begin + walk_len - 1u) / walk_len;
    for (var n = (begin - params.begin) / walk_len; n < walks_end; n++) {
        let walk_begin = params.begin + n * walk_len;
        let left = max(walk_begin, begin);
        let right = min(walk_begin + walk_len, end);
        let whole = (left + LANES - 1u) / LANES;
        let whole_end = right / LANES;
        var walk = walk_from(left - params.begin);
        if (LANES > 1u) {
            unit = with_elements(unit, &walk, left, min(right, whole * LANES));
            if (left < whole * LANES && right >= whole * LANES) {
                values[whole - 1u] = unit;
            }
        }
        for (var i = whole; i < whole_end; i++) {
            values[i] = whole_unit(&walk, i);
        }
        if (LANES > 1u) {
            let rest = max(whole_end * LANES, min(right, whole * LANES));
            if (rest < right) {
                unit = fresh_unit(whole_end);
            }
            unit = with_elements(unit, &walk, rest, right);
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

fn whole_unit(walk: ptr<function, Walk>, i: u32) -> Unit {
    var unit = with_next(empty_unit(), walk, i, 0u);
    if (LANES > 1u) {
        unit = with_next(unit, walk, i, 1u);
    }
    if (LANES > 2u) {
        unit = with_next(unit, walk, i, 2u);
        unit = with_next(unit, walk, i, 3u);
    }
    return unit;
}

// Elements [left, right), which are in the unit, the next ones of the walk.
fn with_elements(before: Unit, walk: ptr<function, Walk>, left: u32, right: u32) -> Unit {
    var unit = before;
    var e = left;
    loop {
        if (e >= right) {
            break;
        }
        unit = with_next(unit, walk, e / LANES, e % LANES);
        continuing {
            e += 1u;
            break if e >= right;
        }
    }
    return unit;
}

// The unit with the walk's next element.
fn with_next(unit: Unit, walk: ptr<function, Walk>, i: u32, lane: u32) -> Unit {
    var key = fold_elements((*walk).addresses);
    if (ACCUMULATE) {
        key = key_max(key, unit_key(values[i], lane));
    }
    *walk = next_row(*walk);
    return with_element(unit, lane, key);
}
