// 16-byte packs as they are bound: four words.
alias BoundPack = vec4<u32>;
const PACK_PARTS = 4u;

fn words_of(pack: BoundPack) -> vec4<u32> { return pack; }
fn bound_pack(words: vec4<u32>) -> BoundPack { return words; }
fn materialized(words: vec4<u32>) -> vec4<u32> { return words; }
fn stored_pack(words: vec4<u32>) -> BoundPack { return words; }

// Word number n, of the part of a pack that has it.
fn part_word(part: u32, n: u32) -> u32 { return part; }
