// What is asked for ahead of the rest of four packs: their first words.
import package::{packs};

alias Ahead = vec4<u32>;

fn ahead_of(rows: vec4<u32>) -> Ahead {
    return vec4<u32>(packs[rows.x].x, packs[rows.y].x, packs[rows.z].x, packs[rows.w].x);
}

// Pack number p, whose first word is known already.
fn pack_after(first: u32, p: u32) -> vec4<u32> { return vec4<u32>(first, packs[p].y, packs[p].z, packs[p].w); }
