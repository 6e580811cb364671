// A pack of ones and zeros of which the first elements are one row's, and the others the next one's.
import package::{LANES, Pieces, lane_ones, winners};

fn ones_of_pieces(pieces: Pieces) -> vec4<u32> {
    var pack = lane_of_pieces(pieces, 0u);
    if (LANES > 1u) {
        pack |= lane_of_pieces(pieces, 1u);
    }
    if (LANES > 2u) {
        pack |= lane_of_pieces(pieces, 2u) | lane_of_pieces(pieces, 3u);
    }
    return pack;
}

fn lane_of_pieces(pieces: Pieces, lane: u32) -> vec4<u32> {
    let elements = vec4<u32>(0u, LANES, 2u * LANES, 3u * LANES) + lane;
    let behind = elements >= vec4<u32>(pieces.count);
    let n = elements + select(vec4<u32>(pieces.own), vec4<u32>(pieces.next), behind);
    let positions = select(vec4<u32>(pieces.position), vec4<u32>(pieces.next_position), behind);
    return lane_ones(vec4<u32>(winners[n.x], winners[n.y], winners[n.z], winners[n.w]), positions, lane);
}
