// The rows of a block of four packs, four at once: what each begins with is asked for before any is folded, since rows lie so far apart
// that no prefetcher knows where the next one is.
import package::{
    ColumnBests, FARTHEST, ROWS_OF_TILE, Run, ahead_of, behind_packs, first_pack, four_packs, offer_row, pack_after, rows_apart,
};

fn with_rows(block: array<ColumnBests, 4>, place: u32, run: Run) -> array<ColumnBests, 4> {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = block[0];
    var b1 = block[1];
    var b2 = block[2];
    var b3 = block[3];
    let behind = behind_packs();
    for (var i = 0u; i < len; i += 4u) {
        let rows = min(i + ROWS_OF_TILE, vec4<u32>(len - 1u)); // the last one again, if there are fewer
        let places = place + rows * step;
        let ahead = ahead_of(vec4<u32>(first_pack(places.x), first_pack(places.y), first_pack(places.z), first_pack(places.w)));
        let row0 = four_packs(pack_after(ahead.x, first_pack(places.x)), places.x, behind);
        offer_row(&b0, row0.a, run.r + rows.x);
        offer_row(&b1, row0.b, run.r + rows.x);
        offer_row(&b2, row0.c, run.r + rows.x);
        offer_row(&b3, row0.d, run.r + rows.x);
        let row1 = four_packs(pack_after(ahead.y, first_pack(places.y)), places.y, behind);
        offer_row(&b0, row1.a, run.r + rows.y);
        offer_row(&b1, row1.b, run.r + rows.y);
        offer_row(&b2, row1.c, run.r + rows.y);
        offer_row(&b3, row1.d, run.r + rows.y);
        let row2 = four_packs(pack_after(ahead.z, first_pack(places.z)), places.z, behind);
        offer_row(&b0, row2.a, run.r + rows.z);
        offer_row(&b1, row2.b, run.r + rows.z);
        offer_row(&b2, row2.c, run.r + rows.z);
        offer_row(&b3, row2.d, run.r + rows.z);
        let row3 = four_packs(pack_after(ahead.w, first_pack(places.w)), places.w, behind);
        offer_row(&b0, row3.a, run.r + rows.w);
        offer_row(&b1, row3.b, run.r + rows.w);
        offer_row(&b2, row3.c, run.r + rows.w);
        offer_row(&b3, row3.d, run.r + rows.w);
    }
    return array<ColumnBests, 4>(b0, b1, b2, b3);
}
