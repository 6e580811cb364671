// u16: two elements a word, in order as they stand.
const SIGNS = 0x00000000u;
const ONE = 0x00010000u; // left-aligned
