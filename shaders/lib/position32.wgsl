// Positions in one window: 32 bits.
import package::{Best, Key};

alias Position = u32;

const NO_POSITION = 0xffffffffu; // nothing seen yet

fn is_none(position: Position) -> bool { return position == NO_POSITION; }
fn is_before(a: Position, b: Position) -> bool { return a < b; }
fn position_word(position: Position, i: u32) -> u32 { return select(position, 0u, i == 1u); }
fn best_of(key: Key, position: u32) -> Best { return Best(key, position); }
