// Max where every operand runs along the rows with whole packs, or has one element for all of a row.
import package::{
    ACCUMULATE, BoundPack, PACK_ELEMENTS, bound_pack, fold, fold_runs, fold_splats, group_number, longest_operand,
    pack_addresses, pack_of, params, row_addresses, words_of,
};

override GROUP: u32 = 64u;

@group(0) @binding(1) var<storage, read_write> values: array<BoundPack>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (max(arrayLength(&values), longest_operand()) == 0u) { // see grid.wgsl
        return;
    }
    let first = (group_number(id, groups) * GROUP + local) * params.share;
    let last = min(first + params.share, params.len / PACK_ELEMENTS);
    let row_packs = max(params.row_len / PACK_ELEMENTS, 1u);
    let rows_end = (last + row_packs - 1u) / row_packs;
    for (var row = first / row_packs; row < rows_end; row++) {
        let begin = row * row_packs;
        let end = min(begin + row_packs, last);
        var i = max(begin, first);
        let addresses = row_addresses(row);
        let constant = fold_splats(addresses); // of the operands that have one element for all of the row
        let packs = pack_addresses(addresses);
        loop {
            if (i >= end) {
                break;
            }
            var m = fold_runs(constant, packs, i - begin);
            if (ACCUMULATE) {
                m = fold(m, words_of(values[i]));
            }
            values[i] = bound_pack(pack_of(m));
            continuing {
                i += 1u;
                break if i >= end;
            }
        }
    }
}
