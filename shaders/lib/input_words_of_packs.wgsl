// The input as words of the packs that are bound: of a buffer that others write to it is bound once.
import package::{packs, words_of};

fn word(n: u32) -> u32 { return words_of(packs[n / 4u])[n % 4u]; }
fn word_count() -> u32 { return arrayLength(&packs) * 4u; }
