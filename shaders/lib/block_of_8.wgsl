// Blocks of 8 packs, of rows that a few of them fill, and how they go down the rows, one after another. Neighbours that see all of a
// row read from one end of memory to the other: prefetchers know that.
import package::{
    ColumnBests, FARTHEST, Run, behind_packs, first_pack_number, four_apart, four_packs, offer_packs, pack_at, rows_apart,
};

const BLOCK_PACKS = 8u;
alias Block = array<ColumnBests, BLOCK_PACKS>;

fn block_of(bests: ColumnBests) -> Block {
    return Block(bests, bests, bests, bests, bests, bests, bests, bests);
}

fn with_rows(block: Block, place: u32, run: Run) -> Block {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = block[0];
    var b1 = block[1];
    var b2 = block[2];
    var b3 = block[3];
    var b4 = block[4];
    var b5 = block[5];
    var b6 = block[6];
    var b7 = block[7];
    let behind = behind_packs();
    var p = place;
    for (var i = 0u; i < len; i++) {
        offer_packs(&b0, &b1, &b2, &b3, four_packs(pack_at(first_pack_number(p)), p, behind), run.r + i);
        let p1 = p + four_apart();
        offer_packs(&b4, &b5, &b6, &b7, four_packs(pack_at(first_pack_number(p1)), p1, behind), run.r + i);
        p += step;
    }
    return Block(b0, b1, b2, b3, b4, b5, b6, b7);
}
