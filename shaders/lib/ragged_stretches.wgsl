// Stretches that begin anywhere: a bunch may have rows of two.
import package::{
    BUNCH_ROWS, BunchPlace, PACK_ELEMENTS, ROW_LEN, first_elements, joined, pack_at, pack_between, pack_from_two, packs,
    store_bunch, stretch_offset, stretch_rows, words_behind_packs,
};

// Bunches [first, last).
fn reduce_stretches(first: u32, last: u32) {
    let end_pack = words_behind_packs();
    for (var bunch = first; bunch < last; bunch++) {
        store_bunch(bunch * BUNCH_ROWS, ragged_bunch(bunch * BUNCH_ROWS, end_pack));
    }
}

// The bunch that begins with that row, in a stretch and in the next one.
fn ragged_bunch(row: u32, end_pack: vec4<u32>) -> BunchPlace {
    let stretch_len = stretch_rows();
    let stretch = row / stretch_len;
    let before = (row - stretch * stretch_len) * ROW_LEN;
    let count = stretch_len * ROW_LEN - before;
    let other = stretch_offset(stretch + 1u) - count;
    return BunchPlace(stretch_offset(stretch) + before, other, count, end_pack);
}

// Pack number n of a bunch, put together from words.
fn bunch_pack(place: BunchPlace, n: u32) -> vec4<u32> {
    let e = n * PACK_ELEMENTS;
    return pack_from_two(place.first + e, place.other + e, max(place.count, e) - e);
}

// Where PAIRS, each pack comes out of two whole ones, of which it shares one with the next: the whole packs in which pack number n
// of a bunch begins, in one stretch and in the next.
struct WholePacks { own: vec4<u32>, other: vec4<u32> }

fn whole_packs(place: BunchPlace, n: u32) -> WholePacks {
    let own = whole_pack(place.first, n, place.end_pack);
    if (place.count >= BUNCH_ROWS * ROW_LEN) {
        return WholePacks(own, own);
    }
    return WholePacks(own, whole_pack(place.other, n, place.end_pack));
}

// The whole pack that is so many behind the one in which an element lies, which may be before the first: that has no element that is
// wanted.
fn whole_pack(e: u32, n: u32, end_pack: vec4<u32>) -> vec4<u32> {
    let p = (bitcast<i32>(e) >> firstTrailingBit(PACK_ELEMENTS)) + i32(n);
    let count = i32(arrayLength(&packs));
    return select(pack_at(u32(clamp(p, 0, count - 1))), end_pack, vec4<bool>(p >= count));
}

// Pack number n, out of the whole packs in which it and the next one begin.
fn pack_between_two(place: BunchPlace, n: u32, first: WholePacks, second: WholePacks) -> vec4<u32> {
    let own = pack_between(first.own, second.own, place.first);
    let other = pack_between(first.other, second.other, place.other);
    return joined(own, other, first_elements(max(place.count, n * PACK_ELEMENTS) - n * PACK_ELEMENTS));
}
