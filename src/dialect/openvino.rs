//! OpenVINO's operation set.

use super::{AxesInput, check_type};
use crate::{DType, EmptyMax, Error, Tensor, View, op};

const OPERATOR: &str = "OpenVINO ReduceMax-1";

const TYPES: &[DType] = &[
    DType::F16,
    DType::Bf16,
    DType::F32,
    DType::F64,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
];

const AXES: AxesInput = AxesInput {
    types: &[DType::I32, DType::I64],
    scalar: true,
    expected: "a second input, a scalar or one dimension of i32 or i64",
};

/// OpenVINO's `ReduceMax`, operation set 1, of any numeric type.
///
/// No axes reduce nothing. The maximum of no elements is the type's lowest finite value, as OpenVINO's reference
/// implementation has it; the specification is silent there.
///
/// ```
/// # use wgmax::dialect::openvino;
/// # use wgmax::{DType, Operation, Tensor, View};
/// let node = openvino::ReduceMax1 { axes: Some(Tensor::new([], &[-1_i32])?), ..Default::default() };
/// let op = node.resolve(DType::F32, View::new([2, 3])?)?;
/// assert_eq!(op.outputs()?[0].shape, [2]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReduceMax1 {
    /// The second input, required: a scalar or one dimension, i32 or i64, each axis from `-rank` to `rank - 1`.
    pub axes: Option<Tensor>,
    /// Whether the reduced dimensions stay, with size 1. The default is `false`.
    pub keep_dims: bool,
}

impl ReduceMax1 {
    /// The operation for an input of this type and layout.
    ///
    /// # Errors
    /// [`Error::TypeNotAllowed`] for bool; [`Error::AxesForm`] for axes that are absent or of another type or rank. What
    /// the axes name is checked with the operation.
    pub fn resolve(&self, dtype: DType, input: View) -> Result<op::ReduceMax, Error> {
        check_type(&OPERATOR, dtype, TYPES)?;
        let Some(axes) = &self.axes else {
            let (operator, given) = (OPERATOR.into(), "nothing".into());
            return Err(Error::AxesForm { operator, given, expected: AXES.expected });
        };
        let axes = AXES.read(&OPERATOR, axes)?;
        Ok(op::ReduceMax::new(dtype, input).axes(axes).keep_dims(self.keep_dims).empty(EmptyMax::LowestFinite))
    }
}
