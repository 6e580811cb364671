// The winners of a pack's elements wherever rows end.
import package::{LANES, PackWinners, Stretch, params, winners};

// As rows: in the line that begins with such a row the element is one.
fn line_winners(own: Stretch) -> PackWinners {
    let none = vec4<u32>(0u);
    let a = word_winners(own, 0u);
    if (LANES == 1u) {
        return PackWinners(a, none, none, none);
    }
    let b = word_winners(own, 1u);
    if (LANES == 2u) {
        return PackWinners(a, b, none, none);
    }
    return PackWinners(a, b, word_winners(own, 2u), word_winners(own, 3u));
}

// Of the elements that are a word apart. They are of the stretch's block or, beyond its end, of the next one.
fn word_winners(own: Stretch, lane: u32) -> vec4<u32> {
    let elements = vec4<u32>(0u, LANES, 2u * LANES, 3u * LANES) + lane;
    // No more than 15 are divided: what is one part too much for each does not come to a row.
    let behind = ((elements - own.count) * own.per_element) >> vec4<u32>(16u);
    let rows = select(vec4<u32>(0u), 1u + behind, elements >= vec4<u32>(own.count));
    let leaves = rows >= vec4<u32>(own.rows_left);
    let columns = select(vec4<u32>(0u), vec4<u32>(params.columns), leaves);
    let n = min(own.winner + columns + elements - rows * params.columns, vec4<u32>(params.winners - 1u));
    let row = select(vec4<u32>(own.row), vec4<u32>(own.row + params.slice_len), leaves);
    return vec4<u32>(winners[n.x], winners[n.y], winners[n.z], winners[n.w]) + row - rows;
}
