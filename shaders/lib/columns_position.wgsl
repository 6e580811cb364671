// Positions of columns of 32 bits: of each the greatest tie so far, and its row.
import package::{
    Best, Chunk, LAST, LEAST, SIGNED_ZEROS, STORES_KEYS, index_word, key_of_tie, lane_maxima, maxima_of, ties_of, ties_of_keys,
    ties_of_maxima, words_bits,
};

const KEEPS_KEYS = STORES_KEYS && SIGNED_ZEROS; // elsewhere ties tell them

// Of each column the greatest tie so far, the row that it is in and, only where they are kept, the greatest key, which tells +0 from -0.
struct ColumnBests { ties: vec4<i32>, rows: vec4<u32>, keys: vec4<u32> }

// Nothing is less: until something is greater, the first row has won.
fn no_column_bests(chunk: Chunk) -> ColumnBests {
    return ColumnBests(vec4<i32>(LEAST), vec4<u32>(chunk.begin), vec4<u32>(0u));
}

// What a member of a team shares of them: the rows, and of each column the tie or, where it is kept, the key, of which a tie can be
// made.
struct ColumnPart { best: vec4<u32>, rows: vec4<u32> }

fn part_of_columns(bests: ColumnBests) -> ColumnPart {
    return ColumnPart(select(bitcast<vec4<u32>>(bests.ties), bests.keys, vec4<bool>(KEEPS_KEYS)), bests.rows);
}

// Of words' only lane.
fn lane_positions(bests: ColumnBests, lane: u32) -> vec4<u32> {
    let ties = bests.ties;
    let rows = bests.rows;
    return vec4<u32>(
        index_word(Best(key_of_tie(ties.x), rows.x), 0u),
        index_word(Best(key_of_tie(ties.y), rows.y), 0u),
        index_word(Best(key_of_tie(ties.z), rows.z), 0u),
        index_word(Best(key_of_tie(ties.w), rows.w), 0u),
    );
}

fn column_best(bests: ptr<function, ColumnBests>, i: u32) -> Best {
    return Best(select(key_of_tie((*bests).ties[i]), (*bests).keys[i], KEEPS_KEYS), (*bests).rows[i]);
}

// Elements' ties are fewer steps away than those of maxima, which know keys.
fn offer_row(bests: ptr<function, ColumnBests>, pack: vec4<u32>, r: u32) {
    if (!KEEPS_KEYS) {
        offer_ties(bests, ties_of(words_bits(pack, 0u)), r);
        return;
    }
    let maxima = maxima_of(pack);
    offer_ties(bests, ties_of_maxima(maxima), r);
    (*bests).keys = max((*bests).keys, lane_maxima(maxima, 0u));
}

fn offer_ties(bests: ptr<function, ColumnBests>, ties: vec4<i32>, r: u32) {
    let best = (*bests).ties;
    let takes = (ties > best) | (vec4<bool>(LAST) & (ties == best));
    (*bests).rows = select((*bests).rows, vec4<u32>(r), takes);
    (*bests).ties = select(best, ties, takes);
}

// With those of any other rows.
fn join_columns(bests: ptr<function, ColumnBests>, other: ColumnPart) {
    var ties = bitcast<vec4<i32>>(other.best);
    if (KEEPS_KEYS) {
        ties = ties_of_keys(other.best);
        (*bests).keys = max((*bests).keys, other.best);
    }
    let best = (*bests).ties;
    let comes_first = (other.rows < (*bests).rows) != vec4<bool>(LAST);
    let takes = (ties > best) | ((ties == best) & comes_first);
    (*bests).rows = select((*bests).rows, other.rows, takes);
    (*bests).ties = select(best, ties, takes);
}
