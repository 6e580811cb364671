// The input as words.
@group(0) @binding(1) var<storage, read> words: array<u32>;

fn word(n: u32) -> u32 { return words[n]; }
fn word_count() -> u32 { return arrayLength(&words); }
