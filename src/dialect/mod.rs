//! Nodes as engines have them: the names, defaults, type lists and axes forms of other specifications, resolved to this
//! crate's operations.
//!
//! A dialect only translates. What an answer is, bit for bit, the [operation](crate::Operation) alone decides.

pub mod onednn;
pub mod onnx;
pub mod openvino;

use crate::error::list;
use crate::{DType, Error, Tensor};

fn check_type(operator: &impl ToString, given: DType, allowed: &'static [DType]) -> Result<(), Error> {
    if allowed.contains(&given) {
        return Ok(());
    }
    Err(Error::TypeNotAllowed { operator: operator.to_string(), given, allowed })
}

/// The form of a second input that holds axes.
struct AxesInput {
    types: &'static [DType],
    scalar: bool,
    /// The form in words, for errors.
    expected: &'static str,
}

impl AxesInput {
    /// The axes that such an input holds.
    fn read(&self, operator: &impl ToString, axes: &Tensor) -> Result<Vec<i64>, Error> {
        let rank = axes.shape().len();
        if !self.types.contains(&axes.dtype()) || !(rank == 1 || rank == 0 && self.scalar) {
            let given = format!("a tensor of type {} and shape {}", axes.dtype(), list(axes.shape()));
            return Err(Error::AxesForm { operator: operator.to_string(), given, expected: self.expected });
        }
        match axes.dtype() {
            DType::I32 => Ok(axes.to_vec::<i32>()?.into_iter().map(i64::from).collect()),
            _ => axes.to_vec(),
        }
    }
}
