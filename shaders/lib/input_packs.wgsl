// The same input as 16-byte packs, for the bulk of the loads. A pack that is not wholly inside the input's binding is put together
// from words. Of one that is not wholly wanted, the rest is masked.
import package::{
    BoundPack, PACK_ELEMENTS, first_elements, four_words, joined, least_pack, pack_between, pack_from, word_count, words_at,
    words_of,
};

@group(0) @binding(2) var<storage, read> packs: array<BoundPack>;

// Whether runs, rows of columns or bunches of short rows begin or end within a pack.
override RAGGED: bool = false;

// Packs that begin anywhere come out of two whole ones, and not word by word: neighbours on a GPU load whole sectors of memory, and
// others a pack as fast as a word.
override PAIRS: bool = false;

fn pack_at(p: u32) -> vec4<u32> { return words_of(packs[p]); }

// The pack that begins with element e, wherever that is.
fn pack_anywhere(e: u32) -> vec4<u32> {
    let p = e / PACK_ELEMENTS;
    if (PAIRS && p + 1u < arrayLength(&packs)) {
        return pack_between(pack_at(p), pack_at(p + 1u), e);
    }
    return pack_from(e);
}

// What the binding has behind its last whole pack.
fn words_behind_packs() -> vec4<u32> {
    return words_at(bitcast<vec4<i32>>(4u * arrayLength(&packs) + vec4<u32>(0u, 1u, 2u, 3u)));
}

// Pack number p; elements outside [begin, end) are such that they lose.
fn partial_pack(p: u32, begin: u32, end: u32) -> vec4<u32> {
    return masked_pack(four_words(p * 4u + vec4<u32>(0u, 1u, 2u, 3u)), p, begin, end);
}

fn masked_pack(raw: vec4<u32>, p: u32, begin: u32, end: u32) -> vec4<u32> {
    let first = p * PACK_ELEMENTS;
    let wanted = first_elements(end - first) & ~first_elements(max(begin, first) - first);
    return joined(raw, least_pack(), wanted);
}

// Always false: asks for both lengths (see grid.wgsl, Lengths).
fn no_input() -> bool { return max(word_count(), arrayLength(&packs)) == 0u; }
