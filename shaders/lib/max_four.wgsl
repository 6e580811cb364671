// What spread invocations of Max write.
import package::{Runs, finished_runs, store_pack};

// Four packs, so many apart, of those up to the end. All are read before any is written: nobody knows of one buffer that it is
// not the other.
fn store_four(i: u32, apart: u32, end: u32, runs: Runs) {
    let all = i + vec4<u32>(0u, apart, 2u * apart, 3u * apart);
    let within = all < vec4<u32>(end);
    let own = select(vec4<u32>(i), all, within);
    let a = finished_runs(runs, own.x);
    let b = finished_runs(runs, own.y);
    let c = finished_runs(runs, own.z);
    let d = finished_runs(runs, own.w);
    store_pack(own.x, a);
    if (within.y) {
        store_pack(own.y, b);
    }
    if (within.z) {
        store_pack(own.z, c);
    }
    if (within.w) {
        store_pack(own.w, d);
    }
}
