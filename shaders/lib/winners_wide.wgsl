// The winners of a pack of two columns, or of a bunch of two short rows, which are bound together.
import package::{ones_where};

@group(0) @binding(1) var<storage, read> winners: array<vec2<u32>>;

alias PackWinners = vec2<u32>;

// From number n on, a multiple of two.
fn pack_winners(n: u32) -> PackWinners { return winners[n / 2u]; }

// A pack in which those elements are 1 whose winners are at a position.
fn ones_at(own: PackWinners, position: u32) -> vec4<u32> { return ones_where(own, vec2<u32>(position)); }
