//! Tensors beyond one binding on the GPU against the reference, bit for bit.

use crate::common::{
    Data, axes_sets, check_planned, check_within, first_difference, gpus, greatest, policies, tensor, with_bits,
};
use wgmax::{
    ArgMax, ArgMaxOutput, DType, EmptyMax, Gpu, GpuOptions, Hardmax, Limits, Max, NanPolicy, Operation, Parts,
    ReduceMax, Slices, Tensor, View, wgpu,
};

/// What a binding has room for in most of these tests: some windows of [`views`].
const WINDOW_BYTES: u64 = 4 << 10;

fn check(op: &impl Operation, inputs: &[&Tensor], case: &str) {
    let expected = op.reference(inputs).unwrap_or_else(|error| panic!("{case}: reference: {error}"));
    check_within(WINDOW_BYTES, op, inputs, &expected, case);
}

/// One of each width: what windows do to a type is a matter of its width.
const TYPES: [DType; 4] = [DType::U8, DType::F16, DType::F32, DType::I64];

/// Elements that every one of [`views`] lies in.
const LEN: u64 = 7 * 30 * 40;

fn views() -> Vec<(&'static str, View)> {
    let view = |shape: [u64; 3]| View::new(shape).unwrap();
    let rows = view([7, 30, 40]);
    let columns = view([7, 37, 32]);
    vec![
        ("contiguous rows", rows.clone()),
        ("contiguous columns", columns.clone()),
        ("one long row", view([1, 1, LEN])),
        ("long columns", view([1, LEN / 35, 35])),
        ("two long rows", view([1, 2, LEN / 2])),
        ("short rows", view([LEN / 6, 2, 3])),
        ("permuted 021", rows.permute(&[0, 2, 1]).unwrap()),
        ("permuted 210", rows.permute(&[2, 1, 0]).unwrap()),
        ("permuted 102", columns.permute(&[1, 0, 2]).unwrap()),
        ("permuted 120", rows.permute(&[1, 2, 0]).unwrap()),
        ("sliced", rows.slice(2, 3, 31, 1).unwrap().slice(0, 1, 5, 1).unwrap()),
        ("every other", rows.slice(2, 1, 19, 2).unwrap()),
        ("reversed inner", rows.reverse(2).unwrap()),
        ("reversed outer", columns.reverse(0).unwrap().reverse(1).unwrap()),
        ("broadcast outer", View::strided([3, 31, 270], [0, 270, 1], 7).unwrap()),
        ("broadcast inner", View::strided([7, 1100, 3], [1100, 1, 0], 3).unwrap()),
        ("odd offset", View::strided([7, 29, 40], [1160, 40, 1], 13).unwrap()),
        ("overlapping", View::strided([31, 21, 63], [160, 107, 1], 5).unwrap()),
    ]
}

/// The views of the n-th type, every other one: a kernel of every type takes its time.
fn views_of(n: usize) -> impl Iterator<Item = (&'static str, View)> {
    views().into_iter().skip(n % 2).step_by(2)
}

#[test]
fn reductions_of_every_view_and_axes() {
    for (t, dtype) in TYPES.into_iter().enumerate() {
        let edges = tensor(dtype, LEN, Data::Edges, 1);
        let ties = tensor(dtype, LEN, Data::Ties, 1);
        for (name, view) in views_of(t) {
            for (n, axes) in axes_sets().into_iter().enumerate() {
                let case = format!("{dtype} {name} {axes:?}");
                check(&ReduceMax::new(dtype, view.clone()).axes(axes.clone()), &[&edges], &case);
                let op = ArgMax::new(dtype, view.clone()).axes(axes);
                match n % 2 {
                    0 => check(&op, &[&ties], &case),
                    _ => check(&op.select_last(true).output(ArgMaxOutput::ValuesAndIndices), &[&ties], &case),
                }
            }
        }
    }
}

/// Columns that go down their longest dimension in each window, and windows of so many packs that invocations take several in turn.
#[test]
fn columns_in_windows() {
    for (t, dtype) in TYPES.into_iter().enumerate() {
        let input = tensor(dtype, 9 * 12 * 3 * 45, Data::Edges, 3);
        for (n, rows) in [[0, 2], [0, 1]].into_iter().enumerate() {
            let view = View::new([9, 12, 3, 45]).unwrap();
            let view = if (t + n).is_multiple_of(2) { view } else { view.reverse(0).unwrap() };
            check(&ReduceMax::new(dtype, view).axes(rows), &[&input], &format!("{dtype} {rows:?}"));
        }
        let columns = (1 << 13) / dtype.bytes() + t as u64 % 2;
        let input = tensor(dtype, 30 * 5 * columns, Data::Ties, 4);
        for axes in [&[1_i64][..], &[0, 1]] {
            let case = format!("{dtype} {columns} columns {axes:?}");
            let op = ArgMax::new(dtype, View::new([30, 5, columns]).unwrap()).axes(axes);
            check_within(1 << 18, &op, &[&input], &op.reference(&[&input]).unwrap(), &case);
        }
    }
}

