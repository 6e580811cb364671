// Max for any views: element by element, output units written whole.
override GROUP: u32 = 64u;
override KEEPS: bool = false; // elements before params.begin, and from params.end on, stay as they are

@group(0) @binding(1) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let first = params.first + (group_number(id, groups) * GROUP + local) * params.share;
    let stop = params.begin + params.len;
    let last = min(first + params.share, (stop + LANES - 1u) / LANES);
    let before = max(first * LANES, params.begin) - params.begin; // elements that come before this invocation's
    var row = before / params.row_len;
    var column = before - row * params.row_len;
    var addresses = row_addresses(row);
    for (var i = first; i < last; i++) {
        var unit = empty_unit();
        if (KEEPS) {
            unit = kept_lanes(values[i], i * LANES, params.begin, params.end);
        }
        for (var lane = 0u; lane < LANES && i * LANES + lane < stop; lane++) {
            if (KEEPS && i * LANES + lane < params.begin) {
                continue;
            }
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
        }
        values[i] = unit;
    }
}
