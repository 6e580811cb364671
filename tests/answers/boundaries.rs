//! Row lengths and output counts around every boundary, and reductions of 128 MiB.

use crate::common::{Data, check, check_against, check_planned, gpus, greatest, tensor, with_bits};
use wgmax::{
    AdapterKind, ArgMax, ArgMaxOutput, DType, Hardmax, IndexType, Limits, NanPolicy, Operation, ReduceMax, Slices,
    Tensor, Tuning, View,
};

/// Both operators over the rows of `view`.
fn over_rows(dtype: DType, view: &View) -> [Box<dyn Operation>; 3] {
    let arg_max = ArgMax::new(dtype, view.clone()).axes([-1]).output(ArgMaxOutput::ValuesAndIndices);
    [
        Box::new(ReduceMax::new(dtype, view.clone()).axes([-1])),
        Box::new(arg_max.clone()),
        Box::new(arg_max.index(IndexType::U32).select_last(true)),
    ]
}

fn check_rows(dtype: DType, input: &Tensor, view: &View, case: &str) {
    over_rows(dtype, view).iter().for_each(|op| check(&**op, &[input], case));
}

#[test]
fn row_lengths_around_tiles_and_groups() {
    for dtype in [DType::F32, DType::F16, DType::U8, DType::I64] {
        for len in [
            1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025,
            4095, 4096, 4097,
        ] {
            let input = tensor(dtype, 3 * len + 5, Data::Ties, len);
            let view = View::strided([3, len], [len as i64, 1], len % 5).unwrap();
            check_rows(dtype, &input, &view, &format!("{dtype} rows of {len}"));
        }
    }
}

/// Rows that share packs, counts of rows that do not fill packs, and the first rows that are too long for it.
#[test]
fn short_rows() {
    for (n, dtype) in [DType::F32, DType::F16, DType::U8, DType::I64].into_iter().enumerate() {
        let all = [2, 3, 5, 8, 16, 17, 32, 33, 36, 64, 65];
        // Each type every other one: a kernel of every type takes its time.
        for len in all.into_iter().skip(n % 2).step_by(2) {
            let fewest = if len == 3 { 8192 } else { 16 }; // bunches that are worth it to a GPU, and to a CPU
            let rows = fewest * (16 / dtype.bytes()) + len * 7 % 29;
            let input = tensor(dtype, rows * len, Data::Ties, len);
            let (view, case) = (View::new([rows, len]).unwrap(), format!("{dtype} {rows} rows of {len}"));
            check_rows(dtype, &input, &view, &case);
            check(&Hardmax::new(dtype, view, Slices::Along(1)), &[&input], &case);
        }
    }
}

/// Fewer short rows than fill packs, in blocks that each begin with one, beside one another or again and again.
#[test]
fn few_short_rows_in_blocks() {
    for (dtype, blocks, rows, len, pitch) in [
        (DType::U8, 32_768, 4, 3, 16),
        (DType::I8, 40_000, 2, 2, 16),
        (DType::U8, 1 << 18, 2, 2, 0),
        (DType::Bf16, 16_384, 2, 3, 8),
        (DType::F16, 16_384, 4, 3, 16),
        (DType::F32, 16_384, 2, 3, 8),
        (DType::I32, 1 << 15, 1, 3, 4),
        (DType::I64, 1 << 14, 1, 3, 4),
    ] {
        let view = View::strided([blocks, rows, len], [pitch as i64, len as i64, 1], 0).unwrap();
        let input = tensor(dtype, blocks * pitch + rows * len, Data::Ties, len);
        let case = format!("{dtype} {blocks} blocks of {rows} rows of {len}, {pitch} apart");
        check_rows(dtype, &input, &view, &case);
        check(&Hardmax::new(dtype, view, Slices::Along(2)), &[&input], &case);
    }
}

/// Short rows of the smallest elements that fill many packs, which are taken part by part.
#[test]
fn short_rows_of_many_packs() {
    let (rows, len) = (120_007, 19);
    let input = tensor(DType::I8, rows * len, Data::Ties, len);
    let view = View::new([rows, len]).unwrap();
    check(&ReduceMax::new(DType::I8, view.clone()).axes([1]), &[&input], "rows of 19");
    let arg_max = ArgMax::new(DType::I8, view).axes([1]);
    check(&arg_max, &[&input], "rows of 19");
    check(&arg_max.output(ArgMaxOutput::ValuesAndIndices), &[&input], "rows of 19");
}

/// The same of every type, with values that are compared otherwise than their bits.
#[test]
fn edges_in_short_rows() {
    for dtype in DType::ALL {
        let view = View::new([259, 3]).unwrap();
        for data in [Data::Edges, Data::EdgesWithoutNan, Data::Least, Data::Nans] {
            let input = tensor(dtype, 259 * 3, data, 1);
            let case = format!("{dtype} rows of 3, {data:?}");
            let reduce_max = ReduceMax::new(dtype, view.clone()).axes([-1]);
            let arg_max = ArgMax::new(dtype, view.clone()).axes([-1]);
            let hardmax = Hardmax::new(dtype, view.clone(), Slices::Along(1));
            check(&reduce_max, &[&input], &case);
            check(&arg_max.clone().output(ArgMaxOutput::ValuesAndIndices), &[&input], &case);
            check(&hardmax, &[&input], &case);
            if dtype.is_float() {
                check(&hardmax.nan(NanPolicy::Ignore), &[&input], &case);
                check(&reduce_max.nan(NanPolicy::Ignore), &[&input], &case);
                check(&arg_max.nan(NanPolicy::Ignore).select_last(true), &[&input], &case);
            }
        }
    }
}

/// Rows side by side whose elements take turns, in blocks small enough for bunches and a little larger: blocks that follow one another,
/// and those of which an outer axis is reduced, too, in stretches that begin anywhere.
#[test]
fn small_blocks() {
    for (n, dtype) in [DType::F32, DType::Bf16, DType::U8, DType::I64].into_iter().enumerate() {
        let blocks = [(2, 2), (2, 3), (3, 5), (8, 5), (21, 3), (4, 16), (2, 64), (64, 2), (43, 3)];
        for (m, (len, columns)) in blocks.into_iter().enumerate() {
            let fewest = if (len, columns) == (3, 5) { 8192 } else { 20 }; // bunches that are worth it to a GPU, and to a CPU
            let blocks = fewest * (16 / dtype.bytes()) / columns + [0, 7][n % 2];
            match (n + m) % 2 {
                0 => check_blocks(dtype, [1, blocks, len, columns], 0),
                _ => check_blocks(dtype, [3, blocks, len, columns], [1, 16, 0, 3][n]),
            }
        }
    }
}

/// Larger blocks of narrow columns, which only software takes in bunches: the smallest and the largest, by elements and by words.
#[test]
fn large_blocks() {
    for (n, (dtype, len, columns)) in [
        (DType::F32, 44, 3),
        (DType::F32, 57, 5),
        (DType::Bf16, 85, 6),
        (DType::Bf16, 42, 12),
        (DType::U8, 128, 4),
        (DType::U8, 57, 5),
        (DType::I32, 256, 2),
        (DType::I64, 43, 3),
        // Those of lavapipe alone.
        (DType::F16, 73, 7),
        (DType::Bf16, 9, 27),
        (DType::U8, 23, 5),
        (DType::F32, 11, 21),
    ]
    .into_iter()
    .enumerate()
    {
        let fewest = if dtype == DType::U8 { (1 << 21) / (len * columns) } else { 0 }; // that many packs are worth it
        let blocks = (2500 * (16 / dtype.bytes()) / columns).max(fewest) + 3;
        check_blocks(dtype, [1 + n as u64 % 2, blocks, len, columns], 0);
    }
}

