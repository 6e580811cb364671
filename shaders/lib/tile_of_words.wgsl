// The maxima of a tile of columns of 16-bit floats that begin anywhere, out of five words each. These are not put together to packs: where
// a pack begins with the upper lane of a word, its even elements are the upper lanes of four words, its odd ones the lower lanes behind.
import package::{LANES, Maxima, WHOLE_WORDS, extremes_of, fifth_word, join_maxima, maxima_of, pack_from_word};

fn tile_maxima(rows: vec4<u32>) -> Maxima {
    let upper = join_maxima(maxima_from(rows.x), maxima_from(rows.y));
    return join_maxima(join_maxima(upper, maxima_from(rows.z)), maxima_from(rows.w));
}

// Of the pack that begins with element e.
fn maxima_from(e: u32) -> Maxima {
    let words = pack_from_word(e);
    if (WHOLE_WORDS) {
        return maxima_of(words);
    }
    let lane = e % LANES;
    let next = vec4<u32>(words.yzw, fifth_word(e));
    // Each moved to the top. Multiplied: SwiftShader takes vectors apart to shift them.
    let even = words * select(1u << 16u, 1u, lane == 1u);
    let odd = (words & vec4<u32>(lane - 1u)) | (next * (lane << 16u));
    return Maxima(extremes_of(even), extremes_of(odd));
}
