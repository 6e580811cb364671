// f64: two words an element, the low one first.
const INFINITY = 0x7ff00000u;  // the high word
const QUIET_NAN = 0x7ff80000u; // the high word
const ONE = vec2<u32>(0u, 0x3ff00000u);
