// f16: two elements a word. Bits are given left-aligned in 32 bits.
const INFINITY = 0x7c000000u;
const QUIET_NAN = 0x7e000000u;
const ONE = 0x3c000000u; // left-aligned
