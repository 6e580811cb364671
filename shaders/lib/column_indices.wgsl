// The positions of a pack of columns, stored as indices.
import package::{COLUMN_PACKS, ColumnBests, LANES, STORES_KEYS, STORES_PACKS, lane_positions, store_positions};

// Stores those of a whole pack with no loop, where nothing is stored beside them. Of several packs side by side that would be text that
// takes seconds to compile, were it word by word.
fn stored_whole(bests: ColumnBests, first: u32) -> bool {
    if (STORES_KEYS || (COLUMN_PACKS > 1u && !STORES_PACKS)) {
        return false;
    }
    let a = lane_positions(bests, 0u);
    let c = lane_positions(bests, LANES / 2u);
    if (LANES == 1u) {
        store_positions(first, a);
    } else if (LANES == 2u) {
        store_positions(first, vec4<u32>(a.x, c.x, a.y, c.y));
        store_positions(first + 4u, vec4<u32>(a.z, c.z, a.w, c.w));
    } else {
        let b = lane_positions(bests, LANES / 4u);
        let d = lane_positions(bests, LANES - 1u);
        store_positions(first, vec4<u32>(a.x, b.x, c.x, d.x));
        store_positions(first + 4u, vec4<u32>(a.y, b.y, c.y, d.y));
        store_positions(first + 8u, vec4<u32>(a.z, b.z, c.z, d.z));
        store_positions(first + 12u, vec4<u32>(a.w, b.w, c.w, d.w));
    }
    return true;
}
