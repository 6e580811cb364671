//! What can be done with every operation: it says what it takes and gives, is planned, and is answered by the CPU reference.

use crate::op::check_inputs;
use crate::plan::{self, Plan};
use crate::{ArgMax, Error, Hardmax, InputNeed, Limits, Max, ReduceMax, Tensor, TensorType, reference};

/// An operation: something that can be planned for a device, or answered by the CPU reference.
///
/// Implemented by [`ReduceMax`], [`ArgMax`], [`Hardmax`] and [`Max`], by [`AnyOperation`], which is any of them, and by
/// [`MergeShards`](crate::shard::MergeShards).
pub trait Operation: sealed::Sealed {
    /// The operator's name.
    fn name(&self) -> &'static str;

    /// What each input must be: its element type, and the bytes that its buffer must have for the view to lie in it. The
    /// [`Parts`](crate::Parts) of one tensor are an input each.
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

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Each is described by itself, and planned and answered by a function of its name.
macro_rules! operations {
    ($($operation:ident $function:ident)*) => {
        $(impl sealed::Sealed for $operation {}

        impl Operation for $operation {
            fn name(&self) -> &'static str {
                $operation::NAME
            }

            fn inputs(&self) -> Result<Vec<InputNeed>, Error> {
                self.input_needs()
            }

            fn outputs(&self) -> Result<Vec<TensorType>, Error> {
                self.output_types()
            }

            fn plan(&self, limits: &Limits) -> Result<Plan, Error> {
                plan::$function(self, limits)
            }

            fn reference(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
                check_inputs(&self.input_needs()?, inputs)?;
                reference::$function(self, inputs)
            }
        }

        impl From<$operation> for AnyOperation {
            fn from(op: $operation) -> AnyOperation {
                AnyOperation::$operation(op)
            }
        })*
    };
}
operations!(ReduceMax reduce_max ArgMax arg_max Hardmax hardmax Max max);

/// Any of the operations, for those who keep them in one list or send them as data.
///
/// With the feature `serde` it reads as `{"ReduceMax": {"dtype": "f32", "input": {"shape": [2, 3]}, "axes": [-1]}}`: what
/// is left out has the value that the operation starts with.
///
/// ```
/// # use wgmax::{AnyOperation, DType, Operation, ReduceMax, View};
/// let op = AnyOperation::from(ReduceMax::new(DType::F32, View::new([2, 3])?).axes([-1]));
/// assert_eq!(op.outputs()?[0].shape, [2]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AnyOperation {
    /// The maximum over axes.
    ReduceMax(ReduceMax),
    /// The position of the maximum.
    ArgMax(ArgMax),
    /// 1 for the first maximum of each slice.
    Hardmax(Hardmax),
    /// The element-wise maximum.
    Max(Max),
}

/// Each by its own type: a program that never asks for a method does not carry it.
macro_rules! any {
    ($self:ident, $op:ident => $call:expr) => {
        match $self {
            AnyOperation::ReduceMax($op) => $call,
            AnyOperation::ArgMax($op) => $call,
            AnyOperation::Hardmax($op) => $call,
            AnyOperation::Max($op) => $call,
        }
    };
}

impl sealed::Sealed for AnyOperation {}

impl Operation for AnyOperation {
    fn name(&self) -> &'static str {
        any!(self, op => op.name())
    }

    fn inputs(&self) -> Result<Vec<InputNeed>, Error> {
        any!(self, op => op.inputs())
    }

    fn outputs(&self) -> Result<Vec<TensorType>, Error> {
        any!(self, op => op.outputs())
    }

    fn plan(&self, limits: &Limits) -> Result<Plan, Error> {
        any!(self, op => op.plan(limits))
    }

    fn reference(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
        any!(self, op => op.reference(inputs))
    }
}
