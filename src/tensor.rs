use std::fmt;
use std::sync::Arc;

use crate::element::{Element, to_bytes};
use crate::view::check_rank;
use crate::{DType, Error};

/// A shape and an element type: what a tensor is, without its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TensorType {
    /// The element type.
    pub dtype: DType,
    /// The size of each dimension.
    pub shape: Vec<u64>,
}

impl TensorType {
    /// The number of elements; 0 too where no 63-bit number counts them, which no operation gives.
    #[allow(clippy::len_without_is_empty)] // a count, not a collection
    pub fn len(&self) -> u64 {
        crate::view::checked_len(&self.shape).unwrap_or(0)
    }

    /// The bytes of its elements, without padding; `None` if no 64-bit number counts them.
    pub fn bytes(&self) -> Option<u64> {
        crate::view::checked_len(&self.shape)?.checked_mul(self.dtype.bytes())
    }

    /// The tensor whose bytes these are, with the padding to whole words that buffers have.
    #[cfg(feature = "gpu")]
    pub(crate) fn tensor(self, mut bytes: Vec<u8>) -> Result<Tensor, Error> {
        bytes.truncate(self.bytes().map_or(0, |len| len as usize));
        Tensor::from_bytes(self.dtype, self.shape, bytes)
    }
}

/// A tensor in host memory: a shape of at most [`View::MAX_RANK`](crate::View::MAX_RANK) dimensions, an element type, and
/// little-endian row-major bytes. Clones share the bytes.
///
/// ```
/// # use wgmax::Tensor;
/// let tensor = Tensor::new([2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(tensor.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "UncheckedTensor", into = "UncheckedTensor"))]
pub struct Tensor {
    tensor_type: TensorType,
    bytes: Arc<Vec<u8>>,
}

/// Shape and type, and no more than the first bytes: tensors may have gigabytes of them.
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.bytes[..self.bytes.len().min(64)];
        write!(f, "Tensor {} {:?} {shown:02x?}", self.dtype(), self.shape())?;
        if shown.len() < self.bytes.len() {
            write!(f, " and {} more bytes", self.bytes.len() - shown.len())
        } else {
            Ok(())
        }
    }
}

impl Tensor {
    /// A tensor of these elements.
    ///
    /// # Errors
    /// As [`Tensor::from_bytes`].
    pub fn new<T: Element>(shape: impl Into<Vec<u64>>, elements: &[T]) -> Result<Tensor, Error> {
        Tensor::from_bytes(T::DTYPE, shape, to_bytes(elements))
    }

    /// A tensor of these little-endian bytes.
    ///
    /// # Errors
    /// [`Error::TensorBytes`] if there are more or fewer than shape and type ask for; [`Error::BoolValue`] for a bool
    /// that is neither 0 nor 1; [`Error::TooLarge`] for more than [`View::MAX_RANK`](crate::View::MAX_RANK) dimensions.
    pub fn from_bytes(dtype: DType, shape: impl Into<Vec<u64>>, bytes: Vec<u8>) -> Result<Tensor, Error> {
        let tensor_type = TensorType { dtype, shape: shape.into() };
        check_rank(tensor_type.shape.len())?;
        let expected = tensor_type.bytes().unwrap_or(u64::MAX);
        let given = bytes.len() as u64;
        if given != expected {
            return Err(Error::TensorBytes { shape: tensor_type.shape, dtype, given, expected });
        }
        check_bools(dtype, &bytes, 0)?;
        Ok(Tensor { tensor_type, bytes: bytes.into() })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.tensor_type.dtype
    }

    /// The size of each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.tensor_type.shape
    }

    /// Shape and element type.
    pub fn tensor_type(&self) -> &TensorType {
        &self.tensor_type
    }

    /// The elements' little-endian bytes, row-major, without padding.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements.
    ///
    /// # Errors
    /// [`Error::TypeMismatch`] if `T` is not the tensor's element type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        if T::DTYPE != self.dtype() {
            let tensor = "the tensor".into();
            return Err(Error::TypeMismatch { tensor, given: self.dtype(), expected: T::DTYPE });
        }
        Ok(self.bytes.chunks_exact(size_of::<T>()).map(T::read).collect())
    }
}

/// Each bool has one form: of two bytes that both mean true, devices and the reference would take different ones.
pub(crate) fn check_bools(dtype: DType, bytes: &[u8], first: u64) -> Result<(), Error> {
    let wrong = (dtype == DType::Bool).then(|| bytes.iter().position(|&byte| byte > 1)).flatten();
    wrong.map_or(Ok(()), |n| Err(Error::BoolValue { element: first + n as u64, value: bytes[n] }))
}

/// What [`room`] is most often for.
pub(crate) const ANSWER: &str = "bytes of an answer in host memory";

/// Room for so many elements. Their bytes, named by the caller, may be more than any memory holds: an operation may ask for
/// such an answer, and a file may tell of such a tensor.
pub(crate) fn room<T>(what: &'static str, len: u64) -> Result<Vec<T>, Error> {
    let fits = |len: u64| {
        let mut room = Vec::new();
        usize::try_from(len).is_ok_and(|len| room.try_reserve_exact(len).is_ok()).then_some(room)
    };
    let bytes = |len: u64| len.saturating_mul(size_of::<T>() as u64);
    fits(len).ok_or_else(|| {
        let limit = std::iter::successors(Some(len / 2), |len| Some(len / 2)).find(|&len| fits(len).is_some());
        Error::TooLarge { what, given: bytes(len), limit: bytes(limit.unwrap_or(0)) }
    })
}

/// What a [`Tensor`] is read from and written as.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedTensor {
    dtype: DType,
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

#[cfg(feature = "serde")]
impl TryFrom<UncheckedTensor> for Tensor {
    type Error = Error;

    fn try_from(unchecked: UncheckedTensor) -> Result<Tensor, Error> {
        Tensor::from_bytes(unchecked.dtype, unchecked.shape, unchecked.bytes)
    }
}

#[cfg(feature = "serde")]
impl From<Tensor> for UncheckedTensor {
    fn from(Tensor { tensor_type, bytes }: Tensor) -> UncheckedTensor {
        UncheckedTensor { dtype: tensor_type.dtype, shape: tensor_type.shape, bytes: Arc::unwrap_or_clone(bytes) }
    }
}
