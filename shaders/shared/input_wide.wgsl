// The input as words; element e is words 2e and 2e + 1.
@group(0) @binding(1) var<storage, read> words: array<u32>;

fn element_key(e: u32) -> Key { return key_of(vec2<u32>(words[2u * e], words[2u * e + 1u])); }
