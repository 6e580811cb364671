// The winners, one by one, where they are as wide as elements.
import package::{ELEMENT_BITS, LANES};

@group(0) @binding(1) var<storage, read> winners: array<u32>;

fn winner(n: u32) -> u32 {
    return (winners[n / LANES] >> (ELEMENT_BITS * (n % LANES))) & (0xffffffffu >> (32u - ELEMENT_BITS));
}
