// A pack of ones and zeros of which the first elements are one row's, and the others the next one's.
import package::{Pieces, ones_where, winners};

fn ones_of_pieces(pieces: Pieces) -> vec4<u32> {
    let behind = pieces.count == 1u;
    let n = 1u + select(pieces.own, pieces.next, behind);
    let positions = vec2<u32>(pieces.position, select(pieces.position, pieces.next_position, behind));
    return ones_where(vec2<u32>(winners[pieces.own], winners[n]), positions);
}
