// i8: four elements a word; flipping the sign bits puts them in unsigned order.
const SIGNS = 0x80808080u;
const ONE = 0x01000000u; // left-aligned
