// A pack of ones and zeros of which the first elements are one row's, and the others the next one's, where winners are as wide as
// elements.
import package::{FIRST_BITS, Pieces, elements_from, equal_elements, ones_of_marks, pack_winners_from};

fn ones_of_pieces(pieces: Pieces) -> vec4<u32> {
    let own = equal_elements(pack_winners_from(pieces.own), vec4<u32>(pieces.position * FIRST_BITS));
    let next = equal_elements(pack_winners_from(pieces.next), vec4<u32>(pieces.next_position * FIRST_BITS));
    let behind = elements_from(pieces.count);
    return ones_of_marks((own & ~behind) | (next & behind));
}
