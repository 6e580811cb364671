// Puts together what is known of each output: the records of the chunks and windows that it was cut into are a row.
import package::{Best, FARTHEST, RECORD_WORDS, TEAM, merge, no_best, recorded};

struct Params {
    outputs: u32,
    records: u32, // of an output
    share: u32,   // output units that an invocation without a team makes, one after another
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;

fn reduce_chunk(task: u32, member: u32) -> Best {
    var best = no_best();
    let end = min(params.records, FARTHEST);
    for (var n = member; n < end; n += TEAM) {
        best = merge(best, recorded((task * params.records + n) * RECORD_WORDS));
    }
    return best;
}
