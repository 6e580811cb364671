// The finishing pass of a split ReduceMax: one output's partial results are a row of keys.
import package::{Best, FARTHEST, KEY_WORDS, TEAM, key_from_words, merge, no_best, params};

@group(0) @binding(1) var<storage, read> found: array<u32>;

fn scan(task: u32, member: u32) -> Best {
    var best = no_best();
    let chunks = min(params.chunks, FARTHEST);
    for (var chunk = member; chunk < chunks; chunk += TEAM) {
        let at = (task * params.chunks + chunk) * BEST_WORDS;
        best = merge(best, Best(key_from_words(found[at], found[at + KEY_WORDS - 1u])));
    }
    return best;
}
