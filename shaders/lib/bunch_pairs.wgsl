// The packs of a bunch of short rows that begins anywhere: each out of two whole ones, of which it shares one with the next.
import package::{BUNCH_ROWS, BunchPlace, PACK_ELEMENTS, ROW_LEN, first_elements, joined, pack_at, pack_between, packs};

// The whole packs in which pack number n of a bunch begins, in one stretch and in the next.
struct WholePacks { own: vec4<u32>, other: vec4<u32> }

fn whole_packs(place: BunchPlace, n: u32) -> WholePacks {
    let own = whole_pack(place.first, n, place.end_pack);
    if (place.count >= BUNCH_ROWS * ROW_LEN) {
        return WholePacks(own, own);
    }
    return WholePacks(own, whole_pack(place.other, n, place.end_pack));
}

// So many behind the one in which an element lies, which may be before the first: that has no element that is wanted.
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
