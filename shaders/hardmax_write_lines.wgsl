// The same as hardmax_write_columns.wgsl where rows are shorter than packs, or slices long. As many rows as are whole packs
// are a line, and an invocation writes one pack of each of some lines: what is a line apart is of the same column, so that
// winners are looked up again only where another slice begins.
import package::{
    BoundPack, GROUP, Grid, LANES, PACK_ELEMENTS, PackWinners, bound_pack, invocation_number, no_output, ones_at, params,
    winners,
};

@group(0) @binding(3) var<storage, read_write> values: array<BoundPack>;

// The elements of a pack, and the winners that they have in some lines.
struct LinePack {
    count: u32,       // elements of its first row
    per_element: u32, // 65536 / columns + 1, so that (n * per_element) >> 16 is n / columns for n up to 15
    winner: u32,      // the first element's
    rows_left: u32,   // of the first element's block, from its row on
    row: u32,         // the block's first one, less how far down in a line the first element is
}

@compute @workgroup_size(GROUP)
fn main(grid: Grid) {
    let lines = (params.len + params.line - 1u) / params.line;
    let packs = params.line / PACK_ELEMENTS;
    let task = invocation_number(grid.id, grid.groups, grid.local);
    let part = task / packs;
    let first = part * params.share;
    if (no_output() || first >= lines) {
        return;
    }
    let offset = (task - part * packs) * PACK_ELEMENTS;
    let columns = params.columns;
    // The rows of the first and of the last element within a line.
    let first_row = (params.column + offset) / columns;
    let last_row = (params.column + offset + PACK_ELEMENTS - 1u) / columns;
    let column = params.column + offset - first_row * columns;
    let per_element = 65536u / columns + 1u;
    let last = min(first + params.share, lines);
    var line = first;
    for (var run = first; (run < last) & (line < last); run++) {
        let row = params.position + line * (params.line / columns);
        let block = (row + first_row) / params.slice_len;
        let block_begin = block * params.slice_len;
        let block_end = block_begin + params.slice_len;
        let winner = block * columns + column - params.first_winner;
        let own = LinePack(columns - column, per_element, winner, block_end - row - first_row, block_begin - first_row);
        line = write_lines(line_winners(own), Lines(offset, line, last, row, block_end - min(last_row, block_end)));
    }
}

// Lines, from a first one on. Those that begin before `row_end` have its winners.
struct Lines { offset: u32, first: u32, last: u32, row: u32, row_end: u32 }

// The line to go on with.
fn write_lines(own: PackWinners, lines: Lines) -> u32 {
    let line_len = params.line;
    let rows = line_len / params.columns;
    let len = params.len;
    var line = lines.first;
    var row = lines.row;
    var e = line * line_len + lines.offset;
    for (; (line < lines.last) & ((line == lines.first) | (row < lines.row_end)); line++) {
        if (e < len) {
            values[e / PACK_ELEMENTS] = bound_pack(ones_at(own, row));
        }
        e += line_len;
        row += rows;
    }
    return line;
}

// For each element, the first row of the line in which it is 1.
fn line_winners(own: LinePack) -> PackWinners {
    let none = vec4<u32>(0u);
    let a = word_winners(own, 0u);
    if (LANES == 1u) {
        return PackWinners(a, none, none, none);
    }
    let b = word_winners(own, 1u);
    if (LANES == 2u) {
        return PackWinners(a, b, none, none);
    }
    return PackWinners(a, b, word_winners(own, 2u), word_winners(own, 3u));
}

// Of the elements that are a word apart. They are of the first row's block or, beyond its end, of the next one.
fn word_winners(own: LinePack, lane: u32) -> vec4<u32> {
    let elements = vec4<u32>(0u, LANES, 2u * LANES, 3u * LANES) + lane;
    let behind = ((elements - own.count) * own.per_element) >> vec4<u32>(16u);
    let rows = select(vec4<u32>(0u), 1u + behind, elements >= vec4<u32>(own.count));
    let leaves = rows >= vec4<u32>(own.rows_left);
    let columns = select(vec4<u32>(0u), vec4<u32>(params.columns), leaves);
    let n = min(own.winner + columns + elements - rows * params.columns, vec4<u32>(params.winners - 1u));
    let row = select(vec4<u32>(own.row), vec4<u32>(own.row + params.slice_len), leaves);
    return vec4<u32>(winners[n.x], winners[n.y], winners[n.z], winners[n.w]) + row - rows;
}
