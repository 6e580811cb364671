// What a pack has of a row and, behind its first `count` elements, of the next one: of element i the winner is number own + i or
// next + i.
struct Pieces { count: u32, own: u32, next: u32, position: u32, next_position: u32 }
