// Puts together what is known of each output: the records of the chunks and windows that it was cut into, which are a row,
// or the partials of shards, which come shard by shard.
import package::{
    Best, FARTHEST, Key, RECORD_WORDS, TEAM, best_of_partial, key_below, key_equal, key_of_number, merge, no_best, of_fold,
    recorded, tie_key,
};

override PARTIALS: bool = false;
override FOLDED: bool = false; // an output's records come from several columns

struct Params {
    outputs: u32,
    records: u32, // of an output
    share: u32,   // output units that an invocation without a team makes, one after another
    slice_len: u32, // elements of a slice, of Hardmax or where FOLDED
    parts: u32,     // teams that write a slice, a part each
    columns: u32,   // where FOLDED: outputs that lie side by side
    folds: u32,     // and columns of records for each of them, so many outputs apart
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;

fn placed(best: Best, task: u32) -> Best { return best; }

fn reduce_chunk(task: u32, member: u32) -> Best {
    var best = no_best();
    let end = min(params.records, FARTHEST);
    for (var n = member; n < end; n += 4u * TEAM) {
        // Four in flight; behind the last, the first once more.
        let all = n + vec4<u32>(0u, TEAM, 2u * TEAM, 3u * TEAM);
        let own = select(vec4<u32>(n), all, all < vec4<u32>(end));
        let a = known(task, own.x);
        let b = known(task, own.y);
        let c = known(task, own.z);
        let d = known(task, own.w);
        best = merge(best, merge(merge(a, b), merge(c, d)));
    }
    return best;
}

fn slice_len() -> u32 { return params.slice_len; }
fn parts_of_slice() -> u32 { return params.parts; }

fn known(task: u32, n: u32) -> Best {
    if (PARTIALS) {
        return best_of_partial((n * params.outputs + task) * 4u);
    }
    if (FOLDED) {
        let block = task / params.columns;
        let run = params.records / params.folds; // the records of a column
        let fold = n / run;
        let column = (block * params.folds + fold) * params.columns + task - block * params.columns;
        return of_fold(recorded((column * run + n - fold * run) * RECORD_WORDS), fold, params.folds);
    }
    return recorded((task * params.records + n) * RECORD_WORDS);
}

// A partial (src/shard/partial.rs) has the tie key and, in the top bit of the place behind it, whether there was a +0: of two
// zeros, the key below is -0's.
fn partial_key(at: u32) -> Key {
    let key = key_of_number(records[at], records[at + 1u]);
    let below = key_below(key);
    let is_zero = key_equal(tie_key(below), key);
    return select(key, below, is_zero && records[at + 3u] < 0x80000000u);
}
// The place, less that bit: 0 while nothing was seen.
fn partial_place(at: u32) -> vec2<u32> { return vec2<u32>(records[at + 2u], records[at + 3u] & 0x7fffffffu); }
