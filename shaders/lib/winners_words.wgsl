// The winners, one by one.
@group(0) @binding(1) var<storage, read> winners: array<u32>;
