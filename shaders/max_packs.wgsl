// Max where every operand runs along the rows, or has one element for all of a row.
import package::{
    Addresses, Ends, Maxima, PACK_ELEMENTS, finished, first_addresses, first_elements, fold_runs, fold_splats, fold_straddling,
    group_number, next_row, no_packs, operand_ends, pack_addresses, params, row_addresses, store, store_pack, walk_from, walk_rows,
};

override GROUP: u32 = 64u;
override RAGGED: bool = false; // rows end within packs, and are no shorter than one
override ONE_ROW: bool = false; // all of it
override SPREAD: bool = false; // an invocation takes four packs of a row, and its neighbours those beside each of them

@compute @workgroup_size(GROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (no_packs()) { // see grid.wgsl
        return;
    }
    let ends = operand_ends();
    if (SPREAD) {
        store_spread(group_number(id, groups) * GROUP + local, ends);
        return;
    }
    let first = (group_number(id, groups) * GROUP + local) * params.share;
    let last = min(first + params.share, params.len / PACK_ELEMENTS);
    if (first >= last) {
        return;
    }
    let row_len = max(params.row_len, PACK_ELEMENTS);
    let rows_end = (last * PACK_ELEMENTS + row_len - 1u) / row_len;
    let first_row = first * PACK_ELEMENTS / row_len;
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
            store_row(row, addresses, first, last, ends);
            walk = next_row(walk);
            if (RAGGED && row + 1u < end) {
                store_end(row, addresses, walk.addresses, first, last);
            }
            continuing {
                row += 1u;
                break if row >= end;
            }
        }
        if (RAGGED) {
            store_end(end - 1u, addresses, row_addresses(end), first, last);
        }
    }
}

// The packs of a row that are among packs [first, last).
fn store_row(row: u32, addresses: Addresses, first: u32, last: u32, ends: Ends) {
    let row_len = max(params.row_len, PACK_ELEMENTS);
    let row_begin = row * row_len;
    let constant = fold_splats(addresses); // of the operands that have one element for all of the row
    let end = min((row_begin + row_len) / PACK_ELEMENTS, last);
    var i = max((row_begin + PACK_ELEMENTS - 1u) / PACK_ELEMENTS, first);
    let packs = pack_addresses(addresses, i * PACK_ELEMENTS - row_begin, i);
    loop {
        if (i >= end) {
            break;
        }
        store(i, fold_runs(constant, packs, i, ends));
        continuing {
            i += 1u;
            break if i >= end;
        }
    }
}

// The pack in which a row ends and the next begins, if there is one, and it is among packs [first, last).
fn store_end(row: u32, addresses: Addresses, next: Addresses, first: u32, last: u32) {
    let row_len = max(params.row_len, PACK_ELEMENTS);
    let row_end = row * row_len + row_len;
    let shared_pack = row_end / PACK_ELEMENTS;
    let left = row_end % PACK_ELEMENTS;
    if (left != 0u && shared_pack >= first && shared_pack < last) {
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
    let last = params.len / PACK_ELEMENTS;
    let end = min((row * row_len + row_len) / PACK_ELEMENTS, last);
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
        store_end(row, addresses, row_addresses(row + 1u), 0u, last);
    }
}

// A row's runs, and what is folded before them.
struct Runs { constant: Maxima, packs: Addresses, ends: Ends }

fn finished_runs(runs: Runs, i: u32) -> vec4<u32> { return finished(i, fold_runs(runs.constant, runs.packs, i, runs.ends)); }

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
