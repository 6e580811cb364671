//! The operators as an extension of burn's backends.

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, backend_extension};
use burn::tensor::{DType, IntDType, Shape};
use burn_cubecl::{CubeBackend, tensor::CubeTensor};
use wgmax::{AnyOperation, ArgMax, ArgMaxOutput, Hardmax, IndexType, Operation, ReduceMax, Slices, View};

use crate::host::{run, shape, sizes};

/// What is asked of a tensor. Reduced dimensions stay, with one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maximum {
    /// The greatest elements.
    Max {
        /// The dimensions to reduce; negative ones count from the last.
        dims: Vec<i64>,
    },
    /// The positions of the greatest elements.
    ArgMax {
        /// The dimension to reduce.
        dim: i64,
        /// The type of the positions.
        indices: IntDType,
        /// Whether the elements are wanted, too.
        values: bool,
    },
    /// 1 for the first of the greatest elements, and 0 for the others.
    Hardmax {
        /// The dimension that they are the greatest of.
        dim: i64,
    },
}

impl Maximum {
    /// As an operation of wgmax's.
    ///
    /// # Errors
    /// For what there is no maximum of, says why.
    pub fn operation(&self, dtype: DType, view: View) -> Result<AnyOperation, String> {
        let dtype = element_type(dtype)?;
        Ok(match self {
            Maximum::Max { dims } => ReduceMax::new(dtype, view).axes(dims.clone()).keep_dims(true).into(),
            &Maximum::ArgMax { dim, indices, values } => {
                let output = if values { ArgMaxOutput::ValuesAndIndices } else { ArgMaxOutput::Indices };
                let op = ArgMax::new(dtype, view).axes([dim]).keep_dims(true);
                op.index(index_type(indices)?).output(output).into()
            }
            &Maximum::Hardmax { dim } => Hardmax::new(dtype, view, Slices::Along(dim)).into(),
        })
    }

    /// The element types of the results, in wgmax's order.
    pub(crate) fn dtypes(&self, input: DType) -> Vec<DType> {
        match *self {
            Maximum::ArgMax { indices, values: true, .. } => vec![input, indices.into()],
            Maximum::ArgMax { indices, values: false, .. } => vec![indices.into()],
            Maximum::Max { .. } | Maximum::Hardmax { .. } => vec![input],
        }
    }

    /// The shape of the results. Whatever can be wrong with what is asked is found here, before anything is queued.
    ///
    /// # Errors
    /// Says what is wrong, in wgmax's words.
    pub fn shape(&self, dtype: DType, input: &Shape) -> Result<Shape, String> {
        let outputs = View::new(sizes(input)).map_err(|error| error.to_string()).and_then(|view| {
            let operation = self.operation(dtype, view)?;
            operation.outputs().map_err(|error| error.to_string())
        })?;
        Ok(shape(&outputs[0].shape))
    }
}

fn element_type(dtype: DType) -> Result<wgmax::DType, String> {
    Ok(match dtype {
        DType::F64 => wgmax::DType::F64,
        DType::F32 | DType::Flex32 => wgmax::DType::F32, // burn stores both alike
        DType::F16 => wgmax::DType::F16,
        DType::BF16 => wgmax::DType::Bf16,
        DType::I64 => wgmax::DType::I64,
        DType::I32 => wgmax::DType::I32,
        DType::I16 => wgmax::DType::I16,
        DType::I8 => wgmax::DType::I8,
        DType::U64 => wgmax::DType::U64,
        DType::U32 => wgmax::DType::U32,
        DType::U16 => wgmax::DType::U16,
        DType::U8 => wgmax::DType::U8,
        DType::Bool(_) | DType::QFloat(_) => {
            return Err(format!("elements of type {dtype:?} given, floats or integers expected (dequantize first)"));
        }
    })
}

fn index_type(dtype: IntDType) -> Result<IndexType, String> {
    match dtype {
        IntDType::I64 | IntDType::U64 => Ok(IndexType::I64), // no position is negative
        IntDType::I32 => Ok(IndexType::I32),
        IntDType::U32 => Ok(IndexType::U32),
        _ => Err(format!("the device's integers are {dtype:?}, and positions need 32 or 64 bits")),
    }
}

