// The positions of a pack of columns as a pack of winners, which are as wide as elements and stored as values are.
import package::{ColumnBests, ELEMENT_BITS, LANES, lane_positions, store_values};

fn stored_whole(bests: ColumnBests, first: u32) -> bool {
    // Multiplied: SwiftShader takes vectors apart to shift them.
    var pack = lane_positions(bests, 0u) | (lane_positions(bests, LANES - 1u) * (1u << (32u - ELEMENT_BITS)));
    if (LANES > 2u) {
        pack |= lane_positions(bests, 1u) * (1u << ELEMENT_BITS);
        pack |= lane_positions(bests, LANES / 2u) * (1u << (2u * ELEMENT_BITS % 32u));
    }
    store_values(first, pack);
    return true;
}