/// Every operator over the rows of blocks, and reductions over the outer axis, too, with so many elements between its indices.
fn check_blocks(dtype: DType, shape: [u64; 4], gap: u64) {
    let [outer, blocks, len, columns] = shape;
    let stretch = blocks * len * columns + gap;
    let strides = [stretch, len * columns, columns, 1].map(|stride| stride as i64);
    let view = View::strided(shape, strides, gap % 5).unwrap();
    let input = tensor(dtype, gap % 5 + outer * stretch, Data::Ties, columns);
    let case = format!("{dtype} {outer} x {blocks} blocks of {len} by {columns}, {gap} apart");
    check(&Hardmax::new(dtype, view.clone(), Slices::Along(2)), &[&input], &case);
    let axes: &[&[i64]] = if outer > 1 { &[&[2], &[0, 2]] } else { &[&[2]] };
    for &axes in axes {
        let case = format!("{case} over {axes:?}");
        check(&ReduceMax::new(dtype, view.clone()).axes(axes), &[&input], &case);
        let arg_max = ArgMax::new(dtype, view.clone()).axes(axes);
        check(&arg_max, &[&input], &case);
        check(&arg_max.select_last(true).output(ArgMaxOutput::ValuesAndIndices), &[&input], &case);
    }
}

/// Stretches of blocks that end within bunches, around three bunches long.
#[test]
fn blocks_whose_stretches_end_within_bunches() {
    for (dtype, len, columns) in
        [(DType::U8, 2, 3), (DType::Bf16, 4, 2), (DType::F16, 2, 2), (DType::F32, 2, 3), (DType::I64, 3, 2)]
    {
        let bunch = 16 / dtype.bytes(); // blocks
        for blocks in [3 * bunch - 1, 3 * bunch, 3 * bunch + 1, 5 * bunch + 3] {
            let outer = 300_000 / dtype.bytes() / (blocks * len * columns) + 1;
            check_blocks(dtype, [outer, blocks, len, columns], bunch / 2 + 1);
        }
    }
}

/// Images of windows of pixels.
struct Windows {
    images: u64,
    rows: u64,
    columns: u64,
    /// Pixels of a window, one above the other and side by side.
    window: [u64; 2],
    /// Elements between images, beside them, and before the first.
    gaps: [u64; 3],
}

impl Windows {
    /// Every operator over the pixels of each window, also where rows of pixels, or images, come in another order.
    fn check(&self, dtype: DType) {
        let &Windows { images, rows, columns, window: [high, wide], gaps: [between, beside, before] } = self;
        let row = columns * wide + beside;
        let image = rows * row * high + between;
        let strides = [image, row * high, row, wide, 1].map(|stride| stride as i64);
        let view = View::strided([images, rows, high, columns, wide], strides, before).unwrap();
        let input = tensor(dtype, before + images * image, Data::Ties, columns);
        let upside_down = view.reverse(2).unwrap();
        let backwards = view.reverse(0).unwrap().reverse(1).unwrap();
        for (turned, view) in [("", view), (", upside down", upside_down), (", backwards", backwards)] {
            let case = format!("{dtype} {images} images of {rows} x {columns} windows of {high} x {wide}{turned}");
            check(&ReduceMax::new(dtype, view.clone()).axes([2, 4]), &[&input], &case);
            let arg_max = ArgMax::new(dtype, view).axes([2, 4]).output(ArgMaxOutput::ValuesAndIndices);
            check(&arg_max, &[&input], &case);
            if turned.is_empty() {
                check(&arg_max.output(ArgMaxOutput::Indices).select_last(true), &[&input], &case);
            }
        }
    }
}

/// Bunches whose results are whole packs, and rows beside them that do not fill one: as many as a binding has to begin with, and
/// one row more or less. In one piece, and where a bunch has rows of two stretches.
#[test]
fn short_rows_stored_in_packs() {
    for (n, dtype) in DType::ALL.into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        // Each type every third one: a kernel of every type takes its time.
        let lens = [2, 3, 4, 6, 10, pack + 1].into_iter().enumerate();
        for (m, len) in lens.filter(|(m, _)| (n + m) % 3 == 0) {
            let bunches = (1 << 14) * pack / (len * 256) + 1; // so many loads that another dispatch pays
            let rows = bunches * 256 + [0, 1, 255, 8, 16, 64][(n / 3 + m) % 6];
            let case = format!("{dtype} {rows} rows of {len}");
            let input = tensor(dtype, (rows + 3) * len + 5, Data::Edges, rows);
            check_rows(dtype, &input, &View::new([rows, len]).unwrap(), &case);
            let stretches = View::strided([rows / 12, 9, len], [(12 * len) as i64, len as i64, 1], 1).unwrap();
            check_rows(dtype, &input, &stretches, &format!("{case}, nine of each twelve"));
        }
    }
}

/// Several short rows each, above one another or elsewhere, in images that stand apart.
#[test]
fn windows_of_pixels() {
    for dtype in [DType::F32, DType::Bf16, DType::U8, DType::F64] {
        for (images, rows, columns, window, between) in
            [(3, 6, 48, [2, 2], 0), (6, 8, 20, [2, 2], 0), (2, 5, 32, [3, 3], 32), (4, 4, 16, [2, 7], 16)]
        {
            Windows { images, rows, columns, window, gaps: [between, 0, 0] }.check(dtype);
        }
    }
}

/// Rows of windows that begin and end anywhere in packs.
#[test]
fn windows_of_pixels_within_packs() {
    for (dtype, images, rows, columns, window, gaps) in [
        (DType::F32, 350, 14, 14, [2, 2], [0, 0, 0]),
        (DType::F32, 300, 7, 3, [4, 5], [1, 3, 2]),
        (DType::Bf16, 480, 9, 23, [3, 2], [5, 1, 3]),
        (DType::Bf16, 700, 14, 14, [2, 2], [0, 0, 0]),
        (DType::U8, 600, 7, 15, [2, 3], [1, 0, 7]),
        (DType::U8, 400, 14, 28, [2, 2], [4, 8, 4]),
        // Fewer rows than fill a pack before the next stretch begins.
        (DType::U8, 900, 7, 14, [3, 2], [0, 0, 0]),
        (DType::U8, 1200, 7, 7, [2, 3], [1, 0, 5]),
        (DType::U8, 2500, 5, 3, [3, 3], [0, 2, 0]),
        (DType::Bf16, 1200, 5, 5, [3, 2], [0, 0, 1]),
        (DType::F32, 1500, 4, 2, [2, 3], [0, 1, 0]),
        (DType::F64, 200, 7, 7, [2, 2], [0, 1, 0]),
        // Blocks of windows in bunches, one after another and in stretches.
        (DType::U8, 300, 16, 7, [2, 2], [16, 0, 0]),
        (DType::F16, 200, 8, 5, [3, 3], [0, 0, 0]),
        (DType::Bf16, 90, 16, 7, [3, 3], [8, 0, 16]),
        (DType::F64, 120, 9, 7, [2, 3], [0, 0, 0]),
        (DType::F32, 90, 4, 64, [2, 2], [0, 0, 0]),
        (DType::U8, 170, 3, 41, [2, 3], [0, 0, 0]),
        (DType::F16, 80, 3, 17, [3, 5], [0, 0, 3]),
        (DType::F16, 1, 1, 60_001, [1, 3], [0, 0, 1]),
        (DType::U8, 1, 1, 100_003, [1, 5], [0, 0, 3]),
    ] {
        Windows { images, rows, columns, window, gaps }.check(dtype);
    }
}

