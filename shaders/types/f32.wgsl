// f32: one element a word. Bits stand left-aligned in 32 bits, here they fill them.
const INFINITY = 0x7f800000u;
const QUIET_NAN = 0x7fc00000u;
const ONE = 0x3f800000u;
