//! Hardmax on the GPU against the reference, bit for bit.

use crate::common::{self, Data, cases, check, check_against, check_cases, edges, greatest, tensor, with_bits};
use wgmax::{AdapterKind, DType, Element, Hardmax, NanPolicy, Operation, Slices, Tensor, View};

#[test]
fn every_type_view_axis_and_edge() {
    check_cases(&cases::hardmax(&Data::ALL));
}

#[test]
fn ignored_nans() {
    check_cases(&cases::hardmax_ignoring_nans());
}

/// Sub-word elements in rows that are no whole number of words: units reach over columns, rows and blocks.
#[test]
fn odd_columns() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        for columns in [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 17, 33] {
            for len in [1, 2, 3, 5, 64, 130, 300] {
                let input = tensor(dtype, 3 * len * columns, Data::Ties, columns);
                let op = Hardmax::new(dtype, View::new([3, len, columns]).unwrap(), Slices::Along(1));
                check(&op, &[&input], &format!("{dtype} 3 blocks of {len} by {columns}"));
            }
        }
    }
}

/// Rows of columns shorter than packs and longer, and whole packs; slices around the lengths from which on zeros and ones are written,
/// and not packs; packs with elements of two slices, and elements behind the last pack.
#[test]
fn long_columns() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        let pack = 16 / dtype.bytes();
        for columns in [2, 3, pack - 1, pack + 1, 2 * pack].into_iter().filter(|&columns| columns > 1) {
            let rows_of_a_pack = (pack - 1).div_ceil(columns) + 1;
            let around = |len: u64| [len - 1, len, len + 1];
            let bytes = |bytes: u64| around(bytes / dtype.bytes());
            let lens = [around(rows_of_a_pack + 1), around(12), around(24), bytes(96), bytes(256)].concat();
            for (n, slice_len) in lens.into_iter().enumerate() {
                let blocks = if n % 2 == 0 { 1 } else { 5 };
                let input = tensor(dtype, blocks * slice_len * columns, Data::Ties, columns + n as u64);
                let view = View::new([blocks, slice_len, columns]).unwrap();
                let case = format!("{dtype} {blocks} x {slice_len} rows of {columns} columns");
                check(&Hardmax::new(dtype, view, Slices::Along(1)), &[&input], &case);
            }
        }
    }
}

/// Columns no narrower than packs whose rows end within them: stretches of several packs and their ends, slices as long as an
/// element's bits count and longer, blocks that begin anywhere.
#[test]
fn ragged_columns() {
    for (n, dtype) in [DType::U8, DType::Bf16, DType::F32, DType::F64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for columns in [pack + 1, 4 * pack - 1, 4 * pack + 1, 8 * pack + 3, 13 * pack - 1] {
            for len in [2, 3, 13, 53, 255, 256, 257] {
                let blocks = [1, 5, 2][(columns + len) as usize % 3];
                let input = tensor(dtype, blocks * len * columns, Data::Ties, len + n as u64);
                let op = Hardmax::new(dtype, View::new([blocks, len, columns]).unwrap(), Slices::Along(1));
                check(&op, &[&input], &format!("{dtype} {blocks} blocks of {len} by {columns}"));
            }
        }
    }
}

/// Winners that are packs of elements: as wide as elements where these can count a slice, and looked up wherever rows of columns begin.
#[test]
fn winners_in_packs() {
    for (n, dtype) in [DType::U8, DType::F16, DType::F32].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        let sizes = [pack, 2 * pack + 1, 8 * pack - 1, 8 * pack, 8 * pack + 1, 12 * pack + 3, 33 * pack - 1];
        for (m, columns) in sizes.into_iter().enumerate() {
            let slice_len = [2, 256, 13, 257, 3, 255, 64][(m + 3 * n) % 7];
            let blocks = (1 << 17) * pack / (slice_len * columns) + 1 + m as u64 % 2; // so many loads that packs pay
            let block = slice_len * columns;
            let (turned, offset) = if m % 2 == 0 { (block as i64, 0) } else { (-(block as i64), (blocks - 1) * block) };
            let view = View::strided([blocks, slice_len, columns], [turned, columns as i64, 1], offset).unwrap();
            let data = if slice_len < 100 { Data::Edges } else { Data::Ties };
            let input = tensor(dtype, blocks * block, data, columns);
            let nan = if m % 2 == 0 { NanPolicy::Propagate } else { NanPolicy::Ignore };
            let case = format!("{dtype} {blocks} blocks of {slice_len} by {columns}, {turned} apart");
            check(&Hardmax::new(dtype, view, Slices::Along(1)).nan(nan), &[&input], &case);
        }
    }
}

#[test]
fn row_lengths() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::F64] {
        for len in [1, 2, 3, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1000, 4095, 4097] {
            let input = tensor(dtype, 5 * len + 3, Data::Ties, len);
            let view = View::strided([5, len], [len as i64, 1], len % 4).unwrap();
            check(&Hardmax::new(dtype, view, Slices::Along(1)), &[&input], &format!("{dtype} rows of {len}"));
        }
    }
}

