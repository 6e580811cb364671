// A partial of positions, as a record: its place is position + 1 where the last wins, else 2^63 - 1 - position.
import package::{Best, LAST, NO_POSITION, least_key, partial_key, partial_place};

fn best_of_partial(at: u32) -> Best {
    let place = partial_place(at);
    if (all(place == vec2<u32>(0u))) {
        return Best(least_key(), NO_POSITION);
    }
    let first = ~place & vec2<u32>(0xffffffffu, 0x7fffffffu);
    let last = vec2<u32>(place.x - 1u, place.y - select(0u, 1u, place.x == 0u));
    return Best(partial_key(at), select(first, last, LAST));
}
