// Hardmax once the winners are known: every output unit written once. Slices are columns of blocks, as in
// hardmax_columns.wgsl; rows are blocks of one column.
override GROUP: u32 = 64u;
override GUARDED: bool = false;   // winners come in several windows: a one of another's is another dispatch's to write
override CONTINUES: bool = false; // what other dispatches have written stays

struct Params {
    len: u32,     // output elements
    columns: u32,
    slice_len: u32,
    share: u32,   // units that an invocation writes
    column: u32,  // of the first element
    position: u32,
    first_winner: u32, // the window's, counted from the first element's block on
    winners: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> winners: array<u32>;
@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (max(arrayLength(&values), arrayLength(&winners)) == 0u) { // see grid.wgsl
        return;
    }
    let first = (group_number(id, groups) * GROUP + local) * params.share;
    let last = min(first + params.share, (params.len + LANES - 1u) / LANES);
    let e = params.column + first * LANES;
    let lines = e / params.columns;
    var column = e - lines * params.columns;
    let line = params.position + lines;
    var block = line / params.slice_len;
    var position = line - block * params.slice_len;
    for (var i = first; i < last; i++) {
        var unit = empty_unit();
        if (CONTINUES) {
            unit = values[i];
        }
        var lane = 0u;
        loop {
            let n = block * params.columns + column - params.first_winner;
            if ((!GUARDED || n < params.winners) && winners[n] == position) {
                unit = with_one(unit, lane);
            }
            column += 1u;
            if (column == params.columns) {
                column = 0u;
                position += 1u;
                if (position == params.slice_len) {
                    position = 0u;
                    block += 1u;
                }
            }
            continuing {
                lane += 1u;
                break if lane >= LANES || i * LANES + lane >= params.len;
            }
        }
        values[i] = unit;
    }
}
