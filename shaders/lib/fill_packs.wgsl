// Pack by pack.
import package::{BoundPack, bound_pack, params};

override ZEROS: bool = false; // that is what is written, and LLVM should know: it calls what clears memory

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

fn fill(i: u32) {
    if (ZEROS) {
        values[i] = BoundPack();
    } else {
        values[i] = bound_pack(vec4<u32>(params.low, params.high, params.low, params.high));
    }
}