/// Rows of windows that end within bunches: around three bunches long, and longer.
#[test]
fn windows_whose_rows_end_within_bunches() {
    for (n, dtype) in [DType::U8, DType::Bf16, DType::F16, DType::I16, DType::F32, DType::I64].into_iter().enumerate() {
        let bunch = 16 / dtype.bytes();
        for (m, columns) in
            [3 * bunch - 1, 3 * bunch, 3 * bunch + 1, 5 * bunch + 3, 40 * bunch + 1].into_iter().enumerate()
        {
            let window = [[2, 2], [2, 3], [3, 2], [1, 5]][(n + m) % 4];
            let images = 300_000 / dtype.bytes() / (7 * columns * window[0] * window[1]) + 1;
            Windows { images, rows: 7, columns, window, gaps: [0, m as u64 % 2, n as u64 % 3] }.check(dtype);
        }
    }
}

/// Rows of windows, each up to as long as bunches have them that begin anywhere, and longer.
#[test]
fn long_windows_within_packs() {
    for (dtype, lens) in [
        (DType::U8, [9, 16, 17, 31, 33]),
        (DType::Bf16, [9, 14, 16, 17, 31]),
        (DType::F16, [11, 13, 15, 18, 33]),
        (DType::F32, [9, 13, 17, 23, 25]),
        (DType::I64, [9, 11, 12, 13, 15]),
    ] {
        for (n, len) in lens.into_iter().enumerate() {
            let (columns, rows) = ([7, 21, 57][n % 3], 5);
            let images = 300_000 / dtype.bytes() / (rows * columns * 2 * len) + 1;
            Windows { images, rows, columns, window: [1 + n as u64 % 2, len], gaps: [0, n as u64 % 2, 1] }.check(dtype);
        }
    }
}

/// What is reduced has one element: maxima are the elements themselves, but for NaN, and positions are 0.
#[test]
fn axes_of_one_element() {
    for dtype in DType::ALL {
        let input = tensor(dtype, 7 * 65 + 2, Data::Edges, 1);
        for (case, view, axes) in [
            ("rows", View::strided([7, 1, 65], [65, 9, 1], 0).unwrap(), &[1][..]),
            ("columns", View::strided([65, 7, 1], [1, 65, 1], 2).unwrap(), &[-1]),
            ("rows backwards", View::strided([7, 1, 65], [65, 9, -1], 66).unwrap(), &[1]),
        ] {
            let case = format!("{dtype} {case} of one element each");
            let reduce_max = ReduceMax::new(dtype, view.clone()).axes(axes);
            let arg_max = ArgMax::new(dtype, view).axes(axes);
            for nan in [NanPolicy::Propagate, NanPolicy::Ignore] {
                check(&reduce_max.clone().nan(nan), &[&input], &case);
                check(&arg_max.clone().nan(nan).output(ArgMaxOutput::ValuesAndIndices), &[&input], &case);
                check(&arg_max.clone().nan(nan).select_last(true).index(IndexType::U32), &[&input], &case);
            }
        }
    }
}

#[test]
fn long_rows() {
    for dtype in [DType::F32, DType::F16, DType::U8, DType::I64] {
        for len in [16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 128_256, 262_143, 262_145, 300_000] {
            let input = tensor(dtype, 2 * len, Data::EdgesWithoutNan, len);
            check_rows(dtype, &input, &View::new([2, len]).unwrap(), &format!("{dtype} rows of {len}"));
            // The winner at either end of the second row.
            for at in [len, 2 * len - 1] {
                let input = with_bits(&tensor(dtype, 2 * len, Data::Least, 0), at, greatest(dtype));
                check_rows(
                    dtype,
                    &input,
                    &View::new([2, len]).unwrap(),
                    &format!("{dtype} rows of {len}, winner at {at}"),
                );
            }
        }
    }
}

#[test]
fn tall_columns() {
    for (m, dtype) in [DType::F32, DType::F16, DType::U8, DType::I64].into_iter().enumerate() {
        let all = [(4097, 16), (65_537, 32), (3, 65_536), (50_000, 1), (9_999, 33), (2, 99_999)];
        // Each type every other one: a kernel of every type takes its time.
        for (rows, columns) in all.into_iter().skip(m % 2).step_by(2) {
            let input = tensor(dtype, rows * columns, Data::Ties, rows);
            let view = View::new([rows, columns]).unwrap().permute(&[1, 0]).unwrap();
            check_rows(dtype, &input, &view, &format!("{dtype} {rows} rows of {columns} columns"));
        }
    }
}

/// Few rows and many, in two runs.
#[test]
fn rows_of_columns() {
    for dtype in [DType::F32, DType::U8, DType::F64] {
        for (outer, rows, columns) in [(1, 2, 131_075), (1, 41, 64), (4, 3, 12_289), (1, 1024, 80), (1, 1025, 80)] {
            let input = tensor(dtype, outer * 2 * rows * columns, Data::Ties, rows);
            let view = View::new([outer, 2, rows, columns]).unwrap();
            let case = format!("{dtype} {outer} times {rows} rows of {columns} columns");
            let arg_max = ArgMax::new(dtype, view).axes([0, 2]);
            check(&arg_max, &[&input], &case);
            check(&arg_max.output(ArgMaxOutput::ValuesAndIndices).select_last(true), &[&input], &case);
        }
    }
}

/// Rows far apart, around whole turns of four and eight of them.
#[test]
fn many_rows_of_columns_far_apart() {
    for (n, dtype) in DType::ALL.into_iter().enumerate() {
        // Each type every third one: a kernel of every type takes its time.
        let all = [63, 64, 65, 66, 67, 129].into_iter().enumerate();
        for (m, rows) in all.filter(|(m, _)| (n + m) % 3 == 0) {
            let columns = 2048 / dtype.bytes() + [0, 1, 3][(n / 3 + m) % 3];
            let view = View::new([2, rows, columns]).unwrap();
            let input = tensor(dtype, view.len(), Data::Edges, rows);
            let case = format!("{dtype} {rows} rows of {columns}");
            check(&ReduceMax::new(dtype, view.clone()).axes([1]), &[&input], &case);
            check(&ArgMax::new(dtype, view.clone()).axes([1]).select_last(m % 2 == 0), &[&input], &case);
            check(&Hardmax::new(dtype, view, Slices::Along(1)), &[&input], &case);
        }
    }
}

/// Rows of columns around what eight invocations see of them in panels of 4, 8 and 16 packs.
#[test]
fn rows_of_columns_that_neighbours_see() {
    use DType::{Bf16, F32, F64, I8, I16, I32, I64, U8};
    // Few pairs: lavapipe takes its time for each kernel.
    let all =
        [(F32, 23), (U8, 23), (I64, 12), (F32, 33), (Bf16, 33), (I16, 40), (F32, 63), (Bf16, 64), (I32, 65), (I64, 65)];
    let more = [(F32, 97), (F64, 97), (I64, 127), (F32, 128), (I8, 64), (F32, 129)];
    for (m, (dtype, packs)) in all.into_iter().chain(more).enumerate() {
        check_columns(dtype, [3, [13, 21, 40][m % 3], packs * 16 / dtype.bytes()], m);
    }
    // Those that begin anywhere.
    let all = [(F32, 33), (I64, 65), (Bf16, 57), (I32, 127)];
    for (m, (dtype, packs)) in all.into_iter().enumerate() {
        check_columns(dtype, [(1 << 17) / (packs * 13) + 1, 13, packs * 16 / dtype.bytes() - 1], m);
    }
}

