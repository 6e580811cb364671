//! Max on the GPU against the reference, bit for bit.

use crate::common::{self, Data, cases, check, check_cases, check_planned, gpus, tensor};
use wgmax::plan::Params;
use wgmax::{AdapterKind, DType, Limits, Max, NanPolicy, Operation, Tensor, Tuning, View};

fn contiguous(shape: &[u64]) -> View {
    View::new(shape).unwrap()
}

#[test]
fn every_type_and_edge_over_pairs_of_views() {
    check_cases(&cases::max_of_pairs(&Data::ALL));
}

#[test]
fn ignored_nans() {
    check_cases(&cases::max_ignoring_nans());
}

/// Every shape of at most this rank over these sizes.
fn shapes(rank: usize) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    let mut longest = vec![vec![]];
    for _ in 0..rank {
        longest = longest.iter().flat_map(|s: &Vec<u64>| [0, 1, 2, 5].map(|size| [&[size], &s[..]].concat())).collect();
        all.extend(longest.clone());
    }
    all
}

/// Runs on the device of default limits alone, which keeps this to a minute: shapes are what it is about. Returns whether
/// the shapes broadcast.
fn check_shapes(dtype: DType, shapes: &[&Vec<u64>], data: &[Tensor]) -> bool {
    let op = Max::new(dtype, shapes.iter().map(|shape| contiguous(shape)).collect::<Vec<_>>());
    let Ok(outputs) = op.outputs() else {
        return false;
    };
    let gpu = &common::gpus()[1];
    if outputs[0].shape.contains(&0) {
        assert!(op.plan(gpu.kernels().limits()).unwrap().dispatches.is_empty(), "{shapes:?}");
        return true;
    }
    let inputs: Vec<&Tensor> = data[..shapes.len()].iter().collect();
    let expected = op.reference(&inputs).unwrap();
    let got = gpu.run_blocking(&op, &inputs).unwrap_or_else(|error| panic!("{shapes:?}: {error}"));
    if let Some(difference) = common::first_difference(&expected, &got) {
        panic!("{dtype} {shapes:?}: {difference}\n{}", op.plan(gpu.kernels().limits()).unwrap());
    }
    true
}

#[test]
fn every_pair_of_shapes_up_to_rank_4() {
    let all = shapes(4);
    for dtype in [DType::F32, DType::U8] {
        let data = [1, 2].map(|seed| tensor(dtype, 625, Data::Random, seed));
        for a in &all {
            for b in &all {
                check_shapes(dtype, &[a, b], &data);
            }
        }
    }
}

/// In every combination, each in one order: orders take turns.
#[test]
fn every_triple_of_shapes_up_to_rank_4() {
    let data = [1, 2, 3].map(|seed| tensor(DType::F16, 625, Data::Random, seed));
    let all = shapes(4);
    let fits = |a: &[u64], b: &[u64]| a.iter().rev().zip(b.iter().rev()).all(|(&a, &b)| a == b || a == 1 || b == 1);
    let mut checked = 0;
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate().skip(i).filter(|(_, b)| fits(a, b)) {
            for c in all[j..].iter().filter(|c| fits(a, c) && fits(b, c)) {
                let orders = [[a, b, c], [b, c, a], [c, a, b], [c, b, a], [b, a, c], [a, c, b]];
                assert!(check_shapes(DType::F16, &orders[checked % orders.len()], &data));
                checked += 1;
            }
        }
    }
    println!("{checked} triples");
}

#[test]
fn many_inputs() {
    let cases = cases::max_of_many(&[1, 2, 7, 8, 9, 17, 100, 1000]);
    for case in &cases {
        assert_eq!(case.op.plan(&Limits::default()).unwrap().scratch_bytes, [0, 0], "{}", case.name);
    }
    check_cases(&cases);
}

#[test]
fn views_of_one_buffer() {
    check_cases(&cases::max_of_views());
}

#[test]
fn constants() {
    check_cases(&cases::max_with_constants());
}