#[test]
fn ignored_nans() {
    for dtype in [DType::F16] {
        for data in [Data::Edges, Data::Nans] {
            let input = tensor(dtype, LEN, data, 2);
            for (name, view) in views().into_iter().step_by(4) {
                for axes in axes_sets() {
                    let case = format!("{dtype} {data:?} {name} {axes:?}");
                    let op = ArgMax::new(dtype, view.clone()).axes(axes).output(ArgMaxOutput::ValuesAndIndices);
                    check(&op.nan(NanPolicy::Ignore).select_last(true), &[&input], &case);
                }
            }
        }
    }
}

#[test]
fn hardmax_of_every_view_and_axis() {
    for (t, dtype) in TYPES.into_iter().enumerate() {
        let input = tensor(dtype, LEN, Data::Ties, 1);
        for (name, view) in views_of(t) {
            for slices in [Slices::Along(0), Slices::Along(1), Slices::Along(2), Slices::From(0), Slices::From(1)] {
                let op = Hardmax::new(dtype, view.clone(), slices);
                check(&op, &[&input], &format!("{dtype} {name} {slices:?}"));
            }
        }
    }
}

#[test]
fn max_of_every_type_and_pairs_of_views() {
    let broadcastable = |a: &View, b: &View| a.shape().iter().zip(b.shape()).all(|(&a, &b)| a == b || a == 1 || b == 1);
    for dtype in TYPES {
        let inputs = [tensor(dtype, LEN, Data::Edges, 1), tensor(dtype, LEN, Data::Edges, 2)];
        let views = views();
        for (name_a, a) in &views {
            for (name_b, b) in views.iter().filter(|(_, b)| broadcastable(a, b)) {
                let op = Max::new(dtype, [a.clone(), b.clone()]);
                check(&op, &[&inputs[0], &inputs[1]], &format!("{dtype} {name_a}, {name_b}"));
            }
        }
        let rows = View::new([93, 89]).unwrap();
        for (name, other) in [("row", [1, 89]), ("column", [93, 1]), ("scalar", [1, 1])] {
            let op = Max::new(dtype, [rows.clone(), View::new(other).unwrap()]);
            check(&op, &[&inputs[0], &inputs[1]], &format!("{dtype} {name}"));
            let op = op.in_place(0);
            check(&op, &[&inputs[0], &inputs[1]], &format!("{dtype} {name}, in place"));
        }
        let many = Max::new(dtype, vec![rows.clone(); 9]); // more than WebGPU's default bindings
        let data: Vec<Tensor> = (0..9).map(|n| tensor(dtype, LEN, Data::Edges, n)).collect();
        check(&many, &data.iter().collect::<Vec<_>>(), &format!("{dtype} 9 inputs"));
    }
}

#[test]
fn the_maximum_of_nothing_is_written_everywhere() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::F64] {
        let input = tensor(dtype, 0, Data::Random, 1);
        let op = ReduceMax::new(dtype, View::new([0, 20_001]).unwrap()).axes([0]).empty(EmptyMax::LowestFinite);
        check(&op, &[&input], &dtype.to_string());
    }
}

/// The outermost dimension of a `[rows, 30, 10]` tensor in parts of these sizes; views with the strides of a part that is
/// contiguous, transposed, or an excerpt of a larger tensor, taking turns.
fn parts(rows: &[u64]) -> Parts {
    let view = |(n, &rows): (usize, &u64)| match n % 3 {
        0 => View::new([rows, 30, 10]).unwrap(),
        1 => View::new([10, rows, 30]).unwrap().permute(&[1, 2, 0]).unwrap(),
        _ => View::strided([rows, 30, 10], [310, 10, 1], 7).unwrap(),
    };
    Parts::new(rows.iter().enumerate().map(view).collect::<Vec<_>>()).unwrap()
}

