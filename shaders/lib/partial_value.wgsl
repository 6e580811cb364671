// A partial of values, as a record.
import package::{Best, least_key, partial_key, partial_place};

fn best_of_partial(at: u32) -> Best {
    return Best(select(partial_key(at), least_key(), all(partial_place(at) == vec2<u32>(0u))));
}