#[test]
fn lengths_around_packs_and_shares() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        for len in [1, 3, 4, 5, 15, 16, 17, 4095, 4096, 4097, 16_383, 16_385, 65_537, 262_147] {
            let a = tensor(dtype, len + 7, Data::Random, len);
            let b = tensor(dtype, len, Data::Random, len + 1);
            let scalar = View::strided([len], [0], 1).unwrap();
            let op = Max::new(dtype, [contiguous(&[len]), contiguous(&[len])]);
            check(&op, &[&a, &b], &format!("{dtype} of {len}"));
            let op = Max::new(dtype, [View::strided([len], [1], 3).unwrap(), scalar]);
            check(&op, &[&a, &tensor(dtype, 8, Data::Random, 1)], &format!("{dtype} of {len}, scalar"));
        }
    }
}

/// Operands of several layouts over rows: contiguous, one element a row, the same row again, one element, rows apart; those
/// that begin within packs among them. Around the rows another dimension, along which an operand may stand still.
fn check_rows(dtype: DType, [images, rows, len]: [u64; 3], choice: u64) {
    let view =
        |strides: [u64; 3], offset| View::strided([images, rows, len], strides.map(|n| n as i64), offset).unwrap();
    let flat = view([rows * len, len, 1], 0);
    let inputs = match choice % 4 {
        0 => vec![flat, view([rows, 1, 0], 0), view([0, 0, 1], 2)],
        1 => vec![view([rows * len, len, 1], 3), view([0, 1, 0], 1), view([len, 0, 1], 0)],
        2 => vec![view([1, 0, 0], 0), flat, view([len, 0, 1], 3)],
        _ => vec![view([rows * (len + 1), len + 1, 1], 1), view([0, 1, 0], 0)],
    };
    let data = [Data::Edges, Data::Ties, Data::EdgesWithoutNan];
    let data = data.map(|data| tensor(dtype, images * rows * (len + 1) + 8, data, len));
    let tensors: Vec<&Tensor> = data[..inputs.len()].iter().collect();
    let case = format!("{dtype} {images} x {rows} rows of {len}, choice {}", choice % 4);
    check(&Max::new(dtype, inputs), &tensors, &case);
}

/// Rows that share packs: of every type, and of every length around where other kernels begin.
#[test]
fn short_rows() {
    for dtype in DType::ALL {
        check_rows(dtype, [1, 700, 3], 0);
        check_rows(dtype, [2, 144, 5], 1);
    }
    for dtype in [DType::F32, DType::F16, DType::U8, DType::I64] {
        for len in [2, 4, 7, 8, 15, 16, 17, 31, 32, 33] {
            check_rows(dtype, [3, 48, len], len);
        }
        check_rows(dtype, [1, 8192 * 16 / dtype.bytes() + 3, 6], 1); // enough for a GPU
    }
}

/// Short rows in stretches that end within bunches, and in stretches so short that a bunch might have rows of three.
#[test]
fn stretches_of_short_rows_that_end_within_bunches() {
    for (n, dtype) in [DType::F32, DType::F16, DType::U8, DType::I64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for rows in [pack - 2, pack - 1, pack + 1, 3 * pack - 1, 53, 700].into_iter().filter(|&rows| rows > 1) {
            for len in [2, 3, 16, 31] {
                let images = 40 * pack / rows + 3;
                (0..2).for_each(|choice| check_rows(dtype, [images, rows, len], 2 * choice + rows + n as u64));
            }
        }
        check_rows(dtype, [33, 8192 * pack / 32 + 1, 3], n as u64); // enough for a GPU
    }
}

