// The rows of a run of columns, one after another: of positions.
import package::{
    Chunk, ColumnBests, FARTHEST, RAGGED, Run, TEAM, column_pack, no_column_bests, offer_row, place_of, rows_apart,
};

alias Reduced = ColumnBests;

fn nothing_reduced(chunk: Chunk) -> ColumnBests { return no_column_bests(chunk); }

fn with_run(before: ColumnBests, start: u32, run: Run) -> ColumnBests {
    let place = place_of(start + run.offset);
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var bests = before;
    var i = 0u;
    if (TEAM > 1u) { // four in flight, with which SwiftShader takes 1.4 times as long where there is no team
        for (; i + 3u < len; i += 4u) {
            let places = place + (i + vec4<u32>(0u, 1u, 2u, 3u)) * step;
            let a = column_pack(places.x);
            let b = column_pack(places.y);
            let c = column_pack(places.z);
            let d = column_pack(places.w);
            offer_row(&bests, a, run.r + i);
            offer_row(&bests, b, run.r + i + 1u);
            offer_row(&bests, c, run.r + i + 2u);
            offer_row(&bests, d, run.r + i + 3u);
        }
    }
    if (TEAM == 1u && !RAGGED) { // two a turn, which is worth more than it costs
        for (; i + 1u < len; i += 2u) {
            offer_row(&bests, column_pack(place + i * step), run.r + i);
            offer_row(&bests, column_pack(place + (i + 1u) * step), run.r + i + 1u);
        }
    }
    for (; i < len; i++) { // a loop, which SwiftShader passes by: of a condition it does both sides
        offer_row(&bests, column_pack(place + i * step), run.r + i);
    }
    return bests;
}
