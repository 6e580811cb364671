use super::{InputNeed, NanPolicy, check_len, part_needs, reduced_shape};
use crate::{Axes, DType, Error, Parts, TensorType};

/// The type of ArgMax's indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum IndexType {
    /// 64-bit signed, as ONNX has it: two little-endian words, of which a shader without 64-bit integers reads the first.
    #[default]
    I64,
    /// 32-bit signed.
    I32,
    /// 32-bit unsigned.
    U32,
}

impl IndexType {
    /// The storage type.
    pub const fn dtype(self) -> DType {
        match self {
            IndexType::I64 => DType::I64,
            IndexType::I32 => DType::I32,
            IndexType::U32 => DType::U32,
        }
    }

    /// The greatest index that the type holds.
    const fn max_index(self) -> u64 {
        match self {
            IndexType::I64 => i64::MAX as u64,
            IndexType::I32 => i32::MAX as u64,
            IndexType::U32 => u32::MAX as u64,
        }
    }
}

/// What ArgMax writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ArgMaxOutput {
    /// Output 0: the indices.
    #[default]
    Indices,
    /// Output 0: the maxima, as ReduceMax gives them; output 1: the indices. One read gives both. Of equal zeros the value
    /// is +0 wherever one is, and NaN is the canonical one: it may differ in bits from the element at the index.
    ValuesAndIndices,
}

/// The position of the maximum along one axis, or over several.
///
/// | | |
/// |---|---|
/// | input | one view or several [`Parts`], any of the 13 types, rank 1 to [64](crate::View::MAX_RANK) |
/// | output | indices: i64, i32 or u32; the kept dimensions, the reduced ones as 1 or dropped; contiguous |
/// | several axes | the index is row-major over them, in the order of the dimensions |
/// | NaN | greater than every number, and NaNs are equal; by [`NanPolicy`] |
/// | zeros | -0 and +0 are equal |
/// | ties | the lowest index wins, or the highest with [`select_last`](ArgMax::select_last) |
/// | no elements to reduce | [`Error::EmptyReduction`] unless there are no outputs either |
///
/// ```
/// # use wgmax::{ArgMax, DType, Operation, Tensor, View};
/// let scores = Tensor::new([2, 3], &[1.0_f32, 7.0, 7.0, f32::NAN, 5.0, 6.0])?;
/// let op = ArgMax::new(DType::F32, View::new([2, 3])?).axes([1]);
/// let answer = op.reference(&[&scores])?;
/// assert_eq!(answer[0].to_vec::<i64>()?, [1, 0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ArgMax {
    pub(crate) dtype: DType,
    pub(crate) input: Parts,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) axes: Axes,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) keep_dims: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) nan: NanPolicy,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) select_last: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) index: IndexType,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) output: ArgMaxOutput,
}

impl ArgMax {
    pub(crate) const NAME: &'static str = "ArgMax";

    /// The first maximum over all axes, dropped, as an i64 index; NaN propagates.
    pub fn new(dtype: DType, input: impl Into<Parts>) -> ArgMax {
        ArgMax {
            dtype,
            input: input.into(),
            axes: Axes::All,
            keep_dims: false,
            nan: NanPolicy::default(),
            select_last: false,
            index: IndexType::default(),
            output: ArgMaxOutput::default(),
        }
    }

    /// Searches along these axes only.
    pub fn axes(mut self, axes: impl Into<Axes>) -> ArgMax {
        self.axes = axes.into();
        self
    }

    /// Whether the reduced dimensions stay, with size 1.
    pub fn keep_dims(mut self, keep_dims: bool) -> ArgMax {
        self.keep_dims = keep_dims;
        self
    }

    /// What NaN does.
    pub fn nan(mut self, nan: NanPolicy) -> ArgMax {
        self.nan = nan;
        self
    }

    /// Whether the last of equal maxima wins (ONNX's `select_last_index`).
    pub fn select_last(mut self, select_last: bool) -> ArgMax {
        self.select_last = select_last;
        self
    }

    /// The indices' type. Planning gives [`Error::TooLarge`] if the last position does not fit it.
    pub fn index(mut self, index: IndexType) -> ArgMax {
        self.index = index;
        self
    }

    /// What is written.
    pub fn output(mut self, output: ArgMaxOutput) -> ArgMax {
        self.output = output;
        self
    }

    /// The dimensions reduced, ascending, once everything else is known to be right.
    pub(crate) fn checked(&self) -> Result<Vec<usize>, Error> {
        let operator = Self::NAME;
        if self.input.rank() == 0 {
            return Err(Error::NoAxis { operator });
        }
        let reduced = self.axes.resolve(operator, self.input.rank())?;
        let shape = self.input.shape();
        if super::reduces_nothing(shape, &reduced) {
            return Err(Error::EmptyReduction { operator, shape: shape.to_vec(), reduced });
        }
        let positions = reduced.iter().fold(1_u64, |len, &d| len.saturating_mul(shape[d]));
        let limit = self.index.max_index();
        if !self.input.is_empty() && positions - 1 > limit {
            let what = match self.index {
                IndexType::I64 => "the last position, as an i64 index",
                IndexType::I32 => "the last position, as an i32 index (i64 holds it)",
                IndexType::U32 => "the last position, as a u32 index (i64 holds it)",
            };
            return Err(Error::TooLarge { what, given: positions - 1, limit });
        }
        Ok(reduced)
    }

    pub(crate) fn input_needs(&self) -> Result<Vec<InputNeed>, Error> {
        part_needs(self.dtype, &self.input)
    }

    pub(crate) fn output_types(&self) -> Result<Vec<TensorType>, Error> {
        let shape = reduced_shape(self.input.shape(), &self.checked()?, self.keep_dims);
        let indices = check_len(TensorType { dtype: self.index.dtype(), shape: shape.clone() })?;
        Ok(match self.output {
            ArgMaxOutput::Indices => vec![indices],
            ArgMaxOutput::ValuesAndIndices => {
                vec![check_len(TensorType { dtype: self.dtype, shape })?, indices]
            }
        })
    }
}
