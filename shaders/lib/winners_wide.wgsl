// The winners of a pack of two columns.
import package::{ONE, winners};

alias PackWinners = vec2<u32>;

fn pack_winners(n: u32) -> PackWinners { return vec2<u32>(winners[n], winners[n + 1u]); }

// A pack in which those elements are 1 whose winners are at a position.
fn ones_at(own: PackWinners, position: u32) -> vec4<u32> { return ones_where(own, vec2<u32>(position)); }
fn ones_where(own: PackWinners, positions: vec2<u32>) -> vec4<u32> {
    let zero = vec2<u32>(0u, 0u);
    return vec4<u32>(select(zero, ONE, own.x == positions.x), select(zero, ONE, own.y == positions.y));
}
