// u32: one element a word, in order as it stands.
const SIGNS = 0x00000000u;
const ONE = 0x00000001u;
