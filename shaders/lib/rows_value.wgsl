// Values of rows: the greatest element, and nothing else.
import package::{Best, Chunk, Peak, join_peaks, no_peak, peak_key};

alias RowBest = Peak;

fn no_row_best() -> RowBest { return no_peak(); }
fn offer_tile(best: RowBest, tile: Peak, run: u32, pack: u32) -> RowBest { return join_peaks(best, tile); }
fn row_result(best: RowBest, chunk: Chunk, base: u32) -> Best { return Best(peak_key(best)); }
