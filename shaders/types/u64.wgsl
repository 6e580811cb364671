// u64: two words an element, the low one first; in order as it stands.
const SIGN = 0x00000000u;
const ONE = vec2<u32>(1u, 0u);
