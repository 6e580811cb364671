//! The workload table: what its entries mean, and data for them.
#![allow(dead_code)] // each bench uses its own part

pub mod pace;

use std::time::Duration;

use serde_json::Value;
use wgmax::{ArgMax, DType, Hardmax, Max, Operation, ReduceMax, Slices, Tensor, View};

use crate::common::Failure;

/// The table in the repository.
pub const WORKLOADS: &str = "benches/workloads.json";

/// The types, by the names that other libraries have for them, too.
pub const DTYPES: [(&str, DType); 6] = [
    ("float32", DType::F32),
    ("float16", DType::F16),
    ("bfloat16", DType::Bf16),
    ("float64", DType::F64),
    ("int64", DType::I64),
    ("uint8", DType::U8),
];

pub fn dtype(name: &Value) -> Result<DType, Failure> {
    let known = DTYPES.into_iter().find(|&(own, _)| name == own);
    known.map(|(_, dtype)| dtype).ok_or_else(|| format!("unknown dtype {name}").into())
}

/// The shapes, their outermost dimensions multiplied by the scale where they are more than 1.
pub fn shapes(work: &Value, scale: f64) -> Result<Vec<Vec<u64>>, Failure> {
    let mut shapes: Vec<Vec<u64>> = serde_json::from_value(work["shapes"].clone())?;
    for shape in &mut shapes {
        if let Some(outermost) = shape.first_mut().filter(|size| **size > 1) {
            *outermost = ((*outermost as f64 * scale) as u64).max(1);
        }
    }
    Ok(shapes)
}

pub fn operation(work: &Value, dtype: DType, shapes: &[Vec<u64>]) -> Result<Box<dyn Operation>, Failure> {
    let mut views = shapes.iter().map(|shape| View::new(shape.clone())).collect::<Result<Vec<_>, _>>()?;
    let axis = work["axis"].as_i64().unwrap_or(-1);
    Ok(match work["op"].as_str() {
        Some("ReduceMax") => {
            let axes: Vec<i64> = serde_json::from_value(work["axes"].clone())?;
            Box::new(ReduceMax::new(dtype, views.remove(0)).axes(axes))
        }
        Some("ArgMax") => Box::new(ArgMax::new(dtype, views.remove(0)).axes([axis])),
        Some("Hardmax") => Box::new(Hardmax::new(dtype, views.remove(0), Slices::Along(axis))),
        Some("Max") => Box::new(Max::new(dtype, views)),
        _ => return Err(format!("unknown operator {}", work["op"]).into()),
    })
}

/// Random elements: floats in the range of 1 to 2 and their negatives, any integers and booleans.
pub fn data(dtype: DType, shape: &[u64]) -> Result<Tensor, wgmax::Error> {
    let len: u64 = shape.iter().product();
    let size = dtype.bytes() as usize;
    let mut state = 1_u64;
    let mut bytes = Vec::with_capacity(len as usize * size);
    for _ in 0..len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = state ^ (state >> 33);
        let bits = match dtype {
            DType::F32 => word & 0x807f_ffff | 0x3f80_0000,
            DType::F16 => word & 0x83ff | 0x3c00,
            DType::Bf16 => word & 0x807f | 0x3f80,
            DType::F64 => word & 0x800f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000,
            DType::Bool => word & 1,
            _ => word,
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    Tensor::from_bytes(dtype, shape, bytes)
}

pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
