// Bunches that follow one another from end to end, one for each invocation: neighbours load what lies side by side, whosever it is, and
// each finds its own in workgroup memory. They are whole words, and begin and end within packs.
import package::{
    BUNCH_ROWS, BunchPlace, ELEMENT_BITS, GROUP, PACK_ELEMENTS, ROW_LEN, pack_at, packs, params, store_stretch, stretch_offset,
    words_behind_packs,
};

const BUNCH_WORDS = BUNCH_ROWS * ROW_LEN * ELEMENT_BITS / 32u;

// Those of a bunch and, of an even number, one that is no one's: so neighbours read from different banks.
struct StagedBunch { words: array<u32, BUNCH_WORDS | 1u> }

var<workgroup> staged: array<StagedBunch, GROUP>;

// Bunch `first`, if it is before `last`.
fn reduce_stretches(first: u32, last: u32) {
    let local = first % GROUP;
    let group_words = (first - local) * BUNCH_WORDS;
    let all = params.outputs / BUNCH_ROWS * BUNCH_WORDS;
    let count = all - min(all, group_words);
    let begin = stretch_offset(0u) / PACK_ELEMENTS + group_words / 4u;
    for (var n = 0u; n < BUNCH_WORDS; n += 4u) {
        let i = n * GROUP / 4u + local;
        if (4u * i < min(count, GROUP * BUNCH_WORDS)) {
            stage(begin + i, 4u * i);
        }
    }
    workgroupBarrier();
    store_stretch(first, last, local, vec4<u32>());
}

// Pack number p, whose words are from number `word` on those of the workgroup.
fn stage(p: u32, word: u32) {
    var pack = vec4<u32>();
    if (p < arrayLength(&packs)) {
        pack = pack_at(p);
    } else {
        pack = words_behind_packs();
    }
    for (var i = 0u; i < 4u; i++) {
        staged[(word + i) / BUNCH_WORDS].words[(word + i) % BUNCH_WORDS] = pack[i];
    }
}

// Pack number n of a bunch, whose place is its invocation's number. Behind the bunch's last word that is taken again.
fn bunch_pack(place: BunchPlace, n: u32) -> vec4<u32> {
    let at = min(4u * n + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(BUNCH_WORDS - 1u));
    return vec4<u32>(
        staged[place.first].words[at.x],
        staged[place.first].words[at.y],
        staged[place.first].words[at.z],
        staged[place.first].words[at.w],
    );
}