/// Rows of columns around whole shares of 16 packs, which SwiftShader's invocations take in turn: of whole packs, an element more and one
/// less.
#[test]
fn rows_of_columns_taken_in_turn() {
    use DType::{Bf16, F32, I64, U8};
    let all = [(F32, 16), (U8, 17), (I64, 31), (Bf16, 32), (F32, 33), (U8, 15), (I64, 16), (Bf16, 49), (F32, 100)];
    for (m, (dtype, packs)) in all.into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for (n, columns) in [packs * pack, packs * pack + 1, packs * pack - 1].into_iter().enumerate() {
            check_columns(dtype, [4096 / packs, 5, columns], m + 4 * n);
        }
    }
}

/// Values of columns that go down their longest dimension: around as many rows as are few, whole packs and not, and turned round.
#[test]
fn columns_with_runs_of_few_rows() {
    use DType::{Bf16, F32, F64, I8, U8, U64};
    let all = [(F32, 7, 64), (Bf16, 3, 129), (U8, 2, 259), (U64, 8, 33), (F64, 5, 67), (I8, 7, 272)]; // else in two stages
    for (m, (dtype, rows, columns)) in all.into_iter().enumerate() {
        for outer in [2 * rows - 1, 2 * rows, 33] {
            let blocks = (1 << 18) / dtype.bytes() / (outer * rows * columns) + 2;
            let mut view = View::new([outer, blocks, rows, columns]).unwrap();
            if (outer + m as u64).is_multiple_of(2) {
                view = view.reverse(0).unwrap();
            }
            let input = tensor(dtype, outer * blocks * rows * columns, Data::Edges, outer);
            let case = format!("{dtype} {outer} x {blocks} blocks of {rows} rows of {columns}");
            let reduce_max = ReduceMax::new(dtype, view).axes([0, 2]);
            check(&reduce_max, &[&input], &case);
            check(&reduce_max.nan(NanPolicy::Ignore), &[&input], &case);
        }
    }
}

fn check_columns(dtype: DType, shape: [u64; 3], choice: usize) {
    let view = View::new(shape).unwrap();
    let input = tensor(dtype, view.len(), [Data::Edges, Data::Ties, Data::EdgesWithoutNan][choice % 3], shape[2]);
    let case = format!("{dtype} {shape:?}");
    match choice / 3 % 3 {
        0 => check(&ArgMax::new(dtype, view).axes([1]).select_last(choice.is_multiple_of(2)), &[&input], &case),
        1 => check(&ReduceMax::new(dtype, view).axes([1]), &[&input], &case),
        _ => check(&Hardmax::new(dtype, view, Slices::Along(1)), &[&input], &case),
    }
}

#[test]
fn column_heights_around_tiles() {
    for (m, dtype) in [DType::F32, DType::Bf16, DType::U8, DType::I64].into_iter().enumerate() {
        let all = [1, 3, 4, 5, 8, 9, 13, 24, 25, 28, 29, 33];
        for rows in all.into_iter().skip(m % 2).step_by(2) {
            for (n, data) in [Data::Ties, Data::Edges, Data::Nans].into_iter().enumerate() {
                // Panels of packs, some packs more, a ragged end where it is the only row; two runs that do not join.
                for (columns, pitch, runs) in [(144, 144, 1), (131, 144, 1), (80, 96, 2)] {
                    let len = pitch * (rows + 1) * runs;
                    let input = tensor(dtype, len, data, rows + n as u64);
                    let strides = [1, ((rows + 1) * pitch) as i64, pitch as i64];
                    let view = View::strided([columns, runs, rows], strides, 0).unwrap();
                    let case = format!("{dtype} {runs} x {rows} rows of {columns} columns, {data:?}");
                    let reduce_max = ReduceMax::new(dtype, view.clone()).axes([1, 2]);
                    let arg_max = ArgMax::new(dtype, view).axes([1, 2]);
                    check(&reduce_max, &[&input], &case);
                    check(&reduce_max.nan(NanPolicy::Ignore), &[&input], &case);
                    check(&arg_max.clone().output(ArgMaxOutput::ValuesAndIndices), &[&input], &case);
                    check(&arg_max.select_last(true).nan(NanPolicy::Ignore), &[&input], &case);
                }
            }
        }
    }
}

/// Rows of columns that begin at every place of a pack and end at others, forwards and backwards, in windows that slide, below
/// one another in several blocks.
#[test]
fn columns_that_begin_anywhere() {
    for (n, dtype) in DType::ALL.into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        let all = [pack - 1, pack, pack + 1, 2 * pack + 1, 4 * pack - 1, 4 * pack + 1, 77, 257];
        let shapes = [(5, 1, 3), (29, -1, 2), (6, 0, 2)]; // rows, how they follow one another, blocks
        // Each type one of the lengths and shapes: a kernel of every type takes its time.
        let m = n % all.len();
        let (columns, (rows, sign, blocks)) = (all[m], shapes[(m + n) % shapes.len()]);
        let blocks = blocks + (1 << 14) * pack / (rows * columns); // so many loads that packs pay
        let step = if sign == 0 { 1 } else { sign * (columns as i64 + 3 * (1 - sign) / 2) };
        let reach = (rows - 1) * step.unsigned_abs();
        let block = reach + columns + (n as u64) % 4;
        let first = (m + n) as u64 % (pack + 1);
        let offset = first + if step < 0 { reach } else { 0 };
        let view = View::strided([blocks, rows, columns], [block as i64, step, 1], offset).unwrap();
        let data = if m % 2 == 0 { Data::Edges } else { Data::Ties };
        let input = tensor(dtype, first + block * blocks, data, columns);
        let case = format!("{dtype} {blocks} x {rows} rows of {columns} columns by {step}, {data:?}");
        check(&ReduceMax::new(dtype, view.clone()).axes([1]), &[&input], &case);
        let arg_max = ArgMax::new(dtype, view).axes([1]).select_last(n % 2 == 0);
        let output = if m < 4 { ArgMaxOutput::ValuesAndIndices } else { ArgMaxOutput::Indices };
        check(&arg_max.output(output), &[&input], &case);
    }
}

/// Windows that slide along what they are cut from, an element at a time: a little longer than a pack, two, and the longest that are
/// columns, in one dimension and in two; so many that panels of them pay.
#[test]
fn windows_that_slide() {
    for (n, dtype) in [DType::F32, DType::Bf16, DType::U8, DType::I64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for (m, len) in [pack + 1, 2 * pack, 4 * pack, 4 * pack + 1, 16 * pack, 16 * pack + 1].into_iter().enumerate() {
            let (below, line) = (1 + (n + m) as u64 % 2, 700 + n as u64);
            let places = line - len + 1;
            let rows = (1 << 17) * pack / (below * places * len) + 1;
            let first = m as u64 % 4;
            let input = tensor(dtype, (rows + 1) * line + first, Data::Ties, len);
            let case = format!("{dtype} {rows} x {places} windows of {below} x {len}");
            let view = View::strided([rows, below, places, len], [line as i64, line as i64, 1, 1], first).unwrap();
            check(&ReduceMax::new(dtype, view.clone()).axes([1, 3]), &[&input], &case);
            let output = [ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices][n % 2];
            let arg_max = ArgMax::new(dtype, view).axes(if m < 3 { &[1, 3][..] } else { &[3] });
            check(&arg_max.select_last(m % 2 == 0).output(output), &[&input], &case);
        }
    }
}

