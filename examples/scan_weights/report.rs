//! What is printed of the maxima, and written.

use std::io::Write;

use serde_json::{Value, json};
use wgmax::checkpoint::StoredTensor;
use wgmax::half::{bf16, f16};
use wgmax::{DType, Error, Tensor};

use crate::common::Failure;

/// The maxima of a tensor.
pub struct Found {
    /// The row-major position of the tensor's maximum.
    pub position: u64,
    /// The channel that it lies in.
    pub channel: usize,
    /// Each channel's maximum, and its row-major position in the tensor.
    pub maxima: Tensor,
    pub positions: Vec<u64>,
}

pub fn heading() {
    println!("\n{:32} {:8} {:>18} {:>20}  {:24} channels", "tensor", "type", "shape", "maximum", "at");
}

/// A line of the table.
pub fn row(tensor: &StoredTensor, found: Option<&Found>) {
    let shape = tensor.shape().iter().map(u64::to_string).collect::<Vec<_>>().join("×");
    print!("{:32} {:8} {shape:>18}", tensor.name(), tensor.type_name());
    let Some(found) = found else {
        let why = if tensor.dtype().is_ok() { "no elements" } else { "not supported" };
        println!(" {:>20}  {why}", "-");
        return;
    };
    let numbers = numbers(&found.maxima).unwrap_or_default();
    let at = format!("{:?}", index(found.position, tensor.shape()));
    println!(" {:>20}  {at:24} {}", shown(&numbers[found.channel]), chart(&numbers));
}

/// A tensor's maxima as JSON. What JSON has no number for is a text: NaN, inf, -inf.
pub fn line(out: &mut impl Write, tensor: &StoredTensor, found: &Found) -> Result<(), Failure> {
    let numbers = numbers(&found.maxima)?;
    let line = json!({
        "name": tensor.name(),
        "type": tensor.type_name(),
        "shape": tensor.shape(),
        "maximum": numbers[found.channel],
        "position": found.position,
        "channel_maxima": numbers,
        "channel_positions": found.positions,
    });
    Ok(writeln!(out, "{line}")?)
}

/// A row-major position as one along each dimension.
fn index(mut position: u64, shape: &[u64]) -> Vec<u64> {
    let mut index = vec![0; shape.len()];
    for (own, &size) in index.iter_mut().zip(shape).rev() {
        (*own, position) = (position % size, position / size);
    }
    index
}

/// Elements of any type.
fn numbers(tensor: &Tensor) -> Result<Vec<Value>, Error> {
    let floats = |all: Vec<f64>| all.into_iter().map(float).collect();
    let signed = |all: Vec<i64>| all.into_iter().map(Value::from).collect();
    let unsigned = |all: Vec<u64>| all.into_iter().map(Value::from).collect();
    Ok(match tensor.dtype() {
        DType::F32 => floats(wide(tensor.to_vec::<f32>()?)),
        DType::F16 => floats(wide(tensor.to_vec::<f16>()?)),
        DType::Bf16 => floats(wide(tensor.to_vec::<bf16>()?)),
        DType::F64 => floats(tensor.to_vec()?),
        DType::I8 => signed(wide(tensor.to_vec::<i8>()?)),
        DType::I16 => signed(wide(tensor.to_vec::<i16>()?)),
        DType::I32 => signed(wide(tensor.to_vec::<i32>()?)),
        DType::I64 => signed(tensor.to_vec()?),
        DType::U8 | DType::Bool => unsigned(tensor.bytes().iter().map(|&byte| byte.into()).collect()),
        DType::U16 => unsigned(wide(tensor.to_vec::<u16>()?)),
        DType::U32 => unsigned(wide(tensor.to_vec::<u32>()?)),
        DType::U64 => unsigned(tensor.to_vec()?),
    })
}

fn wide<T: Into<W>, W>(all: Vec<T>) -> Vec<W> {
    all.into_iter().map(Into::into).collect()
}

fn float(number: f64) -> Value {
    if number.is_finite() { number.into() } else { number.to_string().into() }
}

fn shown(number: &Value) -> String {
    match number {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{}", number.as_f64().unwrap_or_default() as f32),
        number => number.to_string(),
    }
}

/// The most bars of a chart.
const BARS: usize = 32;

/// Channels' maxima as bars beside the greatest number: those that are not above 0 are the lowest, `N` is a NaN.
fn chart(numbers: &[Value]) -> String {
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(f64::NAN);
    let bars = numbers.chunks(numbers.len().div_ceil(BARS).max(1));
    // A NaN is a maximum.
    let heights: Vec<f64> = bars
        .map(|bar| bar.iter().map(number).fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || a > b { a } else { b }))
        .collect();
    let greatest = heights.iter().copied().filter(|height| height.is_finite()).fold(0.0, f64::max);
    let level = |height: f64| match height {
        _ if height.is_nan() => 'N',
        _ if height > 0.0 => {
            ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][((height / greatest * 8.0).ceil() as usize).clamp(1, 8) - 1]
        }
        _ => '▁',
    };
    heights.into_iter().map(level).collect()
}