/// Rows of two dimensions of which an operand has one row of the inner ones for all of the outer: in stretches of whole bunches, in such
/// as end within bunches, and for all rows the same.
#[test]
fn parts_of_short_rows() {
    for (n, dtype) in [DType::F32, DType::Bf16, DType::U8, DType::I64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for (outer, inner) in [(2, 2), (7, 2), (2, 7), (3, 5), (5, 3), (2, 16), (2, 17)] {
            for (images, rows) in [(3, 48), (41, pack + 3), (1, 97)] {
                let case = format!("{dtype} {images} x {rows} rows of {outer} x {inner}");
                let view = |strides: [u64; 4], offset| {
                    View::strided([images, rows, outer, inner], strides.map(|n| n as i64), offset).unwrap()
                };
                let row = outer * inner;
                let flat = |offset| view([rows * row, row, inner, 1], offset);
                let parts = |offset| view([rows * inner, inner, 0, 1], offset);
                let inputs = match n % 2 {
                    0 => [
                        vec![flat(0), parts(0), view([0, 0, inner, 1], 1)],
                        vec![parts(1), view([0, 0, 0, 1], 0), flat(3)],
                    ],
                    _ => [vec![view([0, inner, 0, 1], 2), flat(0), view([rows, 1, 0, 0], 0)], vec![parts(0), flat(1)]],
                };
                for own in inputs {
                    let data = [Data::Edges, Data::Ties, Data::EdgesWithoutNan];
                    let data = data.map(|data| tensor(dtype, images * rows * row + 8, data, row));
                    let tensors: Vec<&Tensor> = data[..own.len()].iter().collect();
                    check(&Max::new(dtype, own), &tensors, &case);
                }
            }
        }
    }
}

/// Rows that are longer than packs, and end within one.
#[test]
fn rows_that_end_within_packs() {
    for dtype in DType::ALL {
        check_rows(dtype, [3, 67, 77], 0);
        check_rows(dtype, [1, 97, 53], 1);
    }
    for dtype in [DType::F32, DType::F16, DType::U8, DType::I64] {
        for len in [35, 63, 65, 127, 129, 1025] {
            check_rows(dtype, [4, 32, len], len / 2);
        }
    }
}

/// Rows of so many packs that an invocation takes several, one, or a part of one.
#[test]
fn rows_around_a_share() {
    for (n, dtype) in [DType::U8, DType::F16, DType::F32, DType::I64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        let all = [2, 3, 85, 127, 128, 129, 170, 171, 255, 256, 257, 383, 384, 385, 513, 2049, 4101];
        for (m, packs) in all.into_iter().enumerate() {
            let more = if (n + m) % 2 == 0 { 0 } else { pack - 1 };
            check_rows(dtype, [3, 70_000 / packs / 3 + 1, packs * pack + more], m as u64);
        }
    }
}

/// Operands that have the same elements in every row, beside such as lie as the output does: around so few rows that they are read again,
/// rows that fill whole tiles only together, and tiles that a row does not fill.
#[test]
fn operands_that_repeat_row_after_row() {
    for (n, dtype) in DType::ALL.into_iter().enumerate() {
        let tile = 64 / dtype.bytes();
        for (m, len) in [2, 3, 20, tile - 1, tile, tile + 1, 3 * tile / 2, 8 * tile, 9 * tile].into_iter().enumerate() {
            let together = rows_that_fill(tile, len);
            // Up to where columns are taken, and to where an invocation takes no more rows.
            let wholes = if len < tile { [15, 16, 33, 600] } else { [15, 16, 17, 35] };
            for (k, whole) in wholes.into_iter().enumerate() {
                let rows = whole * together + (n + m + k) as u64 % 3;
                check_repeated(dtype, rows, len, n + m + k);
            }
        }
    }
}

/// The same of short rows as GPUs take them: neighbours write 128 packs side by side, each of them four and more rows of these.
#[test]
fn neighbours_that_repeat_row_after_row() {
    for (n, dtype) in DType::ALL.into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for (m, len) in [2, 3, 5, 17, 32].into_iter().enumerate().skip(n % 2).step_by(2) {
            let filling = rows_that_fill(pack, len);
            let together = (128 * pack).div_ceil(filling * len) * filling;
            let all = [16 * together - 1, 16 * together, 17 * together + 1, 35 * together + filling + 1];
            for (k, rows) in all.into_iter().enumerate() {
                check_repeated(dtype, rows, len, n + m + k);
            }
        }
    }
}

