// Pieces of a larger reduction: where a piece's results belong among those of all pieces.

// The record of a task, among those of all pieces for all outputs.
fn record_of(task: u32) -> u32 {
    let chunk = chunk_of(task, params.outputs);
    var rest = chunk.output / params.columns;
    var place = (chunk.output - rest * params.columns) * params.column_place;
    for (var d = 0u; d + 1u < params.kept_rank; d++) {
        let dim = params.kept[d];
        let next = rest / dim.x;
        place += (rest - next * dim.x) * dim.z;
        rest = next;
    }
    place += rest * params.kept[max(params.kept_rank, 1u) - 1u].z;
    return place * params.records + params.first_record + chunk.number;
}

// The position, in the whole reduction, of the piece's element r: 64 bits, the low word first.
fn whole_position(r: u32) -> vec2<u32> {
    var rest = r / params.run_len;
    var position = add_product(params.first_position, r - rest * params.run_len, params.run_place);
    for (var d = 0u; d + 1u < params.outer_rank; d++) {
        let dim = params.outer[d];
        let next = rest / dim.x;
        position = add_product(position, rest - next * dim.x, dim.zw);
        rest = next;
    }
    return add_product(position, rest, params.outer[max(params.outer_rank, 1u) - 1u].zw);
}

// sum + n * factor, in 64 bits.
fn add_product(sum: vec2<u32>, n: u32, factor: vec2<u32>) -> vec2<u32> {
    let n_low = n & 0xffffu;
    let n_high = n >> 16u;
    let factor_low = factor.x & 0xffffu;
    let factor_high = factor.x >> 16u;
    let a = n_low * factor_low;
    let b = n_high * factor_low + (a >> 16u);
    let c = n_low * factor_high + (b & 0xffffu);
    let low = sum.x + ((c << 16u) | (a & 0xffffu));
    let carry = select(0u, 1u, low < sum.x);
    return vec2<u32>(low, sum.y + n_high * factor_high + (b >> 16u) + (c >> 16u) + n * factor.y + carry);
}
