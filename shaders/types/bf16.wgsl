// bf16: two elements a word. Bits are given left-aligned in 32 bits.
const INFINITY = 0x7f800000u;
const QUIET_NAN = 0x7fc00000u;
const ONE = 0x3f800000u; // left-aligned
