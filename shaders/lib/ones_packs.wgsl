// A Hardmax's output, pack by pack.
import package::{BoundPack, PACK_ELEMENTS, PACK_PARTS, bound_pack, pack_with_one};

override RAGGED: bool = false; // slices share packs

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

const WRITE_LEN = PACK_ELEMENTS; // elements written at once

fn write_zeros(i: u32) { values[i] = BoundPack(); }
// Where zeros stand, or ones beside it: then of the pack only what the element lies in.
fn write_one(e: u32) {
    let p = e / WRITE_LEN;
    let one = bound_pack(pack_with_one(e % WRITE_LEN));
    if (RAGGED) {
        let part = e % WRITE_LEN * PACK_PARTS / WRITE_LEN;
        values[p][part] = values[p][part] | one[part];
        if (PACK_PARTS > WRITE_LEN) {
            values[p][part + 1u] = values[p][part + 1u] | one[part + 1u];
        }
    } else {
        values[p] = one;
    }
}
