// The rows of a block of four packs, one after another.
import package::{Block, FARTHEST, Run, behind_packs, first_pack_number, four_packs, offer_packs, pack_at, rows_apart};

fn with_rows(block: Block, place: u32, run: Run) -> Block {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = block[0];
    var b1 = block[1];
    var b2 = block[2];
    var b3 = block[3];
    let behind = behind_packs();
    var p = place;
    for (var i = 0u; i < len; i++) {
        offer_packs(&b0, &b1, &b2, &b3, four_packs(pack_at(first_pack_number(p)), p, behind), run.r + i);
        p += step;
    }
    return Block(b0, b1, b2, b3);
}
