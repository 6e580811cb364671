// Ranks of elements of 8 and 16 bits: a tie above, and below it a place, which says where among others the element stands. The greatest
// rank is that of the winner.
import package::{ELEMENT_MASK, LAST};

const LAST_PLACE = ~ELEMENT_MASK;

// The place of number n: the greater the sooner or, where LAST, the later it comes. And back.
fn place_of_number(n: u32) -> u32 { return select(n ^ LAST_PLACE, n, LAST); }

fn rank_tie(rank: i32) -> i32 { return rank & bitcast<i32>(ELEMENT_MASK); }
fn rank_number(rank: i32) -> u32 { return place_of_number(bitcast<u32>(rank) & LAST_PLACE); }