/// So many short slices that their last unit, or pack, is not whole.
#[test]
fn many_short_slices() {
    for (dtype, slices, len) in
        [(DType::F32, 1025, 32), (DType::U8, 4099, 128), (DType::Bf16, 2049, 65), (DType::U8, 4099, 129)]
    {
        let input = tensor(dtype, slices * len, Data::Ties, len);
        let op = Hardmax::new(dtype, View::new([slices, len]).unwrap(), Slices::Along(1));
        check(&op, &[&input], &format!("{slices} slices of {len} {dtype}"));
    }
}

/// A vocabulary's row: ties at both ends, nothing but -inf, nothing but NaN, a NaN of each sign.
#[test]
fn rows_of_128_256() {
    const LEN: u64 = 128_256;
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
        let least = tensor(dtype, 2 * LEN, Data::Least, 0);
        let ties = with_bits(&with_bits(&least, LEN, greatest(dtype)), 2 * LEN - 1, greatest(dtype));
        let last = with_bits(&least, 2 * LEN - 1, greatest(dtype));
        let (bits, nans) = edges(dtype);
        let zeros = tensor(dtype, 2 * LEN, Data::Zeros, 9);
        let mut inputs = vec![least.clone(), tensor(dtype, 2 * LEN, Data::Nans, 8), ties, last, zeros];
        inputs.extend(bits[..nans].iter().map(|&nan| with_bits(&least, LEN + 77_777, nan)));
        for (n, input) in inputs.iter().enumerate() {
            let op = Hardmax::new(dtype, View::new([2, LEN]).unwrap(), Slices::Along(1));
            check(&op, &[input], &format!("{dtype} input {n}"));
        }
    }
}

#[test]
fn exactly_one_1_in_each_slice() {
    let input = tensor(DType::F32, 300 * 77, Data::Edges, 7);
    let view = View::new([300, 77]).unwrap();
    for (slices, shape) in [(Slices::Along(1), [300, 77]), (Slices::Along(0), [300, 77])] {
        let op = Hardmax::new(DType::F32, view.clone(), slices);
        for gpu in common::gpus() {
            let answer = gpu.run_blocking(&op, &[&input]).unwrap().remove(0).to_vec::<f32>().unwrap();
            let at = |row: usize, column: usize| answer[row * shape[1] + column];
            let (outer, inner) = if slices == Slices::Along(1) { (300, 77) } else { (77, 300) };
            for o in 0..outer {
                let slice: Vec<f32> =
                    (0..inner).map(|i| if slices == Slices::Along(1) { at(o, i) } else { at(i, o) }).collect();
                assert_eq!(slice.iter().filter(|&&x| x == 1.0).count(), 1, "slice {o} {slices:?}");
                assert_eq!(slice.iter().filter(|&&x| x == 0.0).count(), inner - 1, "slice {o} {slices:?}");
            }
        }
    }
}

#[test]
fn slice_counts_around_the_dispatch_limit() {
    for dtype in [DType::F32, DType::U8] {
        for slices in [1, 65_535, 65_536, 70_000 * 3] {
            let input = tensor(dtype, slices * 3, Data::Random, slices);
            let op = Hardmax::new(dtype, View::new([slices, 3]).unwrap(), Slices::Along(1));
            check(&op, &[&input], &format!("{dtype} {slices} slices"));
        }
    }
}

#[test]
fn empty_tensors() {
    let input = Tensor::new::<f32>([0], &[]).unwrap();
    for (shape, slices) in [([0, 3], Slices::Along(1)), ([3, 0], Slices::Along(1)), ([3, 0], Slices::From(0))] {
        let op = Hardmax::new(f32::DTYPE, View::new(shape).unwrap(), slices);
        check_against(&op, &[&input], &[Tensor::new::<f32>(shape, &[]).unwrap()], "empty");
        assert!(op.plan(&Default::default()).unwrap().dispatches.is_empty());
    }
}

#[test]
fn moves_at_most_two_reads_and_a_write() {
    for (shape, slices) in [
        (vec![4096, 1000], Slices::Along(1)),
        (vec![16, 128_256], Slices::Along(1)),
        (vec![8, 1000, 64], Slices::Along(1)),
        (vec![1 << 22], Slices::From(0)),
    ] {
        for adapter in AdapterKind::ALL {
            let limits = wgmax::Limits { adapter, ..Default::default() };
            let plan = Hardmax::new(DType::F32, View::new(shape.clone()).unwrap(), slices).plan(&limits).unwrap();
            let bytes = plan.output_bytes[0];
            assert!(plan.moved_bytes() <= 3 * bytes, "{plan}: {} bytes moved", plan.moved_bytes());
        }
    }
}
