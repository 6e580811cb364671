// A pack of ones and zeros of 8 or 16 bits.
import package::{LANES, lane_ones};

// The winners of a pack's elements: of each lane those of the four words.
struct PackWinners { lane0: vec4<u32>, lane1: vec4<u32>, lane2: vec4<u32>, lane3: vec4<u32> }

// A pack in which those elements are 1 whose winners are at a position.
fn ones_at(own: PackWinners, position: u32) -> vec4<u32> {
    let positions = vec4<u32>(position);
    var pack = lane_ones(own.lane0, positions, 0u) | lane_ones(own.lane1, positions, 1u);
    if (LANES > 2u) {
        pack |= lane_ones(own.lane2, positions, 2u) | lane_ones(own.lane3, positions, 3u);
    }
    return pack;
}
