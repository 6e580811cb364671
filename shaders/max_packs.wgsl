// Max where every operand runs along the rows, or has one element for all of a row.
import package::{
    Addresses, Ends, FARTHEST, GROUP, Grid, Maxima, PACK_ELEMENTS, carried_at, finished, first_addresses, first_elements, fold_runs,
    fold_splats, fold_straddling, invocation_number, next_row, no_packs, operand_ends, pack_addresses, params, row_addresses,
    store, store_four, walk_from, walk_rows,
};

override RAGGED: bool = false; // rows end within packs, and are no shorter than one
override ONE_ROW: bool = false; // all of it
override SPREAD: bool = false; // an invocation takes four packs of a row, and its neighbours those beside each of them
override NEIGHBOURS: u32 = 1u; // neighbours that take turns along rows, four packs each

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    if (no_packs()) {
        return;
    }
    let ends = operand_ends();
    let index = invocation_number(grid.id, grid.groups, grid.local);
    if (SPREAD) {
        store_spread(index, ends);
        return;
    }
    // Some rows, or else a part of one: neighbours do the same for equally long.
    let row_len = max(params.row_len, PACK_ELEMENTS);
    let row_packs = row_len / PACK_ELEMENTS;
    let share = params.share * NEIGHBOURS;
    let parts = (row_packs + share - 1u) / share;
    let own_rows = max(share / row_packs, 1u);
    let together = index / NEIGHBOURS;
    let first_row = together / parts * own_rows;
    let rows_end = min(first_row + own_rows, (params.len + row_len - 1u) / row_len);
    if (first_row < rows_end) {
        store_rows(first_row, rows_end, Part(together % parts, index % NEIGHBOURS, together % parts + 1u == parts), ends);
    }
}

// What an invocation takes of a row: which part, in whose turn, and whether it is the last part.
struct Part { number: u32, turn: u32, is_last: bool }

fn store_rows(first_row: u32, rows_end: u32, part: Part, ends: Ends) {
    let walk_len = walk_rows();
    let walks_end = (rows_end + walk_len - 1u) / walk_len;
    for (var n = first_row / walk_len; n < walks_end; n++) {
        let end = min((n + 1u) * walk_len, rows_end);
        var row = max(n * walk_len, first_row);
        var walk = walk_from(row);
        var addresses = walk.addresses;
        loop {
            if (row >= end) {
                break;
            }
            addresses = walk.addresses;
            store_row(row, addresses, part, ends);
            walk = next_row(walk);
            if (RAGGED && NEIGHBOURS == 1u && part.is_last && row + 1u < end) {
                store_end(row, addresses, walk.addresses);
            }
            continuing {
                row += 1u;
                break if row >= end;
            }
        }
        if (RAGGED && NEIGHBOURS == 1u && part.is_last) {
            store_end(end - 1u, addresses, row_addresses(end));
        }
    }
    if (RAGGED && NEIGHBOURS > 1u && part.is_last) {
        let last = min(rows_end, FARTHEST);
        for (var row = first_row + part.turn; row < last; row += NEIGHBOURS) { // no one waits while another's row ends
            store_end(row, row_addresses(row), row_addresses(row + 1u));
        }
    }
}

// A part of a row's packs, which may be all of them.
fn store_row(row: u32, addresses: Addresses, part: Part, ends: Ends) {
    let row_len = max(params.row_len, PACK_ELEMENTS);
    let row_begin = row * row_len;
    let share = params.share * NEIGHBOURS;
    let constant = fold_splats(addresses); // of the operands that have one element for all of the row
    let begin = (row_begin + PACK_ELEMENTS - 1u) / PACK_ELEMENTS + part.number * share;
    let end = min(begin + share, min((row_begin + row_len) / PACK_ELEMENTS, params.len / PACK_ELEMENTS));
    if (NEIGHBOURS == 1u) {
        store_packs(begin, end, Runs(constant, pack_addresses(addresses, begin * PACK_ELEMENTS - row_begin, 0u), ends));
        return;
    }
    let last = min(end, FARTHEST);
    for (var own = begin + 4u * part.turn; own < last; own += 4u * NEIGHBOURS) {
        let i = min(own, end - 4u); // moved back where it would reach behind the last pack: a row has more than one tile
        store_tile(i, own, Runs(constant, pack_addresses(addresses, i * PACK_ELEMENTS - row_begin, 0u), ends));
    }
}

