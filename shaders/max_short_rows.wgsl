// Max where rows are so short that many of them share packs: an invocation takes a bunch of rows, as many as a pack has
// elements, which fill as many packs as a row has elements. Rows that follow one another make a stretch: what they have in common
// is asked once.
import package::{
    GROUP, Grid, PACK_ELEMENTS, ROW_LEN, finish_stretch, fixed_packs, invocation_number, no_packs, params, row_addresses,
    store_rows,
};

override RAGGED: bool = false; // stretches end within bunches: then one has rows of two (`finish_stretch`, which is generated)

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_packs()) {
        return;
    }
    let first = invocation_number(grid.id, grid.groups, grid.local) * params.share;
    let last = min(first + params.share, params.len / (ROW_LEN * PACK_ELEMENTS));
    if (first >= last) {
        return;
    }
    let stretch_len = max(params.sizes[0].x, PACK_ELEMENTS - 1u); // a bunch has rows of two stretches at most
    let stretches_end = (last * PACK_ELEMENTS + stretch_len - 1u) / stretch_len;
    for (var stretch = first * PACK_ELEMENTS / stretch_len; stretch < stretches_end; stretch++) {
        let begin = stretch * stretch_len;
        let rows_end = begin + stretch_len;
        let addresses = row_addresses(begin);
        let fixed = fixed_packs(addresses);
        let end = min(rows_end / PACK_ELEMENTS, last);
        var bunch = max((begin + PACK_ELEMENTS - 1u) / PACK_ELEMENTS, first);
        loop {
            if (bunch >= end) {
                break;
            }
            store_rows(bunch * ROW_LEN, addresses, bunch * PACK_ELEMENTS - begin, fixed);
            continuing {
                bunch += 1u;
                break if bunch >= end;
            }
        }
        finish_stretch(end, last, addresses, fixed, begin, rows_end);
    }
}
