//! The operations whose shaders are compiled: the workload table's, many problems of the benches' sweep, and what neither
//! has.

#[path = "../../../benches/sweep/draw.rs"]
#[allow(dead_code)] // the benches say more of a problem
mod draw;
#[path = "../../../benches/table/entries.rs"]
#[allow(dead_code)] // the benches use more of it
mod entries;

use draw::Problem;
use wgmax::shard::Sharded;
use wgmax::{
    AnyOperation, ArgMax, ArgMaxOutput, DType, Hardmax, IndexType, Max, NanPolicy, Operation, Parts, ReduceMax, Slices,
    View,
};

use crate::Failure;

pub type Operations = Vec<Box<dyn Operation>>;

/// The table, as the benches read it.
const WORKLOADS: &str = include_str!("../../../benches/workloads.json");

/// The seed of the sweep, and how many of its problems are drawn.
const SEED: u64 = 7;
const PROBLEMS: u64 = 50000;

/// Those of the table.
pub fn workloads() -> Result<Operations, Failure> {
    let table: Vec<serde_json::Value> = serde_json::from_str(WORKLOADS)?;
    let operation = |work| entries::operation(work, entries::dtype(&work["dtype"])?, &entries::shapes(work, 1.0)?);
    table.iter().map(operation).collect()
}

/// Any shapes, views, axes and types: the distribution is described in `benches/sweep/draw.rs`. ArgMax is asked for both of
/// its outputs, too.
pub fn sweep() -> Result<Operations, Failure> {
    let mut operations: Operations = Vec::new();
    for number in 0..PROBLEMS {
        let op = Problem::draw(SEED, number)?.operation()?;
        if let AnyOperation::ArgMax(op) = &op {
            operations.push(Box::new(op.clone().output(ArgMaxOutput::ValuesAndIndices)));
        }
        operations.push(Box::new(op));
    }
    Ok(operations)
}

/// What the sweep does not draw: a maximum of nothing, and of short rows, of every type; and of one type of each size every
/// option, the longest of short rows (an ArgMax's would take the compiler long), and a tensor beyond WebGPU's default binding;
/// shards, and more of Max.
pub fn others() -> Result<Operations, Failure> {
    let mut operations: Operations = Vec::new();
    for dtype in DType::ALL {
        operations.push(Box::new(ReduceMax::new(dtype, View::new([1000, 0])?).axes([1])));
        operations.push(Box::new(ReduceMax::new(dtype, View::new([1 << 20, 3])?).axes([1])));
    }
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        let shapes: [(&[u64], i64); 4] =
            [(&[64, 1 << 17], 1), (&[1 << 16, 64], 0), (&[8, 80, 8400], 1), (&[64, 1 << 28], 1)];
        for (shape, axis) in shapes {
            operations.extend(reductions(dtype, View::new(shape)?, axis));
        }
        for len in [3, 8] {
            operations.extend(reductions(dtype, View::new([1 << 20, len])?, 1));
        }
        let [long, longest] = if dtype.bytes() == 1 { [13, 15] } else { [19, 31] };
        operations.push(Box::new(ArgMax::new(dtype, View::new([1 << 20, long])?).axes([1])));
        operations.push(Box::new(ReduceMax::new(dtype, View::new([1 << 20, longest])?).axes([1])));
    }
    // Windows of pixels, and columns so narrow that many rows are taken as one.
    let pixels = View::new([512, 56, 2, 56, 2])?;
    operations.push(Box::new(ReduceMax::new(DType::F32, pixels.clone()).axes([2, 4])));
    operations.push(Box::new(ArgMax::new(DType::F32, pixels).axes([2, 4])));
    let channels = View::new([1 << 20, 3])?;
    operations.push(Box::new(ReduceMax::new(DType::U8, channels.clone()).axes([0])));
    operations.push(Box::new(ArgMax::new(DType::U8, channels).axes([0])));
    operations.extend(maxima()?);
    // Rows of few packs, and of columns that no binding holds two of.
    operations.push(Box::new(ArgMax::new(DType::U8, View::new([1 << 16, 101])?).axes([1])));
    operations.push(Box::new(ReduceMax::new(DType::U8, View::new([2, 1 << 28])?).axes([0])));
    // Winners as narrow as elements, of columns in chunks.
    operations.push(Box::new(Hardmax::new(DType::F16, View::new([60_000, 64])?, Slices::Along(0))));
    let whole = Sharded::new(ArgMax::new(DType::F16, View::new([64, 1000])?).axes([1]))?;
    operations.push(Box::new(whole.merge_shards(4)?));
    Ok(operations)
}

/// Max of short rows of every kind, of an input in parts that meet within a word, and of one across larger than WebGPU's
/// default binding.
fn maxima() -> Result<Operations, Failure> {
    let rows = 1 << 20;
    let (shifted, of_rows) = (View::strided([rows, 3], [3, 1], 1)?, View::new([rows, 1])?);
    let parts = Parts::new([View::new([1001])?, View::new([999])?])?;
    let (square, across) = (View::new([8192, 8192])?, View::new([8192, 8192])?.permute(&[1, 0])?);
    Ok(vec![
        Box::new(Max::new(DType::F16, [shifted, of_rows, View::new([3])?])),
        Box::new(Max::new(DType::U8, [parts])),
        Box::new(Max::new(DType::F32, [square, across])),
    ])
}

/// Both reductions and a Hardmax, with what can be asked for and with nothing of it.
fn reductions(dtype: DType, view: View, axis: i64) -> Operations {
    let values = ReduceMax::new(dtype, view.clone()).axes([axis]);
    let positions = ArgMax::new(dtype, view.clone()).axes([axis]).index(IndexType::I32);
    let both = positions.clone().output(ArgMaxOutput::ValuesAndIndices).select_last(true);
    vec![
        Box::new(values.clone()),
        Box::new(values.nan(NanPolicy::Ignore)),
        Box::new(positions),
        Box::new(both.nan(NanPolicy::Ignore)),
        Box::new(Hardmax::new(dtype, view, Slices::Along(axis))),
    ]
}
