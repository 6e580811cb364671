// Runs of elements as packs: tiles of whole ones, and ragged ends.
import package::{PACK_ELEMENTS, Peak, RAGGED, TEAM, join_peaks, pack_at, packs, peak_of};

// The packs of elements [begin, end): whole ones [first, last), and a partial one before or after them.
struct PackRange { first: u32, last: u32, head: bool, tail: bool }

fn pack_range(begin: u32, end: u32) -> PackRange {
    let first = begin / PACK_ELEMENTS;
    let last = select(0u, end / PACK_ELEMENTS, arrayLength(&packs) > 0u); // see grid.wgsl
    let head = RAGGED && begin % PACK_ELEMENTS != 0u;
    let tail = RAGGED && end % PACK_ELEMENTS != 0u && !(head && first == last);
    return PackRange(select(first, first + 1u, head), last, head, tail);
}

// The peak of a tile: four packs, TEAM apart, in flight together. Where it reaches beyond the last, its first pack is
// taken again: that changes no maximum, and costs less than a loop over what is left.
fn tile_peak(p: u32, last: u32) -> Peak {
    let a = pack_at(p);
    let b = pack_at(select(p, p + TEAM, p + TEAM < last));
    let c = pack_at(select(p, p + 2u * TEAM, p + 2u * TEAM < last));
    let d = pack_at(select(p, p + 3u * TEAM, p + 3u * TEAM < last));
    return join_peaks(join_peaks(peak_of(a), peak_of(b)), join_peaks(peak_of(c), peak_of(d)));
}
