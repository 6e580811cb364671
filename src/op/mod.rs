//! The operations: what is asked for, checked, with the shape of the answer.

mod any;
mod arg_max;
mod hardmax;
mod max;
mod reduce_max;

pub use any::AnyOperation;
pub use arg_max::{ArgMax, ArgMaxOutput, IndexType};
pub use hardmax::{Hardmax, Slices};
pub use max::Max;
pub use reduce_max::{EmptyMax, ReduceMax};

use crate::dtype::padded_bytes;
use crate::plan::Plan;
use crate::view::checked_len;
use crate::{Error, Limits, Parts, Tensor, TensorType};

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

/// An operation: something that can be planned for a device, or answered by the CPU reference.
///
/// Implemented by [`ReduceMax`], [`ArgMax`], [`Hardmax`] and [`Max`], by [`AnyOperation`], which is any of them, and by
/// [`MergeShards`](crate::shard::MergeShards).
pub trait Operation: sealed::Sealed {
    /// The operator's name.
    fn name(&self) -> &'static str;

    /// What each input must be: its element type, and the bytes that its buffer must have for the view to lie in it. The
    /// [`Parts`] of one tensor are an input each.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if no 64-bit number counts the bytes. Whether the operation is right, [`Operation::outputs`] says.
    fn inputs(&self) -> Result<Vec<InputNeed>, Error>;

    /// Type and shape of each output. Outputs are contiguous and row-major.
    ///
    /// # Errors
    /// Whatever is wrong with the operation: axes, types, shapes.
    fn outputs(&self) -> Result<Vec<TensorType>, Error>;

    /// The plan for a device with these limits. The same operation and limits give the same plan.
    ///
    /// # Errors
    /// Whatever is wrong with the operation, and [`Error::TooLarge`] or [`Error::DeviceTooSmall`] where the limits do
    /// not allow it; those of [`Limits::check`].
    fn plan(&self, limits: &Limits) -> Result<Plan, Error>;

    /// The answer from the definition, on the CPU. It shares no code with plans and shaders.
    ///
    /// Inputs are the tensors that the views lie in; of their own shapes only the number of elements counts.
    ///
    /// # Errors
    /// Whatever is wrong with the operation; [`Error::WrongCount`], [`Error::TypeMismatch`] and
    /// [`Error::BindingTooSmall`] for inputs that do not fit it; [`Error::TooLarge`] if host memory does not hold the answer.
    fn reference(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error>;
}

/// What an operation expects of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputNeed {
    /// The element type.
    pub dtype: crate::DType,
    /// The fewest elements that its tensor may have: enough for its view, and for those of inputs that are views of it; 0 if
    /// it is not read.
    pub elements: u64,
    /// The bytes of a buffer for them, a multiple of 4.
    pub bytes: u64,
}

/// What is expected of the parts of an input.
fn part_needs(dtype: crate::DType, input: &Parts) -> Result<Vec<InputNeed>, Error> {
    let need = |view: &crate::View| {
        Ok(InputNeed { dtype, elements: view.buffer_elements(), bytes: view.buffer_bytes(dtype)? })
    };
    input.views().iter().map(need).collect()
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl Sealed for super::AnyOperation {}
    impl Sealed for super::ReduceMax {}
    impl Sealed for super::ArgMax {}
    impl Sealed for super::Hardmax {}
    impl Sealed for super::Max {}
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
