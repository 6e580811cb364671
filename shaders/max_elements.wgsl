// Max for any views: element by element, output units written whole.
override GROUP: u32 = 64u;

@group(0) @binding(1) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let first = params.first + (group_number(id, groups) * GROUP + local) * params.share;
    let last = min(first + params.share, (params.len + LANES - 1u) / LANES);
    var row = first * LANES / params.row_len;
    var column = first * LANES - row * params.row_len;
    var addresses = row_addresses(row);
    for (var i = first; i < last; i++) {
        var unit = empty_unit();
        var lane = 0u;
        loop {
            if (column == params.row_len) {
                column = 0u;
                row += 1u;
                addresses = row_addresses(row);
            }
            var key = fold_elements(addresses, column);
            if (CONTINUES) {
                key = key_max(key, unit_key(values[i], lane));
            }
            unit = with_element(unit, lane, key);
            column += 1u;
            continuing {
                lane += 1u;
                break if lane >= LANES || i * LANES + lane >= params.len;
            }
        }
        values[i] = unit;
    }
}
