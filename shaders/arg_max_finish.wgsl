// The finishing pass of a split ArgMax: one output's partial results are a row of keys and positions.
@group(0) @binding(1) var<storage, read> found: array<u32>;

fn scan(task: u32, member: u32) -> Best {
    var best = no_best();
    let chunks = min(params.chunks, FARTHEST);
    for (var chunk = member; chunk < chunks; chunk += TEAM) {
        let at = (task * params.chunks + chunk) * BEST_WORDS;
        let key = key_from_words(found[at], found[at + KEY_WORDS - 1u]);
        best = merge(best, Best(key, found_position(found[at + KEY_WORDS], found[at + BEST_WORDS - 1u])));
    }
    return best;
}
