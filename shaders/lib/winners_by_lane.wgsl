// The winners of a pack of columns, or of a bunch of short rows, which are bound four at once: of each lane those of the four words.
import package::{LANES, lane_ones};

@group(0) @binding(1) var<storage, read> winners: array<vec4<u32>>;

// The winners of a pack's elements: of each lane those of the four words.
struct PackWinners { lane0: vec4<u32>, lane1: vec4<u32>, lane2: vec4<u32>, lane3: vec4<u32> }

// From number n on, a multiple of four.
fn pack_winners(n: u32) -> PackWinners {
    let none = vec4<u32>(0u);
    let p = n / 4u;
    let a = winners[p];
    let b = winners[p + 1u];
    if (LANES == 2u) {
        return PackWinners(vec4<u32>(a.xz, b.xz), vec4<u32>(a.yw, b.yw), none, none);
    }
    let c = winners[p + 2u];
    let d = winners[p + 3u];
    return PackWinners(
        vec4<u32>(a.x, b.x, c.x, d.x),
        vec4<u32>(a.y, b.y, c.y, d.y),
        vec4<u32>(a.z, b.z, c.z, d.z),
        vec4<u32>(a.w, b.w, c.w, d.w),
    );
}

// A pack in which those elements are 1 whose winners are at a position.
fn ones_at(own: PackWinners, position: u32) -> vec4<u32> {
    let positions = vec4<u32>(position);
    var pack = lane_ones(own.lane0, positions, 0u) | lane_ones(own.lane1, positions, 1u);
    if (LANES > 2u) {
        pack |= lane_ones(own.lane2, positions, 2u) | lane_ones(own.lane3, positions, 3u);
    }
    return pack;
}
