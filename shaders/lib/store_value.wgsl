// Values alone.
import package::{Best, Unit, with_element};

fn store_lane(unit: Unit, lane: u32, task: u32, best: Best) -> Unit { return with_element(unit, lane, best.key); }
