// Stretches of whole bunches: where each begins is asked once.
import package::{BUNCH_ROWS, BunchPlace, PACK_ELEMENTS, ROW_LEN, pack_at, store_stretch, stretch_offset, stretch_rows};

// Bunches [first, last).
fn reduce_stretches(first: u32, last: u32) {
    let stretch_len = max(stretch_rows() / BUNCH_ROWS, 1u);
    let stretches_end = (last + stretch_len - 1u) / stretch_len;
    var stretch = first / stretch_len;
    loop {
        if (stretch >= stretches_end) {
            break;
        }
        let begin = max(first, stretch * stretch_len);
        let e = stretch_offset(stretch) + (begin - stretch * stretch_len) * (ROW_LEN * BUNCH_ROWS);
        store_stretch(begin, min(last, (stretch + 1u) * stretch_len), e);
        continuing {
            stretch += 1u;
            break if stretch >= stretches_end;
        }
    }
}

// Pack number n of a bunch.
fn bunch_pack(place: BunchPlace, n: u32) -> vec4<u32> { return pack_at(place.first / PACK_ELEMENTS + n); }
