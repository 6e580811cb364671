// The rows of a run of columns, tile by tile.
import package::{ColumnBests, FARTHEST, MANY_TURNS, Run, lone_tile_maxima, offer_rows, place_of, rows_apart, tile_rows};

fn with_run(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let place = place_of(start + run.offset);
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var bests = before;
    var i = 0u;
    loop {
        if (i >= len) {
            break;
        }
        offer_rows(&bests, lone_tile_maxima(tile_rows(place + i * step, step, len - i)), run.r + i);
        continuing {
            i += 4u;
            break if !MANY_TURNS & (i >= len);
        }
    }
    return bests;
}
