//! The operations as they are asked for: each with its options, checked, and what it takes and gives.

mod arg_max;
mod hardmax;
mod max;
mod reduce_max;

pub use arg_max::{ArgMax, ArgMaxOutput, IndexType};
pub use hardmax::{Hardmax, Slices};
pub use max::Max;
pub use reduce_max::{EmptyMax, ReduceMax};

use crate::dtype::padded_bytes;
use crate::view::checked_len;
use crate::{DType, Error, Parts, Tensor, TensorType, View};

/// What NaN does to a maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum NanPolicy {
    /// Any NaN, of either sign, gives the canonical quiet NaN; for positions NaN is greater than every number, and all NaNs
    /// are equal.
    #[default]
    Propagate,
    /// NaN loses to every number. Only NaNs give NaN, and index 0.
    Ignore,
}

impl NanPolicy {
    /// Whether elements of this type have NaNs that are to be ignored.
    pub(crate) fn ignores(self, dtype: DType) -> bool {
        dtype.is_float() && self == NanPolicy::Ignore
    }
}

/// What an operation expects of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputNeed {
    /// The element type.
    pub dtype: DType,
    /// The fewest elements that its tensor may have: enough for its view, and for those of inputs that are views of it; 0 if
    /// it is not read.
    pub elements: u64,
    /// The bytes of a buffer for them, a multiple of 4.
    pub bytes: u64,
}

/// What is expected of the parts of an input.
fn part_needs(dtype: DType, input: &Parts) -> Result<Vec<InputNeed>, Error> {
    let need =
        |view: &View| Ok(InputNeed { dtype, elements: view.buffer_elements(), bytes: view.buffer_bytes(dtype)? });
    input.views().iter().map(need).collect()
}

/// The shape that is left when these dimensions are reduced.
pub(crate) fn reduced_shape(shape: &[u64], reduced: &[usize], keep_dims: bool) -> Vec<u64> {
    let mut left = Vec::with_capacity(shape.len());
    for (d, &size) in shape.iter().enumerate() {
        match (reduced.contains(&d), keep_dims) {
            (false, _) => left.push(size),
            (true, true) => left.push(1),
            (true, false) => {}
        }
    }
    left
}

/// Whether there are outputs, but no elements to reduce to them.
fn reduces_nothing(shape: &[u64], reduced: &[usize]) -> bool {
    reduced.iter().any(|&d| shape[d] == 0) && !reduced_shape(shape, reduced, false).contains(&0)
}

/// Checks that an output's elements can be counted in 63 bits, and the bytes of whole words that hold it in 64.
fn check_len(output: TensorType) -> Result<TensorType, Error> {
    let bytes = checked_len(&output.shape).and_then(|len| padded_bytes(output.dtype, len));
    match bytes {
        Some(_) => Ok(output),
        None => {
            let given = checked_len(&output.shape).unwrap_or(u64::MAX); // or more
            let limit = (u64::MAX / 4 * 4 / output.dtype.bytes()).min(i64::MAX as u64);
            Err(Error::TooLarge { what: "elements of an output", given, limit })
        }
    }
}

/// Checks the tensors given for an operation's inputs.
pub(crate) fn check_inputs(needs: &[InputNeed], inputs: &[&Tensor]) -> Result<(), Error> {
    if needs.len() != inputs.len() {
        return Err(Error::WrongCount { what: "inputs", given: inputs.len(), expected: needs.len() });
    }
    for (i, (need, input)) in needs.iter().zip(inputs).enumerate() {
        if input.dtype() != need.dtype {
            let tensor = format!("input {i}");
            return Err(Error::TypeMismatch { tensor, given: input.dtype(), expected: need.dtype });
        }
        let (given, needed) = (input.bytes().len() as u64, need.elements.saturating_mul(need.dtype.bytes()));
        if given < needed {
            return Err(Error::BindingTooSmall { slot: format!("input {i}"), given, needed }); // no padding counts
        }
    }
    Ok(())
}
