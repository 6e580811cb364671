// Positions of columns of 64-bit types, which are compared row by row: a pack has but two of them.
import package::{
    Best, Chunk, LAST, LEAST_TIE, Maxima, STORES_KEYS, Tie, element_maximum, empty_unit, join_maxima, key_of_tie, maxima_of, no_maxima,
    store_lane, tie_equal, tie_greater, tie_key,
};

// Of each column the greatest tie so far, the row that has it and, only where they are stored, the greatest key, which tells
// +0 from -0.
struct ColumnBests { ties: array<Tie, 2>, rows: vec2<u32>, keys: Maxima }

alias ColumnPart = ColumnBests; // what a member of a team shares of them: all

fn part_of_columns(bests: ColumnBests) -> ColumnPart { return bests; }

// Nothing is less: until something is greater, the first row has won.
fn no_column_bests(chunk: Chunk) -> ColumnBests {
    return ColumnBests(array<Tie, 2>(LEAST_TIE, LEAST_TIE), vec2<u32>(chunk.begin), no_maxima());
}

fn offer_row(bests: ptr<function, ColumnBests>, pack: vec4<u32>, r: u32) {
    let row = maxima_of(pack);
    let first = tie_key(element_maximum(row, 0u));
    let second = tie_key(element_maximum(row, 1u));
    let takes = vec2<bool>(takes_over(first, (*bests).ties[0]), takes_over(second, (*bests).ties[1]));
    take_columns(bests, ColumnBests(array<Tie, 2>(first, second), vec2<u32>(r), row), takes);
}

// With those of any other rows.
fn join_columns(bests: ptr<function, ColumnBests>, other: ColumnPart) {
    let comes_first = (other.rows < (*bests).rows) != vec2<bool>(LAST);
    let first = tie_greater(other.ties[0], (*bests).ties[0]) | (tie_equal(other.ties[0], (*bests).ties[0]) & comes_first.x);
    let second = tie_greater(other.ties[1], (*bests).ties[1]) | (tie_equal(other.ties[1], (*bests).ties[1]) & comes_first.y);
    take_columns(bests, other, vec2<bool>(first, second));
}

fn take_columns(bests: ptr<function, ColumnBests>, other: ColumnBests, takes: vec2<bool>) {
    (*bests).rows = select((*bests).rows, other.rows, takes);
    (*bests).ties[0] = select((*bests).ties[0], other.ties[0], takes.x);
    (*bests).ties[1] = select((*bests).ties[1], other.ties[1], takes.y);
    if (STORES_KEYS) {
        (*bests).keys = join_maxima((*bests).keys, other.keys);
    }
}

fn takes_over(tie: Tie, best: Tie) -> bool { return tie_greater(tie, best) | (LAST & tie_equal(tie, best)); }

fn column_best(bests: ptr<function, ColumnBests>, i: u32) -> Best {
    let key = select(key_of_tie((*bests).ties[i]), element_maximum((*bests).keys, i), STORES_KEYS);
    return Best(key, (*bests).rows[i]);
}

// Stores the positions of both, where nothing is stored beside them.
fn stored_whole(bests: ColumnBests, first: u32) -> bool {
    if (!STORES_KEYS) {
        store_lane(empty_unit(), 0u, first, Best(key_of_tie(bests.ties[0]), bests.rows.x));
        store_lane(empty_unit(), 0u, first + 1u, Best(key_of_tie(bests.ties[1]), bests.rows.y));
    }
    return !STORES_KEYS;
}
