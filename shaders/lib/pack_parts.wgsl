// Parts of packs, and packs one after another.
import package::{Maxima, PACK_ELEMENTS, join_maxima, maxima_of};

// A mask of a pack's first elements: of all of them, if the count is greater.
fn first_elements(count: u32) -> vec4<u32> {
    let bits = i32(min(count, PACK_ELEMENTS) * (128u / PACK_ELEMENTS));
    let own = clamp(vec4<i32>(bits) - vec4<i32>(0, 32, 64, 96), vec4<i32>(0), vec4<i32>(32));
    let mask = (vec4<u32>(1u) << (vec4<u32>(own) % 32u)) - 1u;
    return select(mask, vec4<u32>(0xffffffffu), own == vec4<i32>(32));
}

// The first elements of one pack, and behind them what another has there.
fn joined(first: vec4<u32>, second: vec4<u32>, mask: vec4<u32>) -> vec4<u32> {
    return (first & mask) | (second & ~mask);
}

// The running maxima with those of one more pack.
fn fold(m: Maxima, pack: vec4<u32>) -> Maxima { return join_maxima(m, maxima_of(pack)); }