/// Panels of four packs of columns that begin anywhere: whole ones, those that are moved back at a row's end, those that have
/// columns of two rows, and those in whose packs the binding ends.
#[test]
fn panels_of_columns_that_begin_anywhere() {
    for (n, dtype) in [DType::F32, DType::F16, DType::U8, DType::I64].into_iter().enumerate() {
        let panel = 64 / dtype.bytes();
        // Each type two of them: a kernel of every type takes its time.
        let all = [(panel + 1, 27, 0), (2 * panel - 1, 30, 3), (panel, 1030, 1), (5 * panel + 3, 3, 2)];
        for (columns, rows, first) in [all[n], all[(n + 1) % 4]] {
            let blocks = (1 << 19) * 4 / dtype.bytes() / (rows * columns) + 1; // so many loads that they pay
            let pitch = columns + (n as u64 + 1) % 2 + u64::from(columns == panel);
            let view = View::strided([blocks, rows, columns], [(pitch * rows) as i64, pitch as i64, 1], first).unwrap();
            let input = tensor(dtype, first + blocks * rows * pitch - (pitch - columns), Data::Ties, columns);
            let case = format!("{dtype} {blocks} x {rows} rows of {columns} columns, {pitch} apart");
            check(&ReduceMax::new(dtype, view.clone()).axes([1]), &[&input], &case);
            let arg_max = ArgMax::new(dtype, view).axes([1]).select_last(rows == 30);
            let output = if rows == 27 { ArgMaxOutput::ValuesAndIndices } else { ArgMaxOutput::Indices };
            check(&arg_max.output(output), &[&input], &case);
        }
    }
}

/// Columns so narrow that many rows are taken as one, with and without rows that are left over, in blocks that begin anywhere.
#[test]
fn narrow_columns() {
    for (m, dtype) in [DType::F32, DType::Bf16, DType::U8, DType::I64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        let all = [2, 3, 4 * pack - 1, 2 * pack + 1, pack];
        for (n, columns) in all.into_iter().enumerate().filter(|(n, _)| (n + m) % 2 == 0) {
            // Of many blocks rows are folded into fewer packs, or less than one.
            let most = if columns <= 3 { 1000 } else { 100 };
            for (blocks, rest) in [(1, 0), (1, 1), (3, 4 * pack - 1), (most, 3)] {
                let rows = ((1 << 14) * pack / (blocks * columns)).next_multiple_of(4 * pack) + 64 * pack + rest;
                let gap = n as u64 % 3;
                let block = rows * columns + gap;
                let view = View::strided([blocks, rows, columns], [block as i64, columns as i64, 1], gap).unwrap();
                let data = if rest == 1 { Data::Edges } else { Data::Ties };
                let input = tensor(dtype, gap + blocks * block, data, columns);
                let case = format!("{dtype} {blocks} x {rows} rows of {columns} columns, {data:?}");
                let reduce_max = ReduceMax::new(dtype, view.clone()).axes([1]);
                check(&reduce_max, &[&input], &case);
                if rest == 1 {
                    check(&reduce_max.nan(NanPolicy::Ignore), &[&input], &case);
                }
                let arg_max = ArgMax::new(dtype, view.clone()).axes([1]).select_last(n / 2 % 2 == 0);
                check(&arg_max.clone().output(ArgMaxOutput::ValuesAndIndices), &[&input], &case);
                check(&arg_max.index(IndexType::U32), &[&input], &case);
                if n < 2 && blocks < 100 {
                    check(&Hardmax::new(dtype, view, Slices::Along(1)), &[&input], &case);
                }
            }
        }
    }
}

/// Columns of two packs and more whose rows begin within packs: as many rows as fill packs are one, with and without rows left
/// over, in blocks that begin with packs, or with words, or with any element of a pack.
#[test]
fn wide_columns_in_folds() {
    for (dtype, columns) in [(DType::U8, 65), (DType::I8, 38), (DType::F16, 33), (DType::F32, 11), (DType::I64, 9)] {
        let pack = 16 / dtype.bytes();
        let anywhere = [(pack + 1, 0, 1), (pack + 1, 2 * pack - 1, 1)];
        let whole = [(1, 0, 1), (1, 1, 4), (2, 0, pack), (3, 3, pack), (2, pack - 1, 4)];
        for (blocks, rest, begin) in whole.into_iter().chain(anywhere) {
            let loads = if blocks > pack { 1 << 16 } else { 1 << 14 }; // so many that records are few
            let rows = (loads * pack / (blocks * columns)).next_multiple_of(pack) + rest;
            let block = (rows * columns + 1).next_multiple_of(begin);
            let first = begin - begin % 4;
            let view = View::strided([blocks, rows, columns], [block as i64, columns as i64, 1], first).unwrap();
            let data = if rest == 1 { Data::Edges } else { Data::Ties };
            let input = tensor(dtype, first + blocks * block, data, columns);
            let case = format!("{dtype} {blocks} x {rows} rows of {columns} columns from {first}, {data:?}");
            check(&ReduceMax::new(dtype, view.clone()).axes([1]), &[&input], &case);
            let arg_max = ArgMax::new(dtype, view).axes([1]).select_last(rest == 1);
            check(&arg_max.output(ArgMaxOutput::ValuesAndIndices), &[&input], &case);
        }
    }
}

/// The same of blocks that begin with any element of a pack, also one before the other or in one place, of which the first and the last row
/// have a part: whatever lies around it, and whichever of equal ones wins.
#[test]
fn blocks_in_folds_that_begin_anywhere() {
    let all = [(DType::F32, 2), (DType::I64, 3), (DType::Bf16, 5), (DType::U8, 3), (DType::F16, 19), (DType::I32, 7)];
    for (n, (dtype, columns)) in all.into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for (m, data) in [Data::Least, Data::Edges, Data::Ties, Data::Zeros].into_iter().enumerate() {
            let rows = 128 * pack + 2 * n as u64 + m as u64;
            let block = rows * columns + 1;
            let blocks = ((1 << 14) * pack / (rows * columns) + 1).max(2 * pack);
            let (stride, first) = match m {
                1 => (-(block as i64), (blocks - 1) * block + 1),
                2 => (0, pack - 1),
                _ => (block as i64, n as u64 % pack),
            };
            let view = View::strided([blocks, rows, columns], [stride, columns as i64, 1], first).unwrap();
            let input = tensor(dtype, blocks * block + pack, data, columns);
            let case = format!("{dtype} {blocks} blocks of {rows} rows of {columns} columns, {stride} apart, {data:?}");
            for nan in [NanPolicy::Propagate, NanPolicy::Ignore] {
                check(&ReduceMax::new(dtype, view.clone()).axes([1]).nan(nan), &[&input], &case);
                let arg_max = ArgMax::new(dtype, view.clone()).axes([1]).nan(nan).select_last((n + m) % 2 == 0);
                check(&arg_max.output(ArgMaxOutput::ValuesAndIndices), &[&input], &case);
            }
        }
    }
}

/// Rows of the least elements between rows of the greatest: what they share words and packs with counts for none of them.
#[test]
fn rows_beside_greater_ones() {
    for dtype in [DType::U8, DType::I16, DType::Bf16, DType::F32, DType::I64] {
        let (pack, size) = (16 / dtype.bytes(), dtype.bytes() as usize);
        let least = tensor(dtype, 1, Data::Least, 1).bytes().to_vec();
        for len in [pack + 1, 2 * pack - 1, 2 * pack + 1, 4 * pack + 3, 12 * pack + 1] {
            let bits = |row: u64| {
                if row.is_multiple_of(2) { least.clone() } else { greatest(dtype).to_le_bytes()[..size].to_vec() }
            };
            let bytes = (0..11).flat_map(|row| bits(row).repeat(len as usize)).collect();
            let input = Tensor::from_bytes(dtype, [11, len], bytes).unwrap();
            let view = View::new([11, len]).unwrap();
            check_rows(dtype, &input, &view, &format!("{dtype} rows of {len}, the least and the greatest in turns"));
        }
    }
}

