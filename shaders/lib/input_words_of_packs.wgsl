// The input as words of the packs that are bound: of a buffer that others write to it is bound once.
import package::{PACK_PARTS, packs, part_word};

// Not the whole pack: SwiftShader loads each of its words by itself.
fn word(n: u32) -> u32 { return part_word(packs[n / 4u][n % 4u / (4u / PACK_PARTS)], n); }
fn word_count() -> u32 { return arrayLength(&packs) * 4u; }
