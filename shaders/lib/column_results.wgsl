// The results of columns one by one, or as whole output units where there are such.
import package::{
    Chunk, ColumnBests, PACK_ELEMENTS, STORE_LANES, Unit, column_best, empty_unit, store_lane, store_unit, stored_whole,
    task_of,
};

// Columns [begin, end) of a pack whose units are no one else's. The first is output number `first`.
fn store_part(found: ColumnBests, chunk: Chunk, first: u32, begin: u32, end: u32) {
    store_columns(found, chunk, first, begin, end, first + end, empty_unit());
}

// Columns [begin, end) of a pack whose first is output number `first`; those from `last` on are not this invocation's. What they
// make of a unit that others share is given back.
fn store_columns(
    found: ColumnBests,
    chunk: Chunk,
    first: u32,
    begin: u32,
    end: u32,
    last: u32,
    shared_unit: Unit,
) -> Unit {
    var bests = found;
    if (end - begin == PACK_ELEMENTS && first % STORE_LANES == 0u && stored_whole(bests, first)) {
        return shared_unit;
    }
    var unit = shared_unit;
    var i = begin;
    loop {
        if (i >= end) {
            break;
        }
        let output = first + i;
        unit = store_lane(unit, output % STORE_LANES, task_of(output, chunk.number), column_best(&bests, i));
        if ((output + 1u) % STORE_LANES == 0u || output + 1u == last) {
            store_unit(output / STORE_LANES, unit);
            unit = empty_unit();
        }
        continuing {
            i += 1u;
            break if i >= end;
        }
    }
    return unit;
}
