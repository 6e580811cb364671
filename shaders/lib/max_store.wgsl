// The output of Max in whole packs.
import package::{ACCUMULATE, BoundPack, Maxima, fold, longest_operand, pack_of, stored_pack, words_of};

@group(0) @binding(1) var<storage, read_write> values: array<BoundPack>;

// Always false: asks for all lengths (see grid.wgsl, Lengths).
fn no_packs() -> bool { return max(arrayLength(&values), longest_operand()) == 0u; }

fn store(i: u32, maxima: Maxima) { store_pack(i, finished(i, maxima)); }
fn store_pack(i: u32, pack: vec4<u32>) { values[i] = stored_pack(pack); }

// The pack that is written, with what is there already.
fn finished(i: u32, maxima: Maxima) -> vec4<u32> {
    var m = maxima;
    if (ACCUMULATE) {
        m = fold(m, words_of(values[i]));
    }
    return pack_of(m);
}
