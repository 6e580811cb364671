// Max where every operand runs along the rows, or has one element for all of a row.
import package::{
    PACK_ELEMENTS, first_elements, fold_runs, fold_splats, fold_straddling, group_number, no_packs, pack_addresses, params,
    row_addresses, store,
};

override GROUP: u32 = 64u;
override RAGGED: bool = false; // rows end within packs, and are no shorter than one

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
    let last = min(first + params.share, params.len / PACK_ELEMENTS);
    if (first >= last) {
        return;
    }
    let row_len = max(params.row_len, PACK_ELEMENTS);
    let rows_end = (last * PACK_ELEMENTS + row_len - 1u) / row_len;
    for (var row = first * PACK_ELEMENTS / row_len; row < rows_end; row++) {
        let row_begin = row * row_len;
        let row_end = row_begin + row_len;
        let addresses = row_addresses(row);
        let constant = fold_splats(addresses); // of the operands that have one element for all of the row
        let end = min(row_end / PACK_ELEMENTS, last);
        var i = max((row_begin + PACK_ELEMENTS - 1u) / PACK_ELEMENTS, first);
        let packs = pack_addresses(addresses, i * PACK_ELEMENTS - row_begin, i);
        loop {
            if (i >= end) {
                break;
            }
            store(i, fold_runs(constant, packs, i));
            continuing {
                i += 1u;
                break if i >= end;
            }
        }
        if (RAGGED) {
            let shared_pack = row_end / PACK_ELEMENTS;
            let left = row_end % PACK_ELEMENTS;
            if (left != 0u && shared_pack >= first && shared_pack < last) {
                let column = row_len - left;
                store(shared_pack, fold_straddling(addresses, row_addresses(row + 1u), column, first_elements(left)));
            }
        }
    }
}
