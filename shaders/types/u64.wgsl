// u64: two words an element, the low one first; in order as it stands.
const SIGN = 0x00000000u;
