// u8: four elements a word, in order as they stand.
const SIGNS = 0x00000000u;
const ONE = 0x01000000u; // left-aligned
