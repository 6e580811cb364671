// Hardmax where slices follow one another: an invocation finds the winners of as many as fill whole output units, and
// writes their rows; of several such groups in turn. No barrier.
@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

const STORE_LANES = LANES; // slices that fill whole units

fn task_count() -> u32 { return params.outputs; }

fn make_unit(index: u32, tasks: u32) {
    if (arrayLength(&values) == 0u) { // see grid.wgsl
        return;
    }
    let first = index * LANES;
    let count = min(LANES, tasks - first);
    var ones: Ones;
    var slice = 0u;
    loop {
        if (slice >= count) {
            break;
        }
        let e = slice * params.reduce_len + index_of(scan(first + slice, 0u));
        ones.at[slice] = e / LANES;
        ones.units[slice] = with_one(empty_unit(), e % LANES);
        continuing {
            slice += 1u;
            break if slice >= count;
        }
    }
    let slices = vec4<u32>(0u, 1u, 2u, 3u);
    ones.first = slices * params.reduce_len / LANES;
    ones.more = ((slices + 1u) * params.reduce_len - 1u) / LANES - ones.first;
    let begin = first * params.reduce_len / LANES; // whole: first is a multiple of LANES
    let units = min((count * params.reduce_len + LANES - 1u) / LANES, FARTHEST);
    for (var i = 0u; i < units; i += 4u) {
        values[begin + i] = unit_at(ones, i);
        if (i + 1u < units) {
            values[begin + i + 1u] = unit_at(ones, i + 1u);
        }
        if (i + 2u < units) {
            values[begin + i + 2u] = unit_at(ones, i + 2u);
        }
        if (i + 3u < units) {
            values[begin + i + 3u] = unit_at(ones, i + 3u);
        }
    }
}

// Of each slice: which unit its one is in, counted from the first slice's first, and that unit if nothing else is in it;
// the first unit that has elements of the slice, and how many follow. Slices that are not there have an empty one.
struct Ones { at: vec4<u32>, units: array<Unit, 4>, first: vec4<u32>, more: vec4<u32> }

// A unit comes of the slices that have elements in it, and of no others.
fn unit_at(ones: Ones, i: u32) -> Unit {
    if (LANES == 1u) {
        return select(empty_unit(), ones.units[0], i == ones.at.x);
    }
    var unit = empty_unit();
    if (i <= ones.more.x) {
        unit = select(empty_unit(), ones.units[0], i == ones.at.x);
    }
    if (i - ones.first.y <= ones.more.y) {
        unit |= select(empty_unit(), ones.units[1], i == ones.at.y);
    }
    if (LANES > 2u) {
        if (i - ones.first.z <= ones.more.z) {
            unit |= select(empty_unit(), ones.units[2], i == ones.at.z);
        }
        if (i - ones.first.w <= ones.more.w) {
            unit |= select(empty_unit(), ones.units[3], i == ones.at.w);
        }
    }
    return unit;
}
