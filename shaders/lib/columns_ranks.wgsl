// Positions of columns of 8 and 16 bits: of each the greatest rank so far, which has the precedence of a row among those of a chunk. A
// chunk has no more rows than a rank can tell apart (`most_ranked` in src/plan/device.rs).
import package::{
    Best, Chunk, ELEMENT_MASK, LANES, LEAST, PRECEDENCE, SIGNED_ZEROS, SPLIT, STORES_KEYS, index_word, key_below,
    key_of_tie, keys_of_ties, params, precedence_of, rank_number, rank_tie, ties_of, ties_of_keys, words_bits,
};

const KEEPS_SIGNS = STORES_KEYS && SIGNED_ZEROS; // elsewhere ties tell keys

// Beside the ranks the row that the chunk begins with and, only where KEEPS_SIGNS, the greatest tie of all elements but -0: where the
// greatest of all is that of zeros it is negative if no +0 was seen.
struct ColumnBests { ranks: array<vec4<i32>, LANES>, first_row: u32, signs: array<vec4<i32>, LANES> }

// Nothing is less. Every lane without a loop, be there 2 or 4.
fn no_column_bests(chunk: Chunk) -> ColumnBests {
    var bests: ColumnBests;
    forget(&bests, 0u);
    forget(&bests, 1u);
    forget(&bests, LANES / 2u);
    forget(&bests, LANES - 1u);
    if (SPLIT) { // a team's member begins with a row of its own
        bests.first_row = chunk.number * params.chunk_len;
    }
    return bests;
}
fn forget(bests: ptr<function, ColumnBests>, lane: u32) {
    (*bests).ranks[lane] = vec4<i32>(LEAST);
    (*bests).signs[lane] = vec4<i32>(LEAST);
}

// What a member of a team shares of them: of each column the rank. Where KEEPS_SIGNS the key is above in it, of which tie and sign
// can be made.
alias ColumnPart = array<vec4<u32>, LANES>;

fn part_of_columns(bests: ColumnBests) -> ColumnPart {
    var part: ColumnPart;
    part[0] = shared_words(bests, 0u);
    part[1] = shared_words(bests, 1u);
    part[LANES / 2u] = shared_words(bests, LANES / 2u);
    part[LANES - 1u] = shared_words(bests, LANES - 1u);
    return part;
}

fn shared_words(bests: ColumnBests, lane: u32) -> vec4<u32> {
    let ranks = bests.ranks[lane];
    if (!KEEPS_SIGNS) {
        return bitcast<vec4<u32>>(ranks);
    }
    let ties = ranks & vec4<i32>(bitcast<i32>(ELEMENT_MASK));
    let keys = keys_of_ties(ties);
    let minus_zero = (ties == vec4<i32>(0)) & (bests.signs[lane] < vec4<i32>(0));
    let signed_keys = select(keys, keys - vec4<u32>(PRECEDENCE + 1u), minus_zero);
    return signed_keys | (bitcast<vec4<u32>>(ranks) & vec4<u32>(PRECEDENCE));
}

// Of one lane of each word.
fn lane_positions(bests: ColumnBests, lane: u32) -> vec4<u32> {
    let ranks = bests.ranks[lane];
    return vec4<u32>(
        index_word(best_of_rank(ranks.x, bests.first_row), 0u),
        index_word(best_of_rank(ranks.y, bests.first_row), 0u),
        index_word(best_of_rank(ranks.z, bests.first_row), 0u),
        index_word(best_of_rank(ranks.w, bests.first_row), 0u),
    );
}

fn best_of_rank(rank: i32, first_row: u32) -> Best {
    return Best(key_of_tie(rank_tie(rank)), first_row + rank_number(rank));
}

fn column_best(bests: ptr<function, ColumnBests>, i: u32) -> Best {
    let rank = (*bests).ranks[i % LANES][i / LANES];
    let best = best_of_rank(rank, (*bests).first_row);
    let minus_zero = KEEPS_SIGNS && rank_tie(rank) == 0 && (*bests).signs[i % LANES][i / LANES] < 0;
    return Best(select(best.key, key_below(best.key), minus_zero), best.position);
}

// No loop over lanes: it would cost as much as what it does.
fn offer_row(bests: ptr<function, ColumnBests>, pack: vec4<u32>, r: u32) {
    let precedence = precedence_of(r - (*bests).first_row);
    offer_lane(bests, words_bits(pack, 0u), precedence, 0u);
    offer_lane(bests, words_bits(pack, 1u), precedence, 1u);
    if (LANES > 2u) {
        offer_lane(bests, words_bits(pack, 2u), precedence, 2u);
        offer_lane(bests, words_bits(pack, 3u), precedence, 3u);
    }
}

fn offer_lane(bests: ptr<function, ColumnBests>, bits: vec4<u32>, precedence: u32, lane: u32) {
    let ties = ties_of(bits);
    (*bests).ranks[lane] = max((*bests).ranks[lane], ties | vec4<i32>(bitcast<i32>(precedence)));
    if (KEEPS_SIGNS) {
        let others = select(ties, vec4<i32>(LEAST), bits == vec4<u32>(0x80000000u));
        (*bests).signs[lane] = max((*bests).signs[lane], others);
    }
}

// With those of any other rows of the chunk.
fn join_columns(bests: ptr<function, ColumnBests>, other: ColumnPart) {
    join_lane(bests, other, 0u);
    join_lane(bests, other, 1u);
    if (LANES > 2u) {
        join_lane(bests, other, 2u);
        join_lane(bests, other, 3u);
    }
}

fn join_lane(bests: ptr<function, ColumnBests>, other: ColumnPart, lane: u32) {
    let words = other[lane];
    var ranks = bitcast<vec4<i32>>(words);
    if (KEEPS_SIGNS) {
        let keys = words & vec4<u32>(ELEMENT_MASK);
        ranks = ties_of_keys(keys) | bitcast<vec4<i32>>(words & vec4<u32>(PRECEDENCE));
        (*bests).signs[lane] = max((*bests).signs[lane], bitcast<vec4<i32>>(keys ^ vec4<u32>(0x80000000u)));
    }
    (*bests).ranks[lane] = max((*bests).ranks[lane], ranks);
}
