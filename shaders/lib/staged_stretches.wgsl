// Bunches that follow one another from end to end, one for each invocation: neighbours load what lies side by side, whosever it is, and
// each finds its own in workgroup memory. They are whole words, and begin and end within packs. A workgroup is four at least.
import package::{
    BUNCH_ROWS, BunchPlace, ELEMENT_BITS, GROUP, PACK_ELEMENTS, ROW_LEN, pack_at, params, store_stretch,
    stretch_offset, word,
};

const BUNCH_WORDS = BUNCH_ROWS * ROW_LEN * ELEMENT_BITS / 32u;
const WORDS_APART = BUNCH_WORDS | 1u; // between neighbours' bunches: an odd number, so that they read from different banks

override STAGED: u32 = 1u; // the words of a workgroup's bunches, each WORDS_APART: `Kernel::constants`

var<workgroup> staged: array<u32, STAGED>;

// Where word number n of a workgroup's bunches is. Where bunches have an even number of words, words 2n and 2n + 1 are one's.
fn staged_place(n: u32) -> u32 { return n + (WORDS_APART - BUNCH_WORDS) * (n / BUNCH_WORDS); }

// Bunch `first`, if it is before `last`.
fn reduce_stretches(first: u32, last: u32) {
    let local = first % GROUP;
    let group_words = (first - local) * BUNCH_WORDS;
    let all = params.outputs / BUNCH_ROWS * BUNCH_WORDS;
    let count = min(all - min(all, group_words), GROUP * BUNCH_WORDS);
    let begin = stretch_offset(0u) / PACK_ELEMENTS + group_words / 4u;
    let whole = count / 4u;
    for (var n = 0u; n < BUNCH_WORDS; n += 4u) {
        let i = n * GROUP / 4u + local;
        if (i < whole) {
            let pack = pack_at(begin + i);
            let a = staged_place(4u * i); // each two words of a pack lie side by side
            let b = staged_place(4u * i + 2u);
            staged[a] = pack.x;
            staged[a + 1u] = pack.y;
            staged[b] = pack.z;
            staged[b + 1u] = pack.w;
        }
    }
    let rest = 4u * whole + local; // what no whole pack has
    if (rest < count) {
        staged[staged_place(rest)] = word(4u * begin + rest);
    }
    workgroupBarrier();
    store_stretch(first, last, local * WORDS_APART);
}

// Pack number n of a bunch, whose place is that of its first word. Behind the bunch's last word that is taken again.
fn bunch_pack(place: BunchPlace, n: u32) -> vec4<u32> {
    let at = place.first + min(4u * n + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(BUNCH_WORDS - 1u));
    return vec4<u32>(staged[at.x], staged[at.y], staged[at.z], staged[at.w]);
}
