// Positions of columns of 32 bits: of each the greatest tie so far, and its row. Where there are TILES, the maxima of one are compared
// with the best so far, and the row is found at the end by reading the winning tile again.
import package::{
    Best, Chunk, LAST, LEAST, Maxima, RAGGED, SIGNED_ZEROS, STORES_KEYS, four_words, index_word, key_of_tie, lane_maxima,
    maxima_of, params, run_of, run_within, ties_of, ties_of_keys, ties_of_maxima, words_at, words_bits,
};

const KEEPS_KEYS = STORES_KEYS && SIGNED_ZEROS; // elsewhere ties tell them

override TILES: bool = false; // four rows are compared at once

// Of each column the greatest tie so far, the row that it is in, or that its tile begins with, and, only where they are kept, the greatest
// key, which tells +0 from -0.
struct ColumnBests { ties: vec4<i32>, rows: vec4<u32>, keys: vec4<u32> }

// Nothing is less: until something is greater, the first tile has won.
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

fn offer_rows(bests: ptr<function, ColumnBests>, tile: Maxima, r: u32) {
    offer_ties(bests, ties_of_maxima(tile), r);
    if (KEEPS_KEYS) {
        (*bests).keys = max((*bests).keys, lane_maxima(tile, 0u));
    }
}

// The same of one row, whose elements' ties are fewer steps away than those of maxima are.
fn offer_row(bests: ptr<function, ColumnBests>, pack: vec4<u32>, r: u32) {
    if (KEEPS_KEYS) {
        offer_rows(bests, maxima_of(pack), r);
        return;
    }
    offer_ties(bests, ties_of(words_bits(pack, 0u)), r);
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

// The winners' own rows in the place of those that their tiles begin with: the rows that have their ties, also of columns that a
// ragged pack does not have, of which nothing is stored. A winner may have had fewer rows than are looked through: rows behind them
// come too late where the first wins, and have lost where the last does.
fn located(bests: ColumnBests, start: u32, end: u32) -> ColumnBests {
    if (!TILES) {
        return bests;
    }
    let tiles = bests.rows;
    let run0 = run_within(run_of(tiles.x), tiles.x, end);
    let run1 = run_within(run_of(tiles.y), tiles.y, end);
    let run2 = run_within(run_of(tiles.z), tiles.z, end);
    let run3 = run_within(run_of(tiles.w), tiles.w, end);
    let begin = start + vec4<u32>(run0.offset, run1.offset, run2.offset, run3.offset) + vec4<u32>(0u, 1u, 2u, 3u);
    let last = vec4<u32>(run0.len, run1.len, run2.len, run3.len) - 1u;
    var found = bests;
    var i = 0u;
    loop {
        if (i >= 4u) {
            break;
        }
        let row = min(vec4<u32>(select(3u - i, i, LAST)), last); // whoever comes last stays
        let same = ties_of(column_words(begin + row * params.run_stride)) == bests.ties;
        found.rows = select(found.rows, tiles + row, same);
        continuing {
            i += 1u;
            break if i >= 4u;
        }
    }
    return found;
}

// Where RAGGED, columns that are no one's may lie outside the binding.
fn column_words(e: vec4<u32>) -> vec4<u32> {
    if (RAGGED) {
        return words_at(bitcast<vec4<i32>>(e));
    }
    return four_words(e);
}