/// And each of them eight to sixteen rows of these, of which the last have fewer.
#[test]
fn neighbours_of_many_rows() {
    let tuning = Tuning { busy_invocations: 256, ..Tuning::of(AdapterKind::Hardware) };
    let limits = Limits { tuning: Some(tuning), ..gpus()[0].kernels().limits().clone() };
    for (dtype, len) in [(DType::U8, 3), (DType::F16, 5), (DType::F32, 7), (DType::I64, 2)] {
        let pack = 16 / dtype.bytes();
        for packs in [2300, 2900, 4095, 4096, 4099, 5001] {
            let rows = packs * pack / len;
            let op = Max::new(dtype, [contiguous(&[rows, len]), contiguous(&[len])]);
            let inputs = [tensor(dtype, rows * len, Data::Edges, 1), tensor(dtype, len, Data::Ties, 2)];
            let inputs = [&inputs[0], &inputs[1]];
            let plan = op.plan(&limits).unwrap();
            let Params::Broadcast(params) = &plan.dispatches[0].params else { panic!("{plan}") };
            assert!(params.share >= 8, "{plan}");
            let expected = op.reference(&inputs).unwrap();
            check_planned(&gpus()[0], &limits, &op, &inputs, &expected, &format!("{dtype} {rows} rows of {len}"));
        }
    }
}

/// The fewest rows of so many elements that are whole tiles, or packs, of so many.
fn rows_that_fill(elements: u64, len: u64) -> u64 {
    (1..=elements).find(|rows| (rows * len).is_multiple_of(elements)).unwrap()
}

fn check_repeated(dtype: DType, rows: u64, len: u64, choice: usize) {
    let view = |strides: [i64; 2], offset| View::strided([rows, len], strides, offset).unwrap();
    let flat = view([len as i64, 1], 0);
    let op = match choice % 7 {
        0 => Max::new(dtype, [flat, view([0, 1], 3)]),
        1 => Max::new(dtype, [view([0, -1], len - 1), flat, view([0, 0], 5)]).nan(NanPolicy::Ignore),
        2 => Max::new(dtype, [flat.clone(), view([0, 3], 1), flat]).in_place(0),
        3 => Max::new(dtype, [view([0, 1], 0), view([0, 2], 2), view([0, 0], 1)]),
        4 => Max::new(dtype, [view([0, 1], 1), view([len as i64, 1], 16 / dtype.bytes())]),
        5 => Max::new(dtype, [&[flat][..], &[1, 2, 3, 4, 5, 6, 7, 8].map(|n| view([0, n], 0))[..]].concat()),
        _ => {
            let inner = (2..=len).find(|n| len.is_multiple_of(*n)).unwrap_or(len); // dimensions within a row
            let view = |strides: [u64; 3], offset| {
                View::strided([rows, len / inner, inner], strides.map(|n| n as i64), offset).unwrap()
            };
            Max::new(dtype, [view([0, 1, 0], 2), view([len, inner, 1], 0), view([0, 0, 1], 0)])
        }
    };
    let data = [Data::Edges, Data::Ties, Data::EdgesWithoutNan];
    let tensors: Vec<Tensor> = (0..op.inputs().unwrap().len())
        .map(|n| tensor(dtype, rows.max(8) * len + 16, data[(n + choice) % 3], n as u64))
        .collect();
    check(&op, &tensors.iter().collect::<Vec<_>>(), &format!("{dtype} {rows} rows of {len}, choice {}", choice % 7));
}

#[test]
fn one_dispatch_moves_each_operand_once() {
    let bytes = 4 << 20;
    for count in 1..=7 {
        let plan = Max::new(DType::F32, vec![contiguous(&[1 << 20]); count]).plan(&Limits::default()).unwrap();
        assert_eq!(plan.dispatches.len(), 1);
        assert_eq!(plan.moved_bytes(), (count as u64 + 1) * bytes);
    }
    let many = Limits { max_storage_bindings: 32, ..Default::default() };
    let plan = Max::new(DType::F32, vec![contiguous(&[1 << 20]); 31]).plan(&many).unwrap();
    assert_eq!((plan.dispatches.len(), plan.moved_bytes()), (1, 32 * bytes));
    // Written over an input, eight of them take eight bindings.
    let plan = Max::new(DType::F32, vec![contiguous(&[1 << 20]); 8]).in_place(3).plan(&Limits::default()).unwrap();
    assert_eq!((plan.dispatches.len(), plan.moved_bytes()), (1, 9 * bytes));
}
