// Bunches that lie in one stretch each: where a stretch begins is asked once.
import package::{BUNCH_ROWS, BunchPlace, PACK_ELEMENTS, ROW_LEN, pack_at, store_stretch, stretch_offset, stretch_rows};

// Those of bunches [first, last).
fn reduce_stretches(first: u32, last: u32) {
    let stretch_len = max(stretch_rows(), BUNCH_ROWS); // shorter ones have no bunch
    let stretches_end = (last * BUNCH_ROWS + stretch_len - 1u) / stretch_len;
    var stretch = first * BUNCH_ROWS / stretch_len;
    loop {
        if (stretch >= stretches_end) {
            break;
        }
        let row = stretch * stretch_len;
        let begin = max((row + BUNCH_ROWS - 1u) / BUNCH_ROWS, first);
        let e = stretch_offset(stretch) + (begin * BUNCH_ROWS - row) * ROW_LEN;
        store_stretch(begin, min((row + stretch_len) / BUNCH_ROWS, last), e);
        continuing {
            stretch += 1u;
            break if stretch >= stretches_end;
        }
    }
}

// Pack number n of a bunch.
fn bunch_pack(place: BunchPlace, n: u32) -> vec4<u32> { return pack_at(place.first / PACK_ELEMENTS + n); }
