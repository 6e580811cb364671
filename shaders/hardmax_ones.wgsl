// Hardmax over zeros once the winners are known: a one for each of them, in a word that may have others' ones, too. Slices are
// columns of blocks; those that follow one another are blocks of one column.
import package::{GROUP, Grid, invocation_number, one_of_element, winner, winners};

struct Params {
    len: u32, // output elements
    columns: u32,
    slice_len: u32,
    share: u32,    // winners that an invocation takes
    column: u32,   // of the first element
    position: u32, // in its slice, too
    first: u32,    // the window's first winner that is taken, and behind them
    end: u32,
    winner_column: u32, // of the first one
    winner_block: u32,  // counted from the first element's
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read_write> values: array<atomic<u32>>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (max(arrayLength(&values), arrayLength(&winners)) == 0u) { // see grid.wgsl, Lengths
        return;
    }
    let rows = (params.column + params.len - 1u) / params.columns; // from the first element's to the last one's
    let first = params.first + invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let end = min(first + params.share, params.end);
    for (var n = first; n < end; n++) {
        let column = params.winner_column + n - params.first;
        let blocks = column / params.columns;
        let begin = (params.winner_block + blocks) * params.slice_len;
        let row = begin + winner(n); // wraps where it lies far behind the end
        let e = (row - params.position) * params.columns + column - blocks * params.columns - params.column;
        if ((row >= max(begin, params.position)) & (row - params.position <= rows) & (e < params.len)) {
            let one = one_of_element(e);
            atomicOr(&values[one.word], one.bits);
        }
    }
}