/// Rows of columns that are less than two packs, around where packs begin to be faster than single elements: few rows and more.
#[test]
fn columns_of_less_than_two_packs() {
    for (dtype, all) in [
        (DType::U8, &[5, 6, 11, 12, 19][..]),
        (DType::F16, &[2, 3, 4, 5, 11]),
        (DType::F32, &[2, 3, 6, 7]),
        (DType::I64, &[2, 3]),
    ] {
        let pack = 16 / dtype.bytes();
        for (n, &columns) in all.iter().enumerate() {
            let rows = 8 + n as u64 % 2;
            let blocks = (1 << 14) * pack / (rows * columns) + 1; // so many loads that packs pay
            let view = View::new([blocks, rows, columns]).unwrap();
            let input = tensor(dtype, blocks * rows * columns, Data::Edges, columns);
            let case = format!("{dtype} {blocks} x {rows} rows of {columns} columns");
            check(&ReduceMax::new(dtype, view.clone()).axes([1]), &[&input], &case);
            check(&ArgMax::new(dtype, view).axes([1]).select_last(n % 2 == 0), &[&input], &case);
        }
    }
}

/// One row of columns whose outputs end within a pack: the whole packs before, and the tail, around where it begins.
#[test]
fn tails_of_columns() {
    for (dtype, rows) in [(DType::U8, 2), (DType::Bf16, 3), (DType::I16, 16), (DType::F32, 5), (DType::U64, 2)] {
        let fewest = (1 << 17) * 16 / dtype.bytes() / rows; // so many loads that a second dispatch pays
        for more in [1, 255, 257] {
            let columns = fewest.next_multiple_of(256) + more;
            let view = View::new([rows, columns]).unwrap();
            let input = tensor(dtype, rows * columns, Data::Edges, columns);
            let case = format!("{dtype} {rows} rows of {columns} columns");
            check(&ReduceMax::new(dtype, view.clone()).axes([0]), &[&input], &case);
            check(&ArgMax::new(dtype, view.clone()).axes([0]).index(IndexType::U32), &[&input], &case);
            check(&Hardmax::new(dtype, view, Slices::Along(0)), &[&input], &case);
        }
    }
}

/// Rows of columns that end within packs of the output: from the fewest packs of which seams pay, around one more and around a
/// block of them, where the last row ends with the buffer, within a pack of it, or padded, and in rows turned round.
#[test]
fn seams_between_rows_of_columns() {
    for (n, dtype) in [DType::U8, DType::F16, DType::F32, DType::I64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        let sizes =
            [3 * pack / 2, 2 * pack + 1, 4 * pack + 1, 5 * pack - 1, 5 * pack + 1, 8 * pack + pack / 2, 13 * pack - 1];
        for (m, columns) in sizes.into_iter().enumerate() {
            let rows = [2, 3, 19][(n + m) % 3];
            let blocks = (1 << 17) * pack / (rows * columns) + 1 + m as u64 % 2; // so many loads that a second dispatch pays
            let padding = [0, 1, 5][m % 3];
            let (row, block) = (columns + padding, rows * (columns + padding));
            let turned = if m % 2 == 0 { block as i64 } else { -(block as i64) };
            let offset = if m % 2 == 0 { 0 } else { (blocks - 1) * block };
            let view = View::strided([blocks, rows, columns], [turned, row as i64, 1], offset).unwrap();
            let input = tensor(dtype, blocks * block - padding, Data::Edges, columns);
            let case =
                format!("{dtype} {blocks} x {rows} rows of {columns} columns, {padding} more between, {turned} apart");
            check(&ReduceMax::new(dtype, view.clone()).axes([1]), &[&input], &case);
            check(&ArgMax::new(dtype, view).axes([1]).select_last(m % 2 == 1), &[&input], &case);
        }
    }
}

/// Columns of so few elements that a Max of their rows is faster, and of one more; of one dimension and of two.
#[test]
fn maxima_of_few_elements() {
    for (n, dtype) in [DType::Bool, DType::I16, DType::Bf16, DType::F32, DType::F64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for (m, rows) in [2, 3, 7, 8, 9].into_iter().enumerate() {
            let columns = [128 / rows + 1, 9 * pack, 20 * pack - 1, 64, 65][(n + m) % 5];
            let blocks = (1 << 14) * pack / (rows * columns) + 2; // so many loads that packs that begin anywhere pay
            let len = 2 * blocks * rows * columns;
            let input = tensor(dtype, len, Data::Edges, columns);
            let nan = if m % 2 == 0 { NanPolicy::Propagate } else { NanPolicy::Ignore };
            let case = format!("{dtype} {blocks} x {rows} rows of {columns} columns");
            let view = View::new([blocks, rows, columns]).unwrap().reverse(m % 2).unwrap();
            check(&ReduceMax::new(dtype, view).axes([1]).nan(nan), &[&input], &case);
            let two = View::new([blocks, 2, rows, columns]).unwrap().permute(&[2, 0, 1, 3]).unwrap();
            check(&ReduceMax::new(dtype, two.clone()).axes([0, 2]).nan(nan), &[&input], &case);
            check(&ReduceMax::new(dtype, two).axes([2]).nan(nan).keep_dims(true), &[&input], &case);
        }
    }
}

/// Dimensions so far apart that they are reduced in two stages, whatever lies between and around them, and in whatever order.
#[test]
fn dimensions_far_apart() {
    for (n, dtype) in [DType::Bool, DType::I16, DType::Bf16, DType::F32, DType::U64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for (m, (outer, inner, columns)) in
            [(64, 4, 2), (97, 3, 37), (200, pack + 3, 1), (131, 2, 5)].into_iter().enumerate()
        {
            let between = (1 << 14) * pack / (outer * inner * columns) + 1; // so many loads that two stages pay
            let row = between * inner * columns;
            let (turned, offset) = if (n + m) % 2 == 0 { (-1, (outer - 1) * row) } else { (1, 0) };
            let strides = [turned * row as i64, (inner * columns) as i64, columns as i64, 1];
            let view = View::strided([outer, between, inner, columns], strides, offset).unwrap();
            let input = tensor(dtype, outer * row, Data::Edges, columns);
            let nan = if m % 2 == 0 { NanPolicy::Propagate } else { NanPolicy::Ignore };
            let case = format!("{dtype} {outer} x {between} x {inner} x {columns}, {turned}");
            check(&ReduceMax::new(dtype, view).axes([0, 2]).nan(nan), &[&input], &case);
        }
    }
}

/// Kept dimensions that lie otherwise than outputs follow one another: permuted, reversed, repeated, and what is left put in order. Of all
/// outputs of one kind, and of those that are words or fractions of them.
#[test]
fn outputs_that_lie_in_another_order() {
    for (n, dtype) in [DType::Bool, DType::I16, DType::Bf16, DType::F32, DType::I64].into_iter().enumerate() {
        let pack = 16 / dtype.bytes();
        for (m, (rows, columns)) in [(16, 3), (17, pack), (64, 9 * pack + 1), (40, 65)].into_iter().enumerate() {
            let blocks = (1 << 17) * pack / (5 * rows * columns) + 2; // so many loads that GPUs put outputs in order, too
            let len = 5 * blocks * rows * columns;
            let input = tensor(dtype, len, Data::Edges, columns);
            let order = [[3, 0, 1, 2], [2, 1, 3, 0], [3, 2, 1, 0]][(n + m) % 3];
            let turned = View::new([blocks, rows, 5, columns]).unwrap().reverse([0, 2, 3, 1][(n + m) % 4]).unwrap();
            let permuted = turned.permute(&order).unwrap();
            let rows_at = order.iter().position(|&d| d == 1).unwrap();
            let outermost = permuted.broadcast(&[&[1 + m as u64 % 2], permuted.shape()].concat()).unwrap();
            let (view, axis) = match n % 2 {
                0 => (outermost, 1 + rows_at as i64),
                _ => (outermost.permute(&[1, 2, 3, 4, 0]).unwrap(), rows_at as i64),
            };
            let (nan, index) = match (n + m) % 2 {
                0 => (NanPolicy::Propagate, IndexType::I64),
                _ => (NanPolicy::Ignore, IndexType::U32),
            };
            let case = format!("{dtype} {view:?} over {axis}");
            check(&ReduceMax::new(dtype, view.clone()).axes([axis]).nan(nan), &[&input], &case);
            let positions = ArgMax::new(dtype, view).axes([axis]).nan(nan).index(index);
            check(&positions.select_last(m % 2 == 1), &[&input], &case);
        }
    }
}

