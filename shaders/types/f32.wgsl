// f32, and bf16, which is its upper half: one element a word, or two. Bits are given left-aligned in 32 bits.
const INFINITY = 0x7f800000u;
const QUIET_NAN = 0x7fc00000u;
const ONE = 0x3f800000u; // left-aligned