// Four packs side by side. Those before number `own` are another invocation's.
fn store_tile(i: u32, own: u32, runs: Runs) {
    let a = carried_at(runs.packs, 0u, 0u, runs.ends);
    let b = carried_at(runs.packs, 0u, 1u, runs.ends);
    store_own(i, own, fold_runs(runs.constant, runs.packs, 0u, a, b));
    let c = carried_at(runs.packs, 0u, 2u, runs.ends);
    store_own(i + 1u, own, fold_runs(runs.constant, runs.packs, 1u, b, c));
    let d = carried_at(runs.packs, 0u, 3u, runs.ends);
    store_own(i + 2u, own, fold_runs(runs.constant, runs.packs, 2u, c, d));
    let e = carried_at(runs.packs, 0u, 4u, runs.ends);
    store_own(i + 3u, own, fold_runs(runs.constant, runs.packs, 3u, d, e));
}

fn store_own(i: u32, own: u32, maxima: Maxima) {
    if (i >= own) {
        store(i, maxima);
    }
}

// A row's runs, and what is folded before them.
struct Runs { constant: Maxima, packs: Addresses, ends: Ends }

// Packs one after another: the runs begin with the first.
fn store_packs(begin: u32, end: u32, runs: Runs) {
    var packs = runs.packs;
    var own = carried_at(packs, 0u, 0u, runs.ends);
    var i = begin;
    loop {
        if (i >= end) {
            break;
        }
        let next = carried_at(packs, 0u, 1u, runs.ends);
        store(i, fold_runs(runs.constant, packs, 0u, own, next));
        own = next;
        packs = next_packs(packs);
        continuing {
            i += 1u;
            break if i >= end;
        }
    }
}

// The pack in which a row ends and the next begins, if there is one, and it is whole.
fn store_end(row: u32, addresses: Addresses, next: Addresses) {
    let row_len = max(params.row_len, PACK_ELEMENTS);
    let row_end = row * row_len + row_len;
    let shared_pack = row_end / PACK_ELEMENTS;
    let left = row_end % PACK_ELEMENTS;
    if (left != 0u && shared_pack < params.len / PACK_ELEMENTS) {
        let column = row_len - left;
        store(shared_pack, fold_straddling(addresses, next, column, first_elements(left)));
    }
}

// Part number `index` of all rows' parts. A row has so many that each has four packs at most.
fn store_spread(index: u32, ends: Ends) {
    let row_len = max(params.row_len, PACK_ELEMENTS);
    let parts = (row_len / PACK_ELEMENTS + 3u) / 4u;
    var row = 0u;
    if (!ONE_ROW) {
        row = index / parts;
    }
    let part = index - row * parts;
    if (row >= (params.len + row_len - 1u) / row_len || part >= parts) {
        return;
    }
    let begin = (row * row_len + PACK_ELEMENTS - 1u) / PACK_ELEMENTS;
    let end = min((row * row_len + row_len) / PACK_ELEMENTS, params.len / PACK_ELEMENTS);
    var addresses = first_addresses();
    if (!ONE_ROW) {
        addresses = row_addresses(row);
    }
    if (begin < end) {
        let constant = fold_splats(addresses);
        let packs = pack_addresses(addresses, begin * PACK_ELEMENTS - row * row_len, begin);
        store_four(min(begin + part, end - 1u), parts, end, Runs(constant, packs, ends));
    }
    if (RAGGED && part == 0u) {
        store_end(row, addresses, row_addresses(row + 1u));
    }
}

fn finished_runs(runs: Runs, i: u32) -> vec4<u32> {
    let own = carried_at(runs.packs, i, 0u, runs.ends);
    let next = carried_at(runs.packs, i, 1u, runs.ends);
    return finished(i, fold_runs(runs.constant, runs.packs, i, own, next));
}

