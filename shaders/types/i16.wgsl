// i16: two elements a word; flipping the sign bits puts them in unsigned order.
const SIGNS = 0x80008000u;
const ONE = 0x00010000u; // left-aligned
