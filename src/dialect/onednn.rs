//! The oneDNN Graph operation set.

use super::{AxesInput, check_type};
use crate::{DType, EmptyMax, Error, Tensor, View, op};

const OPERATOR: &str = "oneDNN ReduceMax";

const TYPES: &[DType] = &[DType::F32, DType::F16, DType::Bf16];

const AXES: AxesInput = AxesInput {
    types: &[DType::I32],
    scalar: false,
    expected: "either an attribute or a second input, one dimension of i32",
};

/// oneDNN Graph's `ReduceMax`, of f32, f16 or bf16.
///
/// No axes reduce nothing. The maximum of no elements is undefined there, and an error here.
///
/// ```
/// # use wgmax::dialect::onednn;
/// # use wgmax::{DType, Operation, View};
/// let node = onednn::ReduceMax { axes: Some(vec![-1]), ..Default::default() };
/// let op = node.resolve(DType::F32, View::new([2, 3])?)?;
/// assert_eq!(op.outputs()?[0].shape, [2]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReduceMax {
    /// The attribute. Exactly one of the attribute and the second input is to be given.
    pub axes: Option<Vec<i64>>,
    /// The second input: one dimension of i32.
    pub axes_input: Option<Tensor>,
    /// Whether the reduced dimensions stay, with size 1. The default is `false`.
    pub keep_dims: bool,
}

impl ReduceMax {
    /// The operation for an input of this type and layout.
    ///
    /// # Errors
    /// [`Error::TypeNotAllowed`]; [`Error::AxesForm`] for axes given twice or not at all, or an input of another type or
    /// rank. What the axes name is checked with the operation, and so is a maximum of no elements.
    pub fn resolve(&self, dtype: DType, input: View) -> Result<op::ReduceMax, Error> {
        check_type(&OPERATOR, dtype, TYPES)?;
        let refuse = |given: &str| {
            let (operator, given) = (OPERATOR.into(), given.into());
            Err(Error::AxesForm { operator, given, expected: AXES.expected })
        };
        let axes = match (&self.axes, &self.axes_input) {
            (Some(axes), None) => axes.clone(),
            (None, Some(axes)) => AXES.read(&OPERATOR, axes)?,
            (Some(_), Some(_)) => return refuse("both"),
            (None, None) => return refuse("nothing"),
        };
        Ok(op::ReduceMax::new(dtype, input).axes(axes).keep_dims(self.keep_dims).empty(EmptyMax::Error))
    }
}
