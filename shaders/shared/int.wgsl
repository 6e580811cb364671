// Integers of at most 32 bits: flipping the sign bits makes the key.

fn key_of(bits: u32) -> Key { return bits ^ (SIGNS & 0x80000000u); }
fn bits_of(key: Key) -> u32 { return key ^ (SIGNS & 0x80000000u); }
fn tie_key(key: Key) -> Key { return key; }
fn tie_keys(keys: vec4<u32>) -> vec4<u32> { return keys; }
fn nothing_but_nan(key: Key) -> bool { return false; }
fn least_pack() -> vec4<u32> { return vec4<u32>(SIGNS); }

fn lane_bits(m: Maxima, lane: u32) -> vec4<u32> { return lane_maxima(m, lane) ^ vec4<u32>(SIGNS & 0x80000000u); }
