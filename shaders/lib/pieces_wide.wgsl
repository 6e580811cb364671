// A pack of ones and zeros of which the first elements are one row's, and the others the next one's.
import package::{ones_where, winners};

// The row's are `count` or all. Of element i the winner is number own + i or, in the next row, next + i.
struct Pieces { count: u32, own: u32, next: u32, position: u32, next_position: u32 }

fn ones_of_pieces(pieces: Pieces) -> vec4<u32> {
    let behind = pieces.count == 1u;
    let n = 1u + select(pieces.own, pieces.next, behind);
    let positions = vec2<u32>(pieces.position, select(pieces.position, pieces.next_position, behind));
    return ones_where(vec2<u32>(winners[pieces.own], winners[n]), positions);
}
