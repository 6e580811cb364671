// The winners of a pack of columns: of each lane those of the four words.
import package::{LANES, empty_unit, winners, with_one};

struct PackWinners { lane0: vec4<u32>, lane1: vec4<u32>, lane2: vec4<u32>, lane3: vec4<u32> }

fn pack_winners(n: u32) -> PackWinners {
    return PackWinners(lane_winners(n, 0u), lane_winners(n, 1u), lane_winners(n, 2u), lane_winners(n, 3u));
}

fn lane_winners(n: u32, lane: u32) -> vec4<u32> {
    if (lane >= LANES) {
        return vec4<u32>(0u);
    }
    let first = n + lane;
    return vec4<u32>(winners[first], winners[first + LANES], winners[first + 2u * LANES], winners[first + 3u * LANES]);
}

// A pack in which those elements are 1 whose winners are at a position.
fn ones_at(own: PackWinners, position: u32) -> vec4<u32> {
    let positions = vec4<u32>(position);
    var pack = lane_ones(own.lane0, positions, 0u);
    if (LANES > 1u) {
        pack |= lane_ones(own.lane1, positions, 1u);
    }
    if (LANES > 2u) {
        pack |= lane_ones(own.lane2, positions, 2u) | lane_ones(own.lane3, positions, 3u);
    }
    return pack;
}

fn lane_ones(own: vec4<u32>, positions: vec4<u32>, lane: u32) -> vec4<u32> {
    return select(vec4<u32>(0u), vec4<u32>(with_one(empty_unit(), lane)), own == positions);
}
