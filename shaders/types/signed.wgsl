// Signed integers: flipping the sign bit puts them in unsigned order.
const SIGN = 0x80000000u;
