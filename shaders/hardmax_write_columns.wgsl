// Hardmax once the winners are known, where slices stand side by side, unit by unit: columns of blocks of the output.
import package::{
    ACCUMULATE, BOUNDS_CHECKED, GROUP, Grid, LANES, Unit, empty_unit, invocation_number, no_output, params, winners, with_one,
};

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_output()) {
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let last = min(first + params.share, (params.len + LANES - 1u) / LANES);
    let e = params.column + first * LANES;
    let rows = e / params.columns;
    let row = params.position + rows;
    let block = row / params.slice_len;
    var place = Place(block, row - block * params.slice_len, e - rows * params.columns);
    for (var i = first; i < last; i++) {
        var unit = empty_unit();
        if (ACCUMULATE) {
            unit = values[i];
        }
        if (LANES == 1u) {
            unit = select(unit, with_one(unit, 0u), wins(place));
            place = next_place(place);
        } else {
            var lane = 0u;
            loop {
                if (lane >= LANES) {
                    break;
                }
                unit = select(unit, with_one(unit, lane), wins(place));
                place = next_place(place);
                continuing {
                    lane += 1u;
                    break if (lane >= LANES) | (i * LANES + lane >= params.len);
                }
            }
        }
        values[i] = unit;
    }
}

struct Place { block: u32, position: u32, column: u32 }

fn wins(place: Place) -> bool {
    let n = place.block * params.columns + place.column - params.first_winner;
    return (!BOUNDS_CHECKED || n < params.winners) && winners[n] == place.position;
}

fn next_place(place: Place) -> Place {
    let row_ends = place.column + 1u == params.columns;
    let column = select(place.column + 1u, 0u, row_ends);
    let position = select(place.position, place.position + 1u, row_ends);
    let block_ends = position == params.slice_len;
    return Place(select(place.block, place.block + 1u, block_ends), select(position, 0u, block_ends), column);
}
