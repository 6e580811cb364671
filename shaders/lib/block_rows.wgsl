// The rows of a block of four packs, one after another.
import package::{ColumnBests, FARTHEST, Run, behind_packs, first_pack, four_packs, offer_row, pack_at, rows_apart};

fn with_rows(block: array<ColumnBests, 4>, place: u32, run: Run) -> array<ColumnBests, 4> {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = block[0];
    var b1 = block[1];
    var b2 = block[2];
    var b3 = block[3];
    let behind = behind_packs();
    var p = place;
    for (var i = 0u; i < len; i++) {
        let row = four_packs(pack_at(first_pack(p)), p, behind);
        offer_row(&b0, row.a, run.r + i);
        offer_row(&b1, row.b, run.r + i);
        offer_row(&b2, row.c, run.r + i);
        offer_row(&b3, row.d, run.r + i);
        p += step;
    }
    return array<ColumnBests, 4>(b0, b1, b2, b3);
}