/// Rows of columns that begin anywhere, of outputs that are whole packs.
#[test]
fn whole_packs_of_padded_rows() {
    for (dtype, stride) in [(DType::I8, 197), (DType::F16, 195), (DType::U32, 193), (DType::F64, 199)] {
        for (rows, columns) in [(7, 192), (40, 64), (90, 16)] {
            let blocks = (1 << 14) * 16 / dtype.bytes() / (rows * columns) + 1;
            let strides = [(rows * stride) as i64, stride as i64, 1];
            let view = View::strided([blocks, rows, columns], strides, 3).unwrap();
            let input = tensor(dtype, blocks * rows * stride + 3, Data::Edges, columns);
            let case = format!("{dtype} {blocks} x {rows} rows of {columns} columns, {stride} apart");
            check(&ReduceMax::new(dtype, view.clone()).axes([1]), &[&input], &case);
            check(&ArgMax::new(dtype, view).axes([1]), &[&input], &case);
        }
    }
}

/// Teams of columns of which some packs lie in two rows, from columns that are one pack on.
#[test]
fn teams_of_columns_that_share_words() {
    for (dtype, all) in [
        (DType::I8, &[16, 17, 31, 239][..]),
        (DType::U8, &[18, 33]),
        (DType::F16, &[8, 9, 15]),
        (DType::U16, &[11, 77]),
    ] {
        for (n, &columns) in all.iter().enumerate() {
            let rows = [40, 131, 300, 517][n];
            let blocks = (1 << 14) * 16 / dtype.bytes() / (rows * columns) + 2;
            let turned = if n % 2 == 0 { 1 } else { -1 };
            let strides = [(rows * columns) as i64, turned * columns as i64, 1];
            let offset = if turned < 0 { (rows - 1) * columns } else { 0 };
            let view = View::strided([blocks, rows, columns], strides, offset).unwrap();
            let input = tensor(dtype, blocks * rows * columns, Data::Edges, columns);
            let case = format!("{dtype} {blocks} x {rows} rows of {columns} columns, {turned}");
            check(&ReduceMax::new(dtype, view).axes([1]), &[&input], &case);
        }
    }
}

/// Short rows whose positions are exchanged, as many as workgroups have, one more and one less.
#[test]
fn exchanged_positions() {
    let tuning = Tuning { busy_invocations: 1, ..Tuning::of(AdapterKind::Hardware) };
    for (dtype, len) in [(DType::U8, 2), (DType::I8, 3), (DType::F16, 5), (DType::F32, 4), (DType::I64, 7)] {
        let limits = Limits { tuning: Some(tuning), ..gpus()[0].kernels().limits().clone() };
        for rows in [1, 7, 511, 1024, 2047, 2048, 2049, 4096, 6145].map(|rows| rows + 1) {
            let view = View::new([rows, len]).unwrap();
            let input = tensor(dtype, rows * len, Data::Edges, rows);
            for index in [IndexType::U32, IndexType::I64] {
                let op = ArgMax::new(dtype, view.clone()).axes([1]).index(index).select_last(rows % 2 == 0);
                let expected = op.reference(&[&input]).unwrap();
                check_planned(&gpus()[0], &limits, &op, &[&input], &expected, &format!("{dtype} {rows} rows of {len}"));
            }
        }
    }
}

/// Bunches that a workgroup loads together: as many as it takes, one more and one less, and rows that fill none; also where each buffer is
/// bound once, and in more workgroups than are needed.
#[test]
fn staged_bunches() {
    let tuning = Tuning { busy_invocations: 1, ..Tuning::of(AdapterKind::Hardware) };
    for (dtype, block, axes, blocks) in [
        (DType::F32, &[8][..], &[1][..], 1),
        (DType::Bf16, &[9], &[1], 2),
        (DType::U8, &[15], &[1], 4),
        (DType::U8, &[31], &[1], 4),
        (DType::I32, &[31], &[1], 1),
        (DType::F64, &[20], &[1], 1),
        (DType::U8, &[23, 3], &[1], 4),
        (DType::F16, &[5, 6], &[1], 1),
        (DType::F32, &[11, 3], &[1], 1),
        (DType::Bf16, &[2, 7, 3], &[1, 3], 2), // windows of a picture
        (DType::U8, &[3, 5, 2], &[1, 3], 4),
        (DType::F32, &[3, 3, 3], &[1, 3], 1),
    ] {
        for gpu in gpus() {
            let limits = Limits { tuning: Some(tuning), ..gpu.kernels().limits().clone() };
            let limits = Limits { adapter: AdapterKind::Hardware, ..limits };
            let around = |bunches: u64| [bunches * blocks - 1, bunches * blocks, bunches * blocks + 1].map(|n| n + 1);
            for blocks in [1, 63, 64, 127, 128, 129, 256, 511, 512].into_iter().flat_map(around) {
                let view = View::new([&[blocks], block].concat()).unwrap();
                let input = tensor(dtype, view.len(), Data::Edges, blocks);
                let case = format!("{dtype} {blocks} blocks of {block:?} over {axes:?}");
                let values = ReduceMax::new(dtype, view.clone()).axes(axes);
                let expected = values.reference(&[&input]).unwrap();
                let small = Limits { max_group_memory_bytes: 32 * 4 * 81, max_groups: 5, ..limits.clone() };
                let shared_buffers = input.bytes().len().is_multiple_of(16); // then inputs are whole packs
                for limits in [&limits, &Limits { shared_buffers, ..limits.clone() }, &small] {
                    check_planned(gpu, limits, &values, &[&input], &expected, &case);
                }
                for output in [ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices] {
                    let positions = ArgMax::new(dtype, view.clone()).axes(axes).output(output);
                    let positions = positions.select_last(blocks % 2 == 0);
                    check_planned(gpu, &limits, &positions, &[&input], &positions.reference(&[&input]).unwrap(), &case);
                }
            }
        }
    }
}

/// Winners as wide as elements that GPUs find in packs, in teams and in chunks, and look up in packs: of columns that end within packs, and
/// of so many slices that a byte has just room for their winners, or none.
#[test]
fn narrow_winners() {
    for gpu in gpus() {
        for busy_invocations in [1, 1 << 16] {
            let tuning = Tuning { busy_invocations, ..Tuning::of(AdapterKind::Hardware) };
            let limits = gpu.kernels().limits().clone();
            let limits = Limits { adapter: AdapterKind::Hardware, tuning: Some(tuning), ..limits };
            for dtype in [DType::U8, DType::Bf16, DType::I16, DType::I32] {
                for (blocks, rows, columns) in [
                    (700, 2, 17),
                    (3, 3, 20_001),
                    (41, 16, 129),
                    (2, 17, 4099),
                    (40, 63, 31),
                    (5, 100, 333),
                    (1, 127, 33),
                    (3, 255, 4096),
                    (2, 256, 272),
                    (2, 257, 272),
                ] {
                    let view = View::new([blocks, rows, columns]).unwrap();
                    let input = tensor(dtype, view.len(), Data::Edges, rows * columns);
                    let op = Hardmax::new(dtype, view, Slices::Along(1));
                    let case = format!("{dtype} {blocks} {rows} {columns} {busy_invocations}");
                    check_planned(gpu, &limits, &op, &[&input], &op.reference(&[&input]).unwrap(), &case);
                }
            }
        }
    }
}

