// Values of rows: the greatest element, and nothing else.
import package::{Best, Chunk, Peak, join_peaks, no_peak, peak_key, peak_of, tile_at};

alias RowBest = Peak;

fn no_row_best() -> RowBest { return no_peak(); }
fn offer_pack(best: RowBest, words: vec4<u32>, run: u32, first: u32) -> RowBest { return join_peaks(best, peak_of(words)); }
fn offer_tile(best: RowBest, p: u32, last: u32, run: u32) -> RowBest {
    let tile = tile_at(p, last);
    let peaks = join_peaks(join_peaks(peak_of(tile.a), peak_of(tile.b)), join_peaks(peak_of(tile.c), peak_of(tile.d)));
    return join_peaks(best, peaks);
}
fn row_result(best: RowBest, chunk: Chunk, base: u32) -> Best { return Best(peak_key(best)); }
fn placed(best: Best, task: u32) -> Best { return best; }
