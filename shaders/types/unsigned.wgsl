// Unsigned integers, in order as they stand; bool, too, whose elements are 0 or 1.
const SIGN = 0u;
