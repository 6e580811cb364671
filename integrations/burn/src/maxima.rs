use burn::backend::Dispatch;
use burn::tensor::{AsIndex, DType, Device, Int, IntDType, Shape, Tensor};

use crate::host::{Host, cube_device};
use crate::{Maximum, MaximumOps};

/// wgmax's operators on burn's tensors of floats and of integers. Dimensions are counted as burn does, negative ones from
/// the last, and reduced ones stay with one element.
///
/// Other than burn's own, they find the first NaN greatest of all, the first of equal elements on every device, and read
/// permuted, expanded and sliced tensors where they lie.
///
/// # Panics
/// Like burn's own: for a dimension that is not there or named twice, for positions among no elements, and for a tensor
/// that is not on a device of [`open`](crate::open) or [`attach`](crate::attach). The message says what was given and what
/// was expected.
pub trait Maxima: Sized {
    /// The positions.
    type Indices;

    /// The position of the greatest element along a dimension, in the device's integer type.
    fn wgmax_argmax(self, dim: impl AsIndex) -> Self::Indices;

    /// The greatest element along a dimension and its position, from one reading of the tensor.
    fn wgmax_max_with_indices(self, dim: impl AsIndex) -> (Self, Self::Indices);

    /// 1 for the first of the greatest elements along a dimension, and 0 for the others.
    fn wgmax_hardmax(self, dim: impl AsIndex) -> Self;

    /// The greatest element over dimensions. Over no elements it is the least that there is: minus infinity, or the least
    /// integer.
    fn wgmax_max<I: AsIndex>(self, dims: &[I]) -> Self;
}

macro_rules! maxima {
    ($tensor:ty, $one:ident, $indices:ident, $both:ident) => {
        impl<const D: usize> Maxima for $tensor {
            type Indices = Tensor<D, Int>;

            fn wgmax_argmax(self, dim: impl AsIndex) -> Tensor<D, Int> {
                let asked = Maximum::ArgMax { dim: index(dim), indices: positions(&self.device()), values: false };
                check(&asked, &self.device(), self.dtype(), &self.shape());
                Tensor::from_dispatch(Dispatch::$indices(self.into_dispatch(), asked))
            }

            fn wgmax_max_with_indices(self, dim: impl AsIndex) -> (Self, Tensor<D, Int>) {
                let asked = Maximum::ArgMax { dim: index(dim), indices: positions(&self.device()), values: true };
                check(&asked, &self.device(), self.dtype(), &self.shape());
                let (values, indices) = Dispatch::$both(self.into_dispatch(), asked);
                (Tensor::from_dispatch(values), Tensor::from_dispatch(indices))
            }

            fn wgmax_hardmax(self, dim: impl AsIndex) -> Self {
                let asked = Maximum::Hardmax { dim: index(dim) };
                check(&asked, &self.device(), self.dtype(), &self.shape());
                Tensor::from_dispatch(Dispatch::$one(self.into_dispatch(), asked))
            }

            fn wgmax_max<I: AsIndex>(self, dims: &[I]) -> Self {
                let asked = Maximum::Max { dims: dims.iter().map(|&dim| index(dim)).collect() };
                check(&asked, &self.device(), self.dtype(), &self.shape());
                Tensor::from_dispatch(Dispatch::$one(self.into_dispatch(), asked))
            }
        }
    };
}
maxima!(Tensor<D>, wgmax_float, wgmax_float_indices, wgmax_float_both);
maxima!(Tensor<D, Int>, wgmax_int, wgmax_int_indices, wgmax_int_both);

fn index(dim: impl AsIndex) -> i64 {
    dim.as_index() as i64
}

fn positions(device: &Device) -> IntDType {
    device.settings().int_dtype
}

/// Before anything is queued, so that the panic is the caller's with fusion, too.
fn check(asked: &Maximum, device: &Device, dtype: DType, shape: &Shape) {
    let known = match cube_device(device) {
        Some(device) => Host::of(&device).map(|_| ()),
        None => Err(format!("{device:?} is none of burn's wgpu backend")),
    };
    if let Err(error) = known.and_then(|()| asked.shape(dtype, shape).map(|_| ())) {
        panic!("wgmax: {asked:?} of {shape:?}: {error}");
    }
}
