use super::{ArgMax, Hardmax, InputNeed, Max, Operation, ReduceMax};
use crate::plan::Plan;
use crate::{Error, Limits, Tensor, TensorType};

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

macro_rules! from_operation {
    ($($name:ident)*) => {
        $(impl From<$name> for AnyOperation {
            fn from(op: $name) -> AnyOperation {
                AnyOperation::$name(op)
            }
        })*
    };
}
from_operation!(ReduceMax ArgMax Hardmax Max);
