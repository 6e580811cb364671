// Winners as wide as elements: those of a pack of columns are a pack.
import package::{ELEMENT_BITS, LANES, ONE, PACK_ELEMENTS, pack_between};

@group(0) @binding(1) var<storage, read> winners: array<vec4<u32>>;

alias PackWinners = vec4<u32>;

// From number n on, a multiple of a pack's elements.
fn pack_winners(n: u32) -> PackWinners { return winners[n / PACK_ELEMENTS]; }

// The same wherever they begin, also before the first or behind the last winner: those are no one's.
fn pack_winners_from(n: u32) -> PackWinners {
    let last = arrayLength(&winners) - 1u;
    let second = (n + PACK_ELEMENTS) / PACK_ELEMENTS; // of the two packs that have them
    return pack_between(winners[min(max(second, 1u) - 1u, last)], winners[min(second, last)], n);
}

// A pack in which those elements are 1 whose winners are at a position.
fn ones_at(own: PackWinners, position: u32) -> vec4<u32> {
    if (LANES == 1u) {
        return select(vec4<u32>(0u), vec4<u32>(ONE), own == vec4<u32>(position));
    }
    return ones_of_marks(equal_elements(own, vec4<u32>(position * FIRST_BITS)));
}

// Marks: of each element of a pack the highest bit, all others zero.
const FIRST_BITS = 0xffffffffu / (0xffffffffu >> (32u - ELEMENT_BITS)); // of a word's elements
const LAST_BITS = FIRST_BITS << (ELEMENT_BITS - 1u);

// Of the elements that are equal: what differs in its lower bits carries into the highest one.
fn equal_elements(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let differ = a ^ b;
    let lower = vec4<u32>(~LAST_BITS);
    return ~(((differ & lower) + lower) | differ) & vec4<u32>(LAST_BITS);
}

fn ones_of_marks(marks: vec4<u32>) -> vec4<u32> {
    return (marks >> vec4<u32>(ELEMENT_BITS - 1u)) * (ONE >> (32u - ELEMENT_BITS));
}
