// Max where rows are so short that many of them share packs: an invocation takes a bunch of rows, as many as a pack has
// elements, which fill as many packs as a row has elements. The planner sees to it that a bunch lies in one piece.
import package::{
    PACK_ELEMENTS, ROW_LEN, fixed_packs, group_number, no_packs, params, row_addresses, store_rows,
};

override GROUP: u32 = 64u;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (no_packs()) { // see grid.wgsl
        return;
    }
    let first = (group_number(id, groups) * GROUP + local) * params.share;
    let last = min(first + params.share, params.len / (ROW_LEN * PACK_ELEMENTS));
    if (first >= last) {
        return;
    }
    // Rows that follow one another make a stretch: what they have in common is asked once.
    let stretch_len = max(params.sizes[0].x / PACK_ELEMENTS, 1u);
    let stretches_end = (last + stretch_len - 1u) / stretch_len;
    for (var stretch = first / stretch_len; stretch < stretches_end; stretch++) {
        let addresses = row_addresses(stretch * params.sizes[0].x);
        let fixed = fixed_packs(addresses);
        let begin = stretch * stretch_len;
        let end = min(begin + stretch_len, last);
        var bunch = max(begin, first);
        loop {
            if (bunch >= end) {
                break;
            }
            store_rows(bunch * ROW_LEN, addresses, (bunch - begin) * PACK_ELEMENTS, fixed);
            continuing {
                bunch += 1u;
                break if bunch >= end;
            }
        }
    }
}
