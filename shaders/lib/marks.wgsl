// Marks: of each element of a pack the highest bit, all others zero.
import package::{ELEMENT_BITS, LANES, ONE};

const FIRST_BITS = 0xffffffffu / (0xffffffffu >> (32u - ELEMENT_BITS)); // of a word's elements
const LAST_BITS = FIRST_BITS << (ELEMENT_BITS - 1u);

// Of the elements that are equal: what differs in its lower bits carries into the highest one.
fn equal_elements(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let differ = a ^ b;
    let lower = vec4<u32>(~LAST_BITS);
    return ~(((differ & lower) + lower) | differ) & vec4<u32>(LAST_BITS);
}

// Of a pack's elements from number `count` on, which is no more than it has.
fn elements_from(count: u32) -> vec4<u32> {
    let lanes = select(select(0u, 0x00010000u, LANES == 2u), 0x03020100u, LANES == 4u);
    let elements = vec4<u32>(0u, 1u, 2u, 3u) * (LANES * FIRST_BITS) + lanes;
    return ((elements | vec4<u32>(LAST_BITS)) - count * FIRST_BITS) & vec4<u32>(LAST_BITS);
}

fn ones_of_marks(marks: vec4<u32>) -> vec4<u32> {
    return (marks >> vec4<u32>(ELEMENT_BITS - 1u)) * (ONE >> (32u - ELEMENT_BITS));
}
