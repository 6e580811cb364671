// Positions of columns. The maxima of a tile, or of two where FOUR_PACKS, are compared once with the best so far, column by
// column, and the row is found at the end by reading the winning tile again; where ROW_BY_ROW, rows are what is compared.
// Narrow types only.
import package::{
    Best, ELEMENT_BITS, ELEMENT_MASK, FOUR_PACKS, LANES, LAST, LEAST, Maxima, RAGGED, ROW_BY_ROW, STORES_KEYS, four_words,
    index_word, key_of_tie, lane_maxima, lane_ties, maxima_of, params, run_of, run_within, ties_of, ties_of_keys, words_at,
    words_bits,
};

// Of each column the greatest tie so far, the row that it is in, or that its tile begins with, and, only where they are stored, the greatest
// key, which tells +0 from -0.
struct ColumnBests { ties: array<vec4<i32>, LANES>, rows: array<vec4<u32>, LANES>, keys: array<vec4<u32>, LANES> }

// Nothing is less: until something is greater, the first tile has won. Every lane without a loop, be there 1, 2 or 4.
fn no_column_bests(first_row: u32) -> ColumnBests {
    var bests: ColumnBests;
    bests.ties[0] = vec4<i32>(LEAST);
    bests.rows[0] = vec4<u32>(first_row);
    bests.ties[LANES - 1u] = vec4<i32>(LEAST);
    bests.rows[LANES - 1u] = vec4<u32>(first_row);
    bests.ties[LANES / 2u] = vec4<i32>(LEAST);
    bests.rows[LANES / 2u] = vec4<u32>(first_row);
    bests.ties[LANES / 4u] = vec4<i32>(LEAST);
    bests.rows[LANES / 4u] = vec4<u32>(first_row);
    return bests;
}

// What a member of a team shares of them: the rows, and of each column the tie or, where it is stored, the key, of which a tie can be
// made.
struct ColumnPart { best: array<vec4<u32>, LANES>, rows: array<vec4<u32>, LANES> }

fn part_of_columns(bests: ColumnBests) -> ColumnPart {
    var part = ColumnPart(bests.keys, bests.rows);
    if (!STORES_KEYS) {
        part.best[0] = bitcast<vec4<u32>>(bests.ties[0]);
        part.best[LANES - 1u] = bitcast<vec4<u32>>(bests.ties[LANES - 1u]);
        part.best[LANES / 2u] = bitcast<vec4<u32>>(bests.ties[LANES / 2u]);
        part.best[LANES / 4u] = bitcast<vec4<u32>>(bests.ties[LANES / 4u]);
    }
    return part;
}

// Of one lane of each word.
fn lane_positions(bests: ColumnBests, lane: u32) -> vec4<u32> {
    let ties = bests.ties[lane];
    let rows = bests.rows[lane];
    return vec4<u32>(
        index_word(Best(key_of_tie(ties.x), rows.x), 0u),
        index_word(Best(key_of_tie(ties.y), rows.y), 0u),
        index_word(Best(key_of_tie(ties.z), rows.z), 0u),
        index_word(Best(key_of_tie(ties.w), rows.w), 0u),
    );
}

fn column_best(bests: ptr<function, ColumnBests>, i: u32) -> Best {
    let key = select(key_of_tie((*bests).ties[i % LANES][i / LANES]), (*bests).keys[i % LANES][i / LANES], STORES_KEYS);
    return Best(key, (*bests).rows[i % LANES][i / LANES]);
}

// The winners' own rows in the place of those that their tiles begin with.
fn located(bests: ColumnBests, start: u32, end: u32) -> ColumnBests {
    if (ROW_BY_ROW) {
        return bests;
    }
    var found = bests;
    if (LANES == 1u) {
        found.rows[0] = locate(start, 0u, found.rows[0], end, found.ties[0]);
        return found;
    }
    var lane = 0u;
    loop {
        if (lane >= LANES) {
            break;
        }
        found.rows[lane] = locate(start, lane, found.rows[lane], end, found.ties[lane]);
        continuing {
            lane += 1u;
            break if lane >= LANES;
        }
    }
    return found;
}

// No loop over lanes: it would cost as much as what it does.
fn offer_rows(bests: ptr<function, ColumnBests>, tile: Maxima, r: u32) {
    offer_lane(bests, tile, r, 0u);
    if (LANES > 1u) {
        offer_lane(bests, tile, r, 1u);
    }
    if (LANES > 2u) {
        offer_lane(bests, tile, r, 2u);
        offer_lane(bests, tile, r, 3u);
    }
}

