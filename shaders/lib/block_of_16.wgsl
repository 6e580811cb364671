// Blocks of 16 packs, of rows that a few of them fill, and how they go down the rows, one after another. Neighbours that see all of a
// row read from one end of memory to the other: prefetchers know that.
import package::{
    ColumnBests, FARTHEST, Run, behind_packs, first_pack_number, four_apart, four_packs, offer_packs, pack_at, rows_apart,
};

const BLOCK_PACKS = 16u;
alias Block = array<ColumnBests, BLOCK_PACKS>;

fn block_of(bests: ColumnBests) -> Block {
    return Block(
        bests, bests, bests, bests, bests, bests, bests, bests, bests, bests, bests, bests, bests, bests, bests, bests,
    );
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
    var b8 = block[8];
    var b9 = block[9];
    var b10 = block[10];
    var b11 = block[11];
    var b12 = block[12];
    var b13 = block[13];
    var b14 = block[14];
    var b15 = block[15];
    let behind = behind_packs();
    var p = place;
    for (var i = 0u; i < len; i++) {
        offer_packs(&b0, &b1, &b2, &b3, four_packs(pack_at(first_pack_number(p)), p, behind), run.r + i);
        let p1 = p + four_apart();
        offer_packs(&b4, &b5, &b6, &b7, four_packs(pack_at(first_pack_number(p1)), p1, behind), run.r + i);
        let p2 = p + 2u * four_apart();
        offer_packs(&b8, &b9, &b10, &b11, four_packs(pack_at(first_pack_number(p2)), p2, behind), run.r + i);
        let p3 = p + 3u * four_apart();
        offer_packs(&b12, &b13, &b14, &b15, four_packs(pack_at(first_pack_number(p3)), p3, behind), run.r + i);
        p += step;
    }
    return Block(b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15);
}
