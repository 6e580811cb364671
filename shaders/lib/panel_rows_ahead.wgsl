// The rows of a panel of four packs, four at once: what each begins with is asked for before any is folded, since rows lie so far apart
// that no prefetcher knows where the next one is.
import package::{
    FARTHEST, Panel, ROWS_OF_TILE, Run, ahead_of, behind_packs, first_pack_number, four_packs, offer_packs, pack_after,
    rows_apart,
};

fn with_rows(panel: Panel, place: u32, run: Run) -> Panel {
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
    var b0 = panel[0];
    var b1 = panel[1];
    var b2 = panel[2];
    var b3 = panel[3];
    let behind = behind_packs();
    for (var i = 0u; i < len; i += 4u) {
        let rows = min(i + ROWS_OF_TILE, vec4<u32>(len - 1u)); // the last one again, if there are fewer
        let places = place + rows * step;
        let firsts = vec4<u32>(
            first_pack_number(places.x),
            first_pack_number(places.y),
            first_pack_number(places.z),
            first_pack_number(places.w),
        );
        let ahead = ahead_of(firsts);
        let row0 = four_packs(pack_after(ahead.x, firsts.x), places.x, behind);
        offer_packs(&b0, &b1, &b2, &b3, row0, run.r + rows.x);
        let row1 = four_packs(pack_after(ahead.y, firsts.y), places.y, behind);
        offer_packs(&b0, &b1, &b2, &b3, row1, run.r + rows.y);
        let row2 = four_packs(pack_after(ahead.z, firsts.z), places.z, behind);
        offer_packs(&b0, &b1, &b2, &b3, row2, run.r + rows.z);
        let row3 = four_packs(pack_after(ahead.w, firsts.w), places.w, behind);
        offer_packs(&b0, &b1, &b2, &b3, row3, run.r + rows.w);
    }
    return Panel(b0, b1, b2, b3);
}