#[test]
fn parts_in_buffers_of_their_own() {
    for dtype in TYPES {
        let data: Vec<Tensor> = (0..4).map(|n| tensor(dtype, 30_000, Data::Ties, n)).collect();
        for rows in [&[3, 5][..], &[1, 1, 1, 1], &[0, 12, 7, 14]] {
            let inputs: Vec<&Tensor> = data.iter().take(rows.len()).collect();
            let input = parts(rows);
            for (n, axes) in axes_sets().into_iter().enumerate() {
                let case = format!("{dtype} {rows:?} {axes:?}");
                check(&ReduceMax::new(dtype, input.clone()).axes(axes.clone()), &inputs, &case);
                check(&ArgMax::new(dtype, input.clone()).axes(axes).select_last(n % 2 == 1), &inputs, &case);
            }
            for slices in [Slices::Along(0), Slices::Along(1), Slices::From(1)] {
                check(&Hardmax::new(dtype, input.clone(), slices), &inputs, &format!("{dtype} {rows:?} {slices:?}"));
            }
            let size = input.shape()[0];
            let [first, last] = [[size, 30, 10], [1, 30, 1]].map(|shape| Parts::from(View::new(shape).unwrap()));
            let op = Max::new(dtype, [first, input.clone(), last]);
            let other = tensor(dtype, size * 300, Data::Edges, 9);
            let all = [&[&other], &inputs[..], &[&other]].concat();
            check(&op, &all, &format!("{dtype} {rows:?} max"));
            check(&op.in_place(0), &all, &format!("{dtype} {rows:?} max in place"));
        }
    }
}

/// A device that binds no more bytes at once, and has larger buffers.
fn gpu_of_large_buffers(max_binding_bytes: u64) -> Gpu {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: max_binding_bytes,
        max_buffer_size: 1 << 30,
        ..Default::default()
    };
    Gpu::new_blocking(&GpuOptions { limits: Some(limits), ..Default::default() }).unwrap()
}

/// Three bindings: of one type those that WebGPU has by default, 128 MiB, of the others of less. The maximum stands in the last
/// element, or on both sides of every window's edge.
#[test]
fn tensors_of_three_bindings() {
    for (dtype, max_binding_bytes) in [(DType::F32, 128 << 20), (DType::U8, 8 << 20), (DType::I64, 16 << 20)] {
        let gpu = gpu_of_large_buffers(max_binding_bytes);
        let len = (300 * max_binding_bytes / 128).next_multiple_of(8) / dtype.bytes();
        let edge = max_binding_bytes / dtype.bytes();
        let flat = tensor(dtype, len, Data::Ties, 1);
        let planted = |at: &[u64]| at.iter().fold(flat.clone(), |t, &at| with_bits(&t, at, greatest(dtype)));
        let last = planted(&[len - 1]);
        let ties = planted(&[edge - 1, edge, 2 * edge - 1, 2 * edge, len - 1]);
        let view = |shape: &[u64]| View::new(shape).unwrap();
        let check = |op: &dyn Operation, inputs: &[&Tensor], expected: &[Tensor], case: &str| {
            let got = gpu.run_blocking(op, inputs).unwrap();
            assert_eq!(first_difference(expected, &got), None, "{dtype} {case}");
        };
        let greatest = with_bits(&tensor(dtype, 1, Data::Zeros, 0), 0, greatest(dtype));
        for (case, input, first) in [("last", &last, len - 1), ("ties", &ties, edge - 1)] {
            let index = |at: u64| Tensor::new([], &[at as i64]).unwrap();
            let value = Tensor::from_bytes(dtype, [], greatest.bytes().to_vec()).unwrap();
            let one_slice = |shape: &[u64]| ArgMax::new(dtype, view(shape));
            check(&ReduceMax::new(dtype, view(&[len])), &[input], std::slice::from_ref(&value), case);
            let both = one_slice(&[len]).output(ArgMaxOutput::ValuesAndIndices);
            check(&both, &[input], &[value, index(first)], case);
            check(&one_slice(&[len]).select_last(true), &[input], &[index(len - 1)], case);
            let mut one = vec![0; input.bytes().len()];
            let size = dtype.bytes() as usize;
            one[first as usize * size..][..size].copy_from_slice(&one_bytes(dtype)[..size]);
            let one = Tensor::from_bytes(dtype, [len], one).unwrap();
            check(&Hardmax::new(dtype, view(&[len]), Slices::Along(0)), &[input], &[one], case);
        }
        let answer = |op: &dyn Operation, inputs: &[&Tensor], case: &str| {
            check(op, inputs, &op.reference(inputs).unwrap(), case);
        };
        let rows = view(&[len / 1000, 1000]);
        answer(&ReduceMax::new(dtype, rows.clone()).axes([1]), &[&ties], "rows");
        answer(&ArgMax::new(dtype, rows.clone()).axes([0]), &[&ties], "columns");
        answer(&Hardmax::new(dtype, rows, Slices::Along(0)), &[&ties], "slices side by side");
        answer(&Max::new(dtype, [view(&[len]), view(&[1])]), &[&ties, &last], "with a scalar");
    }
}

