// bool: four elements a word, each 0 or 1: False < True as they stand.
const SIGNS = 0x00000000u;
const ONE = 0x01000000u; // left-aligned