// The same of one row, whose elements' ties are fewer steps away than those of maxima are.
fn offer_row(bests: ptr<function, ColumnBests>, pack: vec4<u32>, r: u32) {
    if (STORES_KEYS) {
        offer_rows(bests, maxima_of(pack), r);
        return;
    }
    offer_ties(bests, ties_of(words_bits(pack, 0u)), r, 0u);
    if (LANES > 1u) {
        offer_ties(bests, ties_of(words_bits(pack, 1u)), r, 1u);
    }
    if (LANES > 2u) {
        offer_ties(bests, ties_of(words_bits(pack, 2u)), r, 2u);
        offer_ties(bests, ties_of(words_bits(pack, 3u)), r, 3u);
    }
}

// With those of any other rows.
fn join_columns(bests: ptr<function, ColumnBests>, other: ColumnPart) {
    join_lane(bests, other, 0u);
    if (LANES > 1u) {
        join_lane(bests, other, 1u);
    }
    if (LANES > 2u) {
        join_lane(bests, other, 2u);
        join_lane(bests, other, 3u);
    }
}

fn join_lane(bests: ptr<function, ColumnBests>, other: ColumnPart, lane: u32) {
    var ties = bitcast<vec4<i32>>(other.best[lane]);
    if (STORES_KEYS) {
        ties = ties_of_keys(other.best[lane]);
        (*bests).keys[lane] = max((*bests).keys[lane], other.best[lane]);
    }
    let best = (*bests).ties[lane];
    let comes_first = (other.rows[lane] < (*bests).rows[lane]) != vec4<bool>(LAST);
    let takes = (ties > best) | ((ties == best) & comes_first);
    (*bests).rows[lane] = select((*bests).rows[lane], other.rows[lane], takes);
    (*bests).ties[lane] = select(best, ties, takes);
}

fn offer_lane(bests: ptr<function, ColumnBests>, tile: Maxima, r: u32, lane: u32) {
    offer_ties(bests, lane_ties(tile, lane), r, lane);
    if (STORES_KEYS) {
        (*bests).keys[lane] = max((*bests).keys[lane], lane_maxima(tile, lane));
    }
}

fn offer_ties(bests: ptr<function, ColumnBests>, ties: vec4<i32>, r: u32, lane: u32) {
    let best = (*bests).ties[lane];
    let takes = (ties > best) | (vec4<bool>(LAST) & (ties == best));
    (*bests).rows[lane] = select((*bests).rows[lane], vec4<u32>(r), takes);
    (*bests).ties[lane] = select(best, ties, takes);
}

// The rows of the winning tiles, which begin at `tiles`, that have their ties: of one lane of each word, also of columns
// that a ragged pack does not have, of which nothing is stored. A winner may have had fewer rows than are looked through:
// rows behind them come too late where the first wins, and have lost where the last does.
fn locate(start: u32, lane: u32, tiles: vec4<u32>, end: u32, ties: vec4<i32>) -> vec4<u32> {
    let tile_len = select(4u, 8u, FOUR_PACKS);
    let run0 = run_within(run_of(tiles.x), tiles.x, end);
    let run1 = run_within(run_of(tiles.y), tiles.y, end);
    let run2 = run_within(run_of(tiles.z), tiles.z, end);
    let run3 = run_within(run_of(tiles.w), tiles.w, end);
    let begin = start + vec4<u32>(run0.offset, run1.offset, run2.offset, run3.offset)
        + vec4<u32>(0u, LANES, 2u * LANES, 3u * LANES);
    let last = vec4<u32>(run0.len, run1.len, run2.len, run3.len) - 1u;
    var found = tiles;
    var i = 0u;
    loop {
        if (i >= tile_len) {
            break;
        }
        let row = min(vec4<u32>(select(tile_len - 1u - i, i, LAST)), last); // whoever comes last stays
        let e = begin + row * params.run_stride;
        found = select(found, tiles + row, ties_of(column_bits(e, lane)) == ties);
        continuing {
            i += 1u;
            break if i >= tile_len;
        }
    }
    return found;
}

// Lane `lane` of the words that begin with four elements. Where RAGGED, columns that are no one's may lie outside the binding.
fn column_bits(e: vec4<u32>, lane: u32) -> vec4<u32> {
    if (!RAGGED) {
        return words_bits(four_words(e / LANES), lane);
    }
    let own = e + lane;
    let here = words_at(bitcast<vec4<i32>>(own) >> vec4<u32>(LANES / 2u));
    return (here << (32u - ELEMENT_BITS * (own % LANES + 1u))) & vec4<u32>(ELEMENT_MASK);
}
