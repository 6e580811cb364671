// Ranks of elements of 8 and 16 bits: a tie above and, below it, the precedence of the element's number among others. The greatest rank
// is that of the winner.
import package::{ELEMENT_MASK, LAST};

const PRECEDENCE = ~ELEMENT_MASK; // the bits that a rank has below its tie

// The greater the sooner number n comes or, where LAST, the later. And back.
fn precedence_of(n: u32) -> u32 { return select(n ^ PRECEDENCE, n, LAST); }

fn rank_tie(rank: i32) -> i32 { return rank & bitcast<i32>(ELEMENT_MASK); }
fn rank_number(rank: i32) -> u32 { return precedence_of(bitcast<u32>(rank) & PRECEDENCE); }
