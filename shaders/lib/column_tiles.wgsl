// The rows of a run of columns, tile by tile: of values.
import package::{
    Chunk, ColumnBests, FARTHEST, Run, join_maxima, no_column_bests, place_of, rows_apart, tile_maxima, tile_rows,
};

alias Reduced = ColumnBests;

fn nothing_reduced(chunk: Chunk) -> ColumnBests { return no_column_bests(chunk); }

fn with_run(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let place = place_of(start + run.offset);
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var bests = before;
    for (var i = 0u; i < len; i += 4u) {
        bests = join_maxima(bests, tile_maxima(tile_rows(place + i * step, step, len - i)));
    }
    return bests;
}
