// What an invocation writes of slices side by side: rows [first, last) of a block, and of each packs [first_pack, last_pack).
import package::{BoundPack, ELEMENT_BYTES, PACK_ELEMENTS, bound_pack, no_output, params, stored_pack};

struct PacksOfRows { block: u32, first: u32, last: u32, first_pack: u32, last_pack: u32 }

// Those of a task: none where it is beyond the last block.
fn packs_of_rows(task: u32) -> PacksOfRows {
    let packs = params.columns / PACK_ELEMENTS; // of a row, at most
    let across = params.write_len / PACK_ELEMENTS;
    let parts_of_row = (packs + across - 1u) / across;
    let parts = (params.slice_len + params.share - 1u) / params.share; // of a slice
    let part = task / parts_of_row; // of all slices
    let block = part / parts;
    let first = (part - block * parts) * params.share;
    let first_pack = (task - part * parts_of_row) * across;
    let outside = no_output() | (block * params.slice_len * params.columns >= params.len);
    return PacksOfRows(
        block,
        first,
        min(first + params.share, params.slice_len),
        first_pack,
        select(min(first_pack + across, packs), 0u, outside),
    );
}

// Zeros and ones, as they are stored. Of 64 bits half of the words are 0 anyway, and compilers should know.
fn stored_ones(ones: vec4<u32>) -> BoundPack {
    if (ELEMENT_BYTES == 8u) {
        return bound_pack(ones);
    }
    return stored_pack(ones);
}
