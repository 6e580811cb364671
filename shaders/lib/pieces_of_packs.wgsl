// A pack of ones and zeros of which the first elements are one row's, and the others the next one's, where winners are as wide as
// elements.
import package::{
    FIRST_BITS, PACK_ELEMENTS, Pieces, equal_elements, first_elements, joined, ones_of_marks, pack_winners_from,
};

fn ones_of_pieces(pieces: Pieces) -> vec4<u32> {
    var winners = pack_winners_from(pieces.own);
    var positions = vec4<u32>(pieces.position * FIRST_BITS);
    if (pieces.count < PACK_ELEMENTS) {
        let own = first_elements(pieces.count);
        winners = joined(winners, pack_winners_from(pieces.next), own);
        positions = joined(positions, vec4<u32>(pieces.next_position * FIRST_BITS), own);
    }
    return ones_of_marks(equal_elements(winners, positions));
}
