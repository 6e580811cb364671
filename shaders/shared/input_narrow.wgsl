// The input as words; element e is lane e % LANES of word e / LANES.
@group(0) @binding(1) var<storage, read> words: array<u32>;

fn element_key(e: u32) -> Key { return word_key(words[e / LANES], e % LANES); }
