// Several packs of columns side by side, a panel, reduced together, run by run. What a panel is, and how it goes down the rows of a
// run one after another, is generated (src/shader/column_panels.rs); of four packs tile by tile in panel_tiles.wgsl.
import package::{
    Chunk, PACK_ELEMENTS, Panel, RAGGED, Run, no_column_bests, pack_at, pack_between, packs, panel_of, place_of,
    with_rows, words_behind_packs,
};

alias Reduced = Panel;

fn nothing_reduced(chunk: Chunk) -> Panel { return panel_of(no_column_bests(chunk)); }
fn with_run(panel: Panel, start: u32, run: Run) -> Panel { return with_rows(panel, place_of(start + run.offset), run); }

// Four packs side by side.
struct FourPacks { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

// What the input has behind its last whole pack, where packs begin anywhere.
fn behind_packs() -> vec4<u32> {
    if (RAGGED) {
        return words_behind_packs();
    }
    return vec4<u32>(0u);
}

// Four packs side by side that begin at `place`.
fn four_packs(place: u32, behind: vec4<u32>) -> FourPacks {
    if (!RAGGED) {
        return FourPacks(pack_at(place), pack_at(place + 1u), pack_at(place + 2u), pack_at(place + 3u));
    }
    let p = place / PACK_ELEMENTS; // out of five whole ones
    let a = pack_at(p);
    let b = pack_at(p + 1u);
    let c = pack_at(p + 2u);
    let d = pack_at(p + 3u);
    let e = select(behind, pack_at(min(p + 4u, arrayLength(&packs) - 1u)), vec4<bool>(p + 4u < arrayLength(&packs)));
    return FourPacks(
        pack_between(a, b, place),
        pack_between(b, c, place),
        pack_between(c, d, place),
        pack_between(d, e, place),
    );
}

// How far apart the places of such are that lie side by side.
fn four_apart() -> u32 { return select(4u, 4u * PACK_ELEMENTS, RAGGED); }
