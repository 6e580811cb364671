// Hardmax where slices stand side by side: the output is blocks of reduce_len rows of params.columns elements, and a
// slice is a column of a block. An invocation finds the winners of LANES columns and writes the units that begin in
// them. Where rows are no whole number of units, a unit reaches into the next columns, the next row or the next block:
// the winners of the next LANES - 1 columns, counted on from the row's end to its beginning, are kept beside its own,
// and what else it meets is searched on the spot.
override GROUP: u32 = 64u;
const TEAM = 1u;

@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

const KNOWN = 2u * LANES - 1u;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let shares = (params.columns + LANES - 1u) / LANES;
    let index = group_number(id, groups) * GROUP + local;
    let block = index / shares;
    if (block >= params.outputs / params.columns) {
        return;
    }
    let begin = (index - block * shares) * LANES;
    let own = min(LANES, params.columns - begin);
    let len = params.outputs * params.reduce_len;
    var winners: array<u32, KNOWN>;
    let reaches_on = params.columns % LANES != 0u;
    let known = own + select(0u, LANES - 1u, reaches_on);
    for (var n = 0u; n < known; n++) {
        winners[n] = winner(block, (begin + n) % params.columns);
    }
    for (var row = 0u; row < params.reduce_len; row++) {
        let first = (block * params.reduce_len + row) * params.columns + begin;
        // The units that begin in the row's own columns: at most one, since there are no more than LANES of these.
        let i = (first + LANES - 1u) / LANES;
        if (i * LANES >= first + own) {
            continue;
        }
        var unit = empty_unit();
        for (var lane = 0u; (lane < LANES) & (i * LANES + lane < len); lane++) {
            let n = i * LANES + lane - first;
            let rows_on = (begin + n) / params.columns;
            let on_block = row + rows_on < params.reduce_len;
            var wins = false;
            if (on_block) {
                wins = winners[n] == row + rows_on;
            } else {
                let e = i * LANES + lane;
                let line = e / params.columns;
                let other = line / params.reduce_len;
                wins = winner(other, e - line * params.columns) == line - other * params.reduce_len;
            }
            if (wins) {
                unit = with_one(unit, lane);
            }
        }
        values[i] = unit;
    }
}

fn winner(block: u32, column: u32) -> u32 {
    return index_of(scan(block * params.columns + column, 0u));
}
