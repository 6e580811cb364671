// Values of columns: the greatest element of each, and nothing else.
import package::{Best, Chunk, Maxima, element_maximum, join_maxima, maxima_of, no_maxima, pack_of, store_values};

alias ColumnBests = Maxima;
alias ColumnPart = Maxima; // what a member of a team shares of them: all

fn part_of_columns(bests: ColumnBests) -> ColumnPart { return bests; }
fn no_column_bests(chunk: Chunk) -> ColumnBests { return no_maxima(); }
fn offer_row(bests: ptr<function, ColumnBests>, pack: vec4<u32>, r: u32) { *bests = join_maxima(*bests, maxima_of(pack)); }

// With those of any other rows.
fn join_columns(bests: ptr<function, ColumnBests>, other: ColumnPart) { *bests = join_maxima(*bests, other); }
fn column_best(bests: ptr<function, ColumnBests>, i: u32) -> Best { return Best(element_maximum(*bests, i)); }

// Stores a whole pack at once.
fn stored_whole(bests: ColumnBests, first: u32) -> bool {
    store_values(first, pack_of(bests));
    return true;
}
