// Runs of elements as packs: tiles of whole ones, and ragged ends.
import package::{LINE, PACK_ELEMENTS, RAGGED, pack_at, packs};

// The packs of elements [begin, end): whole ones [first, last), and a partial one before or after them.
struct PackRange { first: u32, last: u32, head: bool, tail: bool }

fn pack_range(begin: u32, end: u32) -> PackRange {
    let first = begin / PACK_ELEMENTS;
    let last = select(0u, end / PACK_ELEMENTS, arrayLength(&packs) > 0u); // see grid.wgsl
    let head = RAGGED && begin % PACK_ELEMENTS != 0u;
    let tail = RAGGED && end % PACK_ELEMENTS != 0u && !(head && first == last);
    return PackRange(select(first, first + 1u, head), last, head, tail);
}

// A tile: four packs, LINE apart, in flight together. Where it reaches beyond the last, its first pack is taken again: that
// changes no maximum, and costs less than a loop over what is left.
struct Tile { places: vec4<u32>, a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

fn tile_at(p: u32, last: u32) -> Tile {
    let second = select(p, p + LINE, p + LINE < last);
    let third = select(p, p + 2u * LINE, p + 2u * LINE < last);
    let fourth = select(p, p + 3u * LINE, p + 3u * LINE < last);
    let places = vec4<u32>(p, second, third, fourth);
    return Tile(places, pack_at(p), pack_at(second), pack_at(third), pack_at(fourth));
}
