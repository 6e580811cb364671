// Positions in one window: 32 bits.
import package::{Best, Key};

alias Position = u32;

const NO_POSITION = 0xffffffffu; // nothing seen yet

fn is_none(position: Position) -> bool { return position == NO_POSITION; }
fn is_before(a: Position, b: Position) -> bool { return a < b; }
fn position_word(position: Position, i: u32) -> u32 { return select(position, 0u, i == 1u); }
// Of a column, so many rows up, but not above the first.
fn rows_earlier(best: Best, rows: u32) -> Best { return Best(best.key, max(best.position, rows) - rows); }
fn best_of(key: Key, position: u32) -> Best { return Best(key, position); }
