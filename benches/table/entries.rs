//! What the entries of the workload table mean.

use std::error::Error;

use serde_json::Value;
use wgmax::{ArgMax, DType, Hardmax, Max, Operation, ReduceMax, Slices, View};

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

/// The entries of these names, or all where none are given.
pub fn picked(mut list: Vec<Value>, only: &[String]) -> Result<Vec<Value>, Box<dyn Error>> {
    if let Some(name) = only.iter().find(|name| list.iter().all(|work| work["name"] != ***name)) {
        return Err(format!("no workload is named {name:?}").into());
    }
    list.retain(|work| only.is_empty() || only.iter().any(|name| work["name"] == **name));
    Ok(list)
}

pub fn dtype(name: &Value) -> Result<DType, Box<dyn Error>> {
    let known = DTYPES.into_iter().find(|&(own, _)| name == own);
    known.map(|(_, dtype)| dtype).ok_or_else(|| format!("unknown dtype {name}").into())
}

/// The shapes, their outermost dimensions multiplied by the scale where they are more than 1.
pub fn shapes(work: &Value, scale: f64) -> Result<Vec<Vec<u64>>, Box<dyn Error>> {
    let mut shapes: Vec<Vec<u64>> = serde_json::from_value(work["shapes"].clone())?;
    for shape in &mut shapes {
        if let Some(outermost) = shape.first_mut().filter(|size| **size > 1) {
            *outermost = ((*outermost as f64 * scale) as u64).max(1);
        }
    }
    if shapes.is_empty() || shapes.iter().any(|shape| shape.contains(&0)) {
        return Err(format!("{}: shapes {shapes:?}, at least one expected, and elements in each", work["name"]).into());
    }
    Ok(shapes)
}

pub fn operation(work: &Value, dtype: DType, shapes: &[Vec<u64>]) -> Result<Box<dyn Operation>, Box<dyn Error>> {
    let mut views = shapes.iter().map(|shape| View::new(shape.clone())).collect::<Result<Vec<_>, _>>()?;
    let axis = work["axis"].as_i64().unwrap_or(-1);
    let axes: Vec<i64> = match &work["axes"] {
        Value::Null => vec![axis],
        axes => serde_json::from_value(axes.clone())?,
    };
    Ok(match work["op"].as_str() {
        Some("ReduceMax") => Box::new(ReduceMax::new(dtype, views.remove(0)).axes(axes)),
        Some("ArgMax") => Box::new(ArgMax::new(dtype, views.remove(0)).axes(axes)),
        Some("Hardmax") => Box::new(Hardmax::new(dtype, views.remove(0), Slices::Along(axis))),
        Some("Max") => Box::new(Max::new(dtype, views)),
        _ => return Err(format!("unknown operator {}", work["op"]).into()),
    })
}
