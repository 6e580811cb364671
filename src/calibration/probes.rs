//! What is timed: the kinds of work that plans differ in, each in three shapes.

use crate::{AnyOperation, ArgMax, DType, Error, Max, ReduceMax, View};

/// Shapes of each probe: one that is searched with, and two that confirm what was found.
pub const SHAPES: usize = 3;

/// The probes. Six are the work that there is most of; in the last three numbers show that the others do not depend on.
pub const NAMES: [&str; 9] =
    ["softmax", "whole", "greedy", "yolo", "columns_wide", "max_two", "segmentation", "few_classes", "batch_and_space"];

/// The operations: [`SHAPES`] of each probe, in the order of [`NAMES`].
pub fn probes() -> Result<Vec<AnyOperation>, Error> {
    use DType::{F16, F32, U8};
    Ok(vec![
        reduce_max(F32, &[16384, 512], &[1])?,
        reduce_max(F32, &[67200, 80], &[1])?,
        reduce_max(F16, &[16384, 512], &[1])?,
        reduce_max(F32, &[1 << 24], &[0])?,
        reduce_max(F32, &[5 << 20], &[0])?,
        reduce_max(U8, &[1 << 26], &[0])?,
        arg_max(F32, &[64, 128_256], 1)?,
        arg_max(F32, &[1, 128_256], 1)?,
        arg_max(F16, &[48, 100_000], 1)?,
        reduce_max(F32, &[8, 80, 8400], &[1])?,
        reduce_max(F32, &[4, 91, 16384], &[1])?,
        reduce_max(F16, &[8, 80, 8400], &[1])?,
        reduce_max(F32, &[2048, 4096], &[0])?,
        reduce_max(F32, &[262_144, 32], &[0])?,
        reduce_max(F32, &[1024, 6144], &[0])?,
        max(F32, &[1 << 22], &[1 << 22])?,
        max(F32, &[32, 256, 28, 28], &[])?,
        max(F32, &[16, 128, 32, 32], &[128, 1, 1])?,
        arg_max(F32, &[150, 65536], 0)?,
        arg_max(F32, &[8, 60, 16384], 1)?,
        arg_max(F32, &[600, 8192], 0)?,
        arg_max(F32, &[8, 19, 65536], 1)?,
        arg_max(F32, &[16, 10, 32768], 1)?,
        arg_max(F32, &[21, 262_144], 0)?,
        reduce_max(F32, &[16, 64, 56, 56], &[0, 2, 3])?,
        reduce_max(F32, &[256, 256, 128], &[0, 2])?,
        reduce_max(F32, &[64, 96, 28, 28], &[0, 2, 3])?,
    ])
}

fn reduce_max(dtype: DType, shape: &[u64], axes: &[i64]) -> Result<AnyOperation, Error> {
    Ok(ReduceMax::new(dtype, View::new(shape)?).axes(axes.to_vec()).into())
}

fn arg_max(dtype: DType, shape: &[u64], axis: i64) -> Result<AnyOperation, Error> {
    Ok(ArgMax::new(dtype, View::new(shape)?).axes([axis]).into())
}

fn max(dtype: DType, shape: &[u64], other: &[u64]) -> Result<AnyOperation, Error> {
    Ok(Max::new(dtype, [View::new(shape)?, View::new(other)?]).into())
}