/// Columns of so many rows that twice the usual workgroup reduces them in one dispatch, of fewer, and of more.
#[test]
fn columns_of_larger_workgroups() {
    for gpu in gpus() {
        let limits = Limits { adapter: AdapterKind::Hardware, tuning: None, ..gpu.kernels().limits().clone() };
        for dtype in [DType::F32, DType::F16, DType::I64] {
            for rows in [509, 511, 512, 513, 784, 1023, 1024, 1025] {
                let view = View::new([3, rows, 130]).unwrap();
                let input = tensor(dtype, view.len(), Data::Edges, rows);
                let case = format!("{dtype} {rows} rows");
                let values = ReduceMax::new(dtype, view.clone()).axes([1]);
                check_planned(gpu, &limits, &values, &[&input], &values.reference(&[&input]).unwrap(), &case);
                let positions = ArgMax::new(dtype, view).axes([1]).select_last(rows % 2 == 0);
                check_planned(gpu, &limits, &positions, &[&input], &positions.reference(&[&input]).unwrap(), &case);
            }
        }
    }
}

/// Slices of one element, of which nothing but ones is written, in lengths around those from which on packs are.
#[test]
fn fills_around_packs() {
    for dtype in [DType::U8, DType::Bf16, DType::F32, DType::F64] {
        let words = [1, 3, 4, 5, 4095, 4096, 4097, 4099, 65_535, 262_145];
        for elements in words.map(|words| words * 4 / dtype.bytes().min(4)) {
            let input = tensor(dtype, elements, Data::Random, elements);
            let view = View::new([elements, 1]).unwrap();
            check(
                &Hardmax::new(dtype, view, Slices::Along(1)),
                &[&input],
                &format!("{dtype} {elements} slices of one"),
            );
        }
    }
}

/// Packs that lie in two rows of columns, where those share words of the output.
#[test]
fn rows_of_columns_that_share_words() {
    for (dtype, columns) in [(DType::F16, 77), (DType::I8, 67)] {
        let view = View::strided([700, 6, columns], [7 * columns as i64 + 2, columns as i64, 1], 1).unwrap();
        let input = tensor(dtype, 700 * (7 * columns + 2), Data::Ties, columns);
        let case = format!("{dtype} 700 x 6 rows of {columns} columns");
        check(&ReduceMax::new(dtype, view.clone()).axes([1]), &[&input], &case);
        check(&ArgMax::new(dtype, view).axes([1]).output(ArgMaxOutput::ValuesAndIndices), &[&input], &case);
    }
}

/// Columns that begin anywhere in chunks, whose records are merged, and in runs that do not join.
#[test]
fn columns_that_begin_anywhere_in_chunks() {
    for dtype in [DType::F32, DType::U8] {
        for (runs, rows, columns) in [(1, 4097, 67), (3, 131, 131)] {
            let run = rows * (columns + 1) + 1;
            let strides = [run as i64, columns as i64 + 1, 1];
            let view = View::strided([runs, rows, columns], strides, 3).unwrap();
            let input = tensor(dtype, run * runs + 3, Data::Ties, rows);
            let case = format!("{dtype} {runs} x {rows} rows of {columns} columns");
            check(&ReduceMax::new(dtype, view.clone()).axes([0, 1]), &[&input], &case);
            let arg_max = ArgMax::new(dtype, view).axes([0, 1]);
            check(&arg_max.select_last(runs == 3), &[&input], &case);
        }
    }
}

#[test]
fn output_counts_around_the_dispatch_limit() {
    for dtype in [DType::F32, DType::U8, DType::I64] {
        for outputs in [1, 65_535, 65_536, 70_000 * 3] {
            for len in [1, 3] {
                let input = tensor(dtype, outputs * len, Data::Random, outputs);
                let view = View::new([outputs, len]).unwrap();
                check_rows(dtype, &input, &view, &format!("{dtype} {outputs} outputs of {len}"));
            }
        }
    }
}

/// More workgroups than one dimension holds: a team's worth of a row each.
#[test]
fn folded_grids() {
    let (outputs, len) = (70_000 * 3, 129);
    let input = tensor(DType::U8, outputs * len, Data::Random, 5);
    check_rows(DType::U8, &input, &View::new([outputs, len]).unwrap(), "folded");
}

/// The known answer, since the reference would take its time: the winner planted in the last element.
fn check_128_mib(dtype: DType) {
    let len = (128 << 20) / dtype.bytes();
    let zeros = Tensor::from_bytes(dtype, [len], vec![0; 128 << 20]).unwrap();
    let input = with_bits(&zeros, len - 1, greatest(dtype));
    let view = View::new([len]).unwrap();
    let value = with_bits(&Tensor::from_bytes(dtype, [], vec![0; dtype.bytes() as usize]).unwrap(), 0, greatest(dtype));
    let index = Tensor::new([], &[len as i64 - 1]).unwrap();
    check_against(&ReduceMax::new(dtype, view.clone()), &[&input], std::slice::from_ref(&value), "128 MiB");
    check_against(&ArgMax::new(dtype, view.clone()), &[&input], std::slice::from_ref(&index), "128 MiB");
    let both = ArgMax::new(dtype, view).output(ArgMaxOutput::ValuesAndIndices);
    check_against(&both, &[&input], &[value, index], "128 MiB");
}

#[test]
fn one_maximum_of_128_mib_of_f32() {
    check_128_mib(DType::F32);
}

#[test]
fn one_maximum_of_128_mib_of_u8() {
    check_128_mib(DType::U8);
}

/// As many rows of 16-bit columns as a rank tells apart, which one team reduces, fewer, and more, which are split.
#[test]
fn rows_of_columns_are_told_apart() {
    for gpu in gpus() {
        let own = gpu.kernels().limits();
        let tuning = Tuning { busy_invocations: 1024, loads_per_split: 1 << 20, ..Tuning::of(AdapterKind::Hardware) };
        let limits = Limits { adapter: AdapterKind::Hardware, tuning: Some(tuning), ..own.clone() };
        for (dtype, rows, columns) in [
            (DType::U16, 65_535, 32),
            (DType::F16, 65_536, 32),
            (DType::I16, 65_536, 37),
            (DType::Bf16, 65_537, 32),
            (DType::F16, 131_073, 32),
        ] {
            let view = View::new([rows, columns]).unwrap();
            for (data, last) in [(Data::ZerosAndNans, false), (Data::Least, true)] {
                let input = tensor(dtype, view.len(), data, rows);
                let op = ArgMax::new(dtype, view.clone()).axes([0]).select_last(last).nan(NanPolicy::Ignore);
                let op = op.output(if last { ArgMaxOutput::Indices } else { ArgMaxOutput::ValuesAndIndices });
                let one = op.plan(&limits).unwrap().dispatches.len() == 1;
                assert_eq!(one, rows <= 65_536, "{}", op.plan(&limits).unwrap());
                let case = format!("{dtype} {rows} rows of {columns}, {data:?}, last {last}");
                check_planned(gpu, &limits, &op, &[&input], &op.reference(&[&input]).unwrap(), &case);
            }
        }
    }
}
