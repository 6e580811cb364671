// The packs of a bunch of short rows that begins anywhere, one by one.
import package::{BunchPlace, PACK_ELEMENTS, pack_from_two};

// Pack number n of a bunch.
fn bunch_pack(place: BunchPlace, n: u32) -> vec4<u32> {
    let e = n * PACK_ELEMENTS;
    return pack_from_two(place.first + e, place.other + e, max(place.count, e) - e);
}
