// The winners, one by one.
@group(0) @binding(1) var<storage, read> winners: array<u32>;

fn winner(n: u32) -> u32 { return winners[n]; }