fn one_bytes(dtype: DType) -> [u8; 8] {
    let one: u64 = if dtype == DType::F32 { 0x3f80_0000 } else { 1 };
    one.to_le_bytes()
}

/// Thousands of partial results for outputs of which several share a word.
#[test]
fn thousands_of_partial_results_are_finished() {
    let view = View::strided([80_000, 64], [80, 1], 0).unwrap();
    for dtype in [DType::U8, DType::Bf16] {
        let input = with_bits(&tensor(dtype, 80 * 80_000, Data::Ties, 3), 80 * 79_998 + 5, greatest(dtype));
        let op = ReduceMax::new(dtype, view.clone());
        check_within(5500 << 10, &op, &[&input], &op.reference(&[&input]).unwrap(), &format!("{dtype}"));
        let op = ArgMax::new(dtype, view.clone()).output(ArgMaxOutput::ValuesAndIndices).select_last(true);
        check_within(5500 << 10, &op, &[&input], &op.reference(&[&input]).unwrap(), &format!("{dtype}"));
    }
}

/// A device of sixteen invocations: each has tens of thousands of elements to write.
#[test]
fn few_invocations_write_everything() {
    let check = |op: &dyn Operation, inputs: &[&Tensor], case: &str| {
        let expected = op.reference(inputs).unwrap();
        for (gpu, adapter) in gpus().iter().zip(policies(&gpus()[0])) {
            let limits = gpu.kernels().limits().clone();
            let limits = Limits { adapter, max_groups: 4, max_group_invocations: 1, ..limits };
            check_planned(gpu, &limits, op, inputs, &expected, case);
        }
    };
    let input = tensor(DType::I32, 1_100_000, Data::Random, 1);
    let view = |shape: [u64; 2]| View::new(shape).unwrap();
    let reversed = View::new([1_100_000]).unwrap().reverse(0).unwrap();
    check(&Max::new(DType::I32, [reversed]), &[&input], "Max of elements");
    check(&Max::new(DType::I32, [view([1100, 1000]), view([1, 1])]), &[&input, &input], "Max of packs");
    check(&Hardmax::new(DType::I32, view([15_000, 70]), Slices::Along(1)), &[&input], "Hardmax of rows");
    check(&Hardmax::new(DType::I32, view([70, 15_000]), Slices::Along(0)), &[&input], "Hardmax of columns");
    check(&ReduceMax::new(DType::I32, view([550_000, 2])).axes([1]), &[&input], "ReduceMax of short rows");
    check(&ReduceMax::new(DType::I32, view([300_000, 0])).axes([1]), &[&input], "ReduceMax of nothing");
    check(&ArgMax::new(DType::I32, view([2, 550_000])).axes([1]), &[&input], "ArgMax of long rows");
}

/// What parts have in common is their shape, not how they lie in their buffers.
#[test]
fn parts_lie_in_their_buffers_in_different_ways() {
    let strided = |strides: [i64; 3]| View::strided([1, 200, 200], strides, 0).unwrap();
    let parts = Parts::new([strided([0, 200, 1]), strided([0, 203, 1]), strided([0, 1, 200])]).unwrap();
    for dtype in [DType::U8, DType::F32] {
        let inputs = [1, 2, 3].map(|seed| tensor(dtype, 203 * 200, Data::Edges, seed));
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        for axes in axes_sets().into_iter().filter(|axes| !axes.is_empty()) {
            let case = format!("{dtype} over {axes:?}");
            let op = ReduceMax::new(dtype, parts.clone()).axes(axes.clone());
            check_within(16 << 10, &op, &inputs, &op.reference(&inputs).unwrap(), &case);
            let op = ArgMax::new(dtype, parts.clone()).axes(axes);
            check_within(16 << 10, &op, &inputs, &op.reference(&inputs).unwrap(), &case);
        }
    }
}
