// Hardmax once the winners are known: every output unit written once. Slices are columns of blocks, as in
// hardmax_columns.wgsl; rows are blocks of one column.
override GROUP: u32 = 64u;

struct Params {
    len: u32,     // output elements
    columns: u32,
    slice_len: u32,
    share: u32,   // units that an invocation writes
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
    let first = (group_number(id, groups) * GROUP + local) * params.share;
    let last = min(first + params.share, (params.len + LANES - 1u) / LANES);
    let line = first * LANES / params.columns;
    var column = first * LANES - line * params.columns;
    var block = line / params.slice_len;
    var position = line - block * params.slice_len;
    for (var i = first; i < last; i++) {
        var unit = empty_unit();
        var lane = 0u;
        loop {
            if (winners[block * params.columns + column] == position) {
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
