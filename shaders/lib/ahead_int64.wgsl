// What is asked for ahead of the rest of four packs: their first halves.
import package::{packs, words_of};

alias Ahead = vec4<u64>;

fn ahead_of(rows: vec4<u32>) -> Ahead {
    return vec4<u64>(packs[rows.x].x, packs[rows.y].x, packs[rows.z].x, packs[rows.w].x);
}

// Pack number p, whose first half is known already.
fn pack_after(first: u64, p: u32) -> vec4<u32> { return words_of(vec2<u64>(first, packs[p].y)); }
