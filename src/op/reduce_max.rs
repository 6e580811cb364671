use super::{InputNeed, NanPolicy, check_len, part_needs, reduced_shape, reduces_nothing};
use crate::{Axes, DType, Error, Parts, TensorType};

/// What the maximum of no elements is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EmptyMax {
    /// Negative infinity for floats, the type's minimum for integers, `false` (ONNX).
    #[default]
    Least,
    /// The lowest finite number for floats, the type's minimum for integers, `false` (OpenVINO).
    LowestFinite,
    /// [`Error::EmptyReduction`] (oneDNN).
    Error,
}

/// The maximum over any set of axes.
///
/// | | |
/// |---|---|
/// | input | one view or several [`Parts`], any of the 13 types, any rank up to [64](crate::View::MAX_RANK) |
/// | output | same type; the kept dimensions, the reduced ones as 1 or dropped; contiguous |
/// | NaN | by [`NanPolicy`]; comes out as the canonical quiet NaN |
/// | zeros | +0 is greater than -0 (IEEE 754-2019 `maximum`) |
/// | infinities, subnormals | kept exactly |
/// | no elements to reduce | by [`EmptyMax`] |
/// | no axes | the input, NaN made canonical |
///
/// ```
/// # use wgmax::{DType, Operation, ReduceMax, Tensor, View};
/// let scores = Tensor::new([2, 3], &[1.0_f32, 7.0, 3.0, 4.0, 5.0, 6.0])?;
/// let op = ReduceMax::new(DType::F32, View::new([2, 3])?).axes([-1]);
/// let answer = op.reference(&[&scores])?;
/// assert_eq!(answer[0].to_vec::<f32>()?, [7.0, 6.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ReduceMax {
    pub(crate) dtype: DType,
    pub(crate) input: Parts,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) axes: Axes,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) keep_dims: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) nan: NanPolicy,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) empty: EmptyMax,
}

impl ReduceMax {
    pub(crate) const NAME: &'static str = "ReduceMax";

    /// The maximum over all axes, dropped; NaN propagates.
    pub fn new(dtype: DType, input: impl Into<Parts>) -> ReduceMax {
        ReduceMax {
            dtype,
            input: input.into(),
            axes: Axes::All,
            keep_dims: false,
            nan: NanPolicy::default(),
            empty: EmptyMax::default(),
        }
    }

    /// Reduces these axes only.
    pub fn axes(mut self, axes: impl Into<Axes>) -> ReduceMax {
        self.axes = axes.into();
        self
    }

    /// Whether the reduced dimensions stay, with size 1.
    pub fn keep_dims(mut self, keep_dims: bool) -> ReduceMax {
        self.keep_dims = keep_dims;
        self
    }

    /// What NaN does.
    pub fn nan(mut self, nan: NanPolicy) -> ReduceMax {
        self.nan = nan;
        self
    }

    /// What the maximum of nothing is.
    pub fn empty(mut self, empty: EmptyMax) -> ReduceMax {
        self.empty = empty;
        self
    }

    /// The dimensions reduced, ascending, once everything else is known to be right.
    pub(crate) fn checked(&self) -> Result<Vec<usize>, Error> {
        let reduced = self.axes.resolve(Self::NAME, self.input.rank())?;
        if self.empty == EmptyMax::Error && reduces_nothing(self.input.shape(), &reduced) {
            let shape = self.input.shape().to_vec();
            return Err(Error::EmptyReduction { operator: Self::NAME, shape, reduced });
        }
        Ok(reduced)
    }

    pub(crate) fn input_needs(&self) -> Result<Vec<InputNeed>, Error> {
        part_needs(self.dtype, &self.input)
    }

    pub(crate) fn output_types(&self) -> Result<Vec<TensorType>, Error> {
        let shape = reduced_shape(self.input.shape(), &self.checked()?, self.keep_dims);
        Ok(vec![check_len(TensorType { dtype: self.dtype, shape })?])
    }
}
