// Positions in a whole tensor: 64 bits, the low word first.
alias Position = vec2<u32>;

const NO_POSITION = vec2<u32>(0xffffffffu, 0xffffffffu); // nothing seen yet

fn is_none(position: Position) -> bool { return all(position == NO_POSITION); }
fn is_before(a: Position, b: Position) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }
fn position_word(position: Position, i: u32) -> u32 { return position[i]; }
