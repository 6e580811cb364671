// i32: one element a word; flipping the sign bit puts it in unsigned order.
const SIGNS = 0x80000000u;
const ONE = 0x00000001u;