/// The backends that have the operators: burn's on wgpu, with fusion (feature `fusion`) and without.
#[backend_extension(Cube, Fusion: cfg(feature = "fusion"))]
pub trait MaximumOps: Backend {
    /// [`Maximum::Max`] or [`Maximum::Hardmax`].
    #[fusion(meta = |tensor, asked| reduced(tensor, asked, tensor.dtype))]
    fn wgmax_float(tensor: FloatTensor<Self>, asked: Maximum) -> FloatTensor<Self>;

    /// [`Maximum::Max`] or [`Maximum::Hardmax`].
    #[fusion(meta = |tensor, asked| reduced(tensor, asked, tensor.dtype))]
    fn wgmax_int(tensor: IntTensor<Self>, asked: Maximum) -> IntTensor<Self>;

    /// [`Maximum::ArgMax`] without values.
    #[fusion(meta = |tensor, asked| reduced(tensor, asked, asked.dtypes(tensor.dtype)[0]))]
    fn wgmax_float_indices(tensor: FloatTensor<Self>, asked: Maximum) -> IntTensor<Self>;

    /// [`Maximum::ArgMax`] without values.
    #[fusion(meta = |tensor, asked| reduced(tensor, asked, asked.dtypes(tensor.dtype)[0]))]
    fn wgmax_int_indices(tensor: IntTensor<Self>, asked: Maximum) -> IntTensor<Self>;

    /// [`Maximum::ArgMax`] with values.
    #[fusion(meta = |tensor, asked| both(tensor, asked))]
    fn wgmax_float_both(tensor: FloatTensor<Self>, asked: Maximum) -> (FloatTensor<Self>, IntTensor<Self>);

    /// [`Maximum::ArgMax`] with values.
    #[fusion(meta = |tensor, asked| both(tensor, asked))]
    fn wgmax_int_both(tensor: IntTensor<Self>, asked: Maximum) -> (IntTensor<Self>, IntTensor<Self>);
}

/// What fusion has to know of a result before there is one.
#[cfg(feature = "fusion")]
mod specs {
    use super::{DType, Maximum};
    use burn::backend::fusion::custom::TensorSpec;

    pub(super) fn reduced(tensor: &TensorSpec, asked: &Maximum, dtype: DType) -> TensorSpec {
        let shape = asked.shape(tensor.dtype, &tensor.shape).unwrap_or_else(|error| panic!("wgmax: {error}"));
        TensorSpec::new(shape, dtype)
    }

    pub(super) fn both(tensor: &TensorSpec, asked: &Maximum) -> (TensorSpec, TensorSpec) {
        let [values, indices] = [0, 1].map(|n| reduced(tensor, asked, asked.dtypes(tensor.dtype)[n]));
        (values, indices)
    }
}
#[cfg(feature = "fusion")]
use specs::{both, reduced};

impl MaximumOps for CubeBackend {
    fn wgmax_float(tensor: CubeTensor, asked: Maximum) -> CubeTensor {
        one(tensor, asked)
    }

    fn wgmax_int(tensor: CubeTensor, asked: Maximum) -> CubeTensor {
        one(tensor, asked)
    }

    fn wgmax_float_indices(tensor: CubeTensor, asked: Maximum) -> CubeTensor {
        one(tensor, asked)
    }

    fn wgmax_int_indices(tensor: CubeTensor, asked: Maximum) -> CubeTensor {
        one(tensor, asked)
    }

    fn wgmax_float_both(tensor: CubeTensor, asked: Maximum) -> (CubeTensor, CubeTensor) {
        two(tensor, asked)
    }

    fn wgmax_int_both(tensor: CubeTensor, asked: Maximum) -> (CubeTensor, CubeTensor) {
        two(tensor, asked)
    }
}

fn one(tensor: CubeTensor, asked: Maximum) -> CubeTensor {
    results(tensor, &asked).next().expect("every operation has a result")
}

fn two(tensor: CubeTensor, asked: Maximum) -> (CubeTensor, CubeTensor) {
    let mut results = results(tensor, &asked);
    results.next().zip(results.next()).expect("values and indices were asked for")
}

fn results(tensor: CubeTensor, asked: &Maximum) -> impl Iterator<Item = CubeTensor> {
    run(tensor, asked).unwrap_or_else(|error| panic!("wgmax: {asked:?}: {error}")).into_iter()
}
