// Hardmax where slices follow one another: teams find the winners of a workgroup's slices, which fill whole output
// units, and the whole workgroup writes their rows.
@group(0) @binding(3) var<storage, read_write> values: array<Unit>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = group_number(id, groups);
    reduce_in_teams(group, local, params.outputs);
    let teams = GROUP / TEAM;
    let first = group * teams;
    if (first >= params.outputs) {
        return;
    }
    let end = min(first + teams, params.outputs) * params.reduce_len;
    let units_end = min((end + LANES - 1u) / LANES, FARTHEST);
    for (var i = first * params.reduce_len / LANES + local; i < units_end; i += GROUP) {
        var unit = empty_unit();
        for (var lane = 0u; (lane < LANES) & (i * LANES + lane < end); lane++) {
            let e = i * LANES + lane;
            let slice = e / params.reduce_len;
            if (e - slice * params.reduce_len == index_of(bests[(slice - first) * TEAM])) {
                unit = with_one(unit, lane);
            }
        }
        values[i] = unit;
    }
}
