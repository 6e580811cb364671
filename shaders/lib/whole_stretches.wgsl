// Bunches that lie in one stretch each: where a stretch begins is asked once.
import package::{
    BUNCH_ROWS, BunchPlace, PACK_ELEMENTS, PAIRS, ROW_LEN, pack_at, pack_between, pack_from, store_stretch, stretch_offset, stretch_rows,
    whole_pack, words_behind_packs,
};

// Whether stretches begin anywhere. Bunches in which one of them ends are another dispatch's.
override INNER: bool = false;

// Those of bunches [first, last).
fn reduce_stretches(first: u32, last: u32) {
    var end_pack = vec4<u32>();
    if (PAIRS) {
        end_pack = words_behind_packs();
    }
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
        store_stretch(begin, min((row + stretch_len) / BUNCH_ROWS, last), e, end_pack);
        continuing {
            stretch += 1u;
            break if stretch >= stretches_end;
        }
    }
}

// Pack number n of a bunch.
fn bunch_pack(place: BunchPlace, n: u32) -> vec4<u32> {
    if (INNER) {
        return pack_from(place.first + n * PACK_ELEMENTS);
    }
    return pack_at(place.first / PACK_ELEMENTS + n);
}

// Where PAIRS: the whole pack in which pack number n of a bunch begins, and that pack out of it and the next one.
alias WholePacks = vec4<u32>;

fn whole_packs(place: BunchPlace, n: u32) -> WholePacks { return whole_pack(place.first, n, place.end_pack); }
fn pack_between_two(place: BunchPlace, n: u32, first: WholePacks, second: WholePacks) -> vec4<u32> {
    return pack_between(first, second, place.first);
}
