// Winners alone: positions as wide as elements.
import package::{Best, ELEMENT_BITS, Unit, index_word};

fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit {
    return unit | (index_word(best, 0u) << (ELEMENT_BITS * lane));
}
