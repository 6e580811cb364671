// i64: two words an element, the low one first; flipping the sign bit puts it in unsigned order.
const SIGN = 0x80000000u;
const ONE = vec2<u32>(1u, 0u);
