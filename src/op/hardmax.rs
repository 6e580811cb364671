use super::{InputNeed, NanPolicy, check_len, part_needs};
use crate::axes::{resolve_axis, resolve_up_to};
use crate::{DType, Error, Parts, TensorType};

/// What Hardmax takes for one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Slices {
    /// The elements along this axis (ONNX Hardmax 13).
    Along(i64),
    /// The elements of this axis and all after it, as one row (ONNX Hardmax 1 and 11: the input coerced to 2-D). As
    /// there, the rank itself is allowed: then every element is a slice.
    From(i64),
}

/// 1 for the first maximum of each slice, 0 for everything else.
///
/// | | |
/// |---|---|
/// | input | one view or several [`Parts`], rank 1 to [64](crate::View::MAX_RANK); ONNX has f16, bf16, f32 and f64, this takes all 13 types |
/// | output | shape and type of the input, contiguous |
/// | NaN | the first NaN is the maximum; by [`NanPolicy`] |
/// | zeros | -0 and +0 are equal: the first of them wins |
/// | an empty input | an empty output |
///
/// ```
/// # use wgmax::{DType, Hardmax, Operation, Slices, Tensor, View};
/// let scores = Tensor::new([2, 3], &[1.0_f32, 7.0, 7.0, 4.0, 5.0, 6.0])?;
/// let op = Hardmax::new(DType::F32, View::new([2, 3])?, Slices::Along(-1));
/// let answer = op.reference(&[&scores])?;
/// assert_eq!(answer[0].to_vec::<f32>()?, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Hardmax {
    pub(crate) dtype: DType,
    pub(crate) input: Parts,
    pub(crate) slices: Slices,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) nan: NanPolicy,
}

impl Hardmax {
    pub(crate) const NAME: &'static str = "Hardmax";

    /// One 1 in each slice; NaN propagates.
    pub fn new(dtype: DType, input: impl Into<Parts>, slices: Slices) -> Hardmax {
        Hardmax { dtype, input: input.into(), slices, nan: NanPolicy::default() }
    }

    /// What NaN does.
    pub fn nan(mut self, nan: NanPolicy) -> Hardmax {
        self.nan = nan;
        self
    }

    /// The dimensions of a slice, ascending.
    pub(crate) fn checked(&self) -> Result<Vec<usize>, Error> {
        let rank = self.input.rank();
        match self.slices {
            Slices::Along(axis) => Ok(vec![resolve_axis(Self::NAME, axis, rank)?]),
            Slices::From(axis) => Ok((resolve_up_to(Self::NAME, axis, rank, rank)?..rank).collect()),
        }
    }

    pub(crate) fn input_needs(&self) -> Result<Vec<InputNeed>, Error> {
        part_needs(self.dtype, &self.input)
    }

    pub(crate) fn output_types(&self) -> Result<Vec<TensorType>, Error> {
        self.checked()?;
        let shape = self.input.shape().to_vec();
        Ok(vec![check_len(TensorType { dtype: self.dtype, shape })?])
    }
}
