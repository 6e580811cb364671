// 16-byte packs as they are bound where 64 bits are loaded as fast as 32: the low word of each half first.
import package::{params};

alias BoundPack = vec2<u64>;
const PACK_PARTS = 2u;

fn words_of(pack: BoundPack) -> vec4<u32> {
    return vec4<u32>(u32(pack.x & 0xfffffffflu), u32(pack.x >> 32u), u32(pack.y & 0xfffffffflu), u32(pack.y >> 32u));
}

fn bound_pack(words: vec4<u32>) -> BoundPack {
    return vec2<u64>(u64(words.x) | (u64(words.y) << 32u), u64(words.z) | (u64(words.w) << 32u));
}

// Words that differ from invocation to invocation, ready to be stored. LLVM takes a store apart, and with it all that goes into
// it, invocation by invocation, or else makes vectors of 512 bits of it, whose parts some processors wait for. It stops at a
// maximum, here with what no compiler knows to be 0: shares are smaller.
fn materialized(words: vec4<u32>) -> vec4<u32> { return max(words, vec4<u32>(params.share >> 31u)); }
fn stored_pack(words: vec4<u32>) -> BoundPack { return bound_pack(materialized(words)); }

// Word number n, of the part of a pack that has it.
fn part_word(part: u64, n: u32) -> u32 { return u32((part >> (32u * (n % 2u))) & 0xfffffffflu); }
