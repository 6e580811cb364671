//! The workload table: what its entries mean, and data for them.
#![allow(dead_code)] // each bench uses its own part

pub mod ceilings;
mod entries;
pub mod pace;
pub mod read;

use std::time::Duration;

pub use entries::*;
#[cfg(feature = "serde")]
use serde_json::Value;
use wgmax::{DType, Limits, Tensor};

use crate::common::Failure;

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

/// A device's limits, but for what is otherwise; of a tuning, what it says otherwise than the adapter's row.
#[cfg(feature = "serde")]
pub fn limits(device: &Limits, otherwise: Option<&str>) -> Result<Limits, Failure> {
    let mut otherwise: serde_json::Map<String, Value> = serde_json::from_str(otherwise.unwrap_or("{}"))?;
    if let Some(Value::Object(tuning)) = otherwise.get_mut("tuning") {
        let mut row = serde_json::to_value(device.tuning.unwrap_or(wgmax::Tuning::of(device.adapter)))?;
        std::mem::take(tuning).into_iter().for_each(|(name, value)| row[name] = value);
        otherwise["tuning"] = row;
    }
    let mut fields = serde_json::to_value(device)?;
    otherwise.into_iter().for_each(|(name, value)| fields[name] = value);
    Ok(serde_json::from_value(fields)?)
}
#[cfg(not(feature = "serde"))]
pub fn limits(device: &Limits, otherwise: Option<&str>) -> Result<Limits, Failure> {
    match otherwise {
        Some(_) => Err("--limits takes JSON: add --features serde".into()),
        None => Ok(device.clone()),
    }
}
