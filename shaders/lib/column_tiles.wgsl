// The rows of a run of columns, tile by tile: of values.
import package::{ColumnBests, FARTHEST, Run, offer_rows, place_of, rows_apart, tile_maxima, tile_rows};

fn with_run(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let place = place_of(start + run.offset);
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var bests = before;
    for (var i = 0u; i < len; i += 4u) {
        offer_rows(&bests, tile_maxima(tile_rows(place + i * step, step, len - i)), run.r + i);
    }
    return bests;
}
