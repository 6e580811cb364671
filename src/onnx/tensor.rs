//! Tensors of a file to tensors in memory, and back.

use super::error;
use super::proto::TensorProto;
use crate::element::to_bytes;
use crate::error::list;
use crate::{DType, Error, Tensor, TensorType};

/// ONNX's number for each type, `TensorProto.DataType`.
const DATA_TYPES: [(i32, DType); 13] = [
    (1, DType::F32),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::I32),
    (7, DType::I64),
    (9, DType::Bool),
    (10, DType::F16),
    (11, DType::F64),
    (12, DType::U32),
    (13, DType::U64),
    (16, DType::Bf16),
];

/// The type that ONNX gives this number.
pub(super) fn dtype(place: &str, data_type: i32) -> Result<DType, Error> {
    let known = DATA_TYPES.iter().find(|(number, _)| *number == data_type);
    known.map(|&(_, dtype)| dtype).ok_or_else(|| {
        let all = DATA_TYPES.map(|(number, dtype)| format!("{number} {dtype}")).join(", ");
        error(place, format!("data type {data_type} is not supported, only {all}"))
    })
}

impl TryFrom<&TensorProto> for Tensor {
    type Error = Error;

    /// The tensor, from whichever field its elements lie in.
    ///
    /// # Errors
    /// [`Error::Onnx`] for a type that is not supported, too many dimensions, a negative or uncountable size, elements that are more or fewer
    /// than the shape has, in two fields at once, in another file, or of values that the type does not have.
    fn try_from(proto: &TensorProto) -> Result<Tensor, Error> {
        let place = format!("tensor {:?}", proto.name);
        let refuse = |problem: String| error(place.as_str(), problem);
        let dtype = dtype(&place, proto.data_type)?;
        if proto.data_location != 0 || !proto.external_data.is_empty() {
            return Err(refuse("its elements lie in another file, which is not supported".into()));
        }
        if proto.segment.is_some() {
            return Err(refuse("a segment of a larger tensor is not supported".into()));
        }
        let shape: Option<Vec<u64>> = proto.dims.iter().map(|&size| size.try_into().ok()).collect();
        let shape = shape.ok_or_else(|| refuse(format!("dimensions {}, none may be negative", list(&proto.dims))))?;
        let tensor_type = TensorType { dtype, shape };
        let expected =
            tensor_type.bytes().ok_or_else(|| refuse(format!("dimensions {} overflow", list(&proto.dims))))?;
        let counts = [
            ("raw_data", proto.raw_data.len()),
            ("float_data", proto.float_data.len()),
            ("int32_data", proto.int32_data.len()),
            ("int64_data", proto.int64_data.len()),
            ("double_data", proto.double_data.len()),
            ("uint64_data", proto.uint64_data.len()),
        ];
        let used: Vec<_> = counts.into_iter().filter(|&(_, len)| len > 0).collect();
        let (field, given) = match used[..] {
            [] => ("raw_data", 0),
            [used] => used,
            _ => return Err(refuse(format!("its elements lie in several fields: {used:?}"))),
        };
        let (unit, expected) =
            if field == "raw_data" { ("bytes", expected) } else { ("elements", expected / dtype.bytes()) };
        if given as u64 != expected {
            let dims = list(&proto.dims);
            return Err(refuse(format!("{given} {unit} in {field}, {expected} expected for {dtype} and shape {dims}")));
        }
        let bytes = bytes(proto, field, dtype).map_err(refuse)?;
        Tensor::from_bytes(dtype, tensor_type.shape, bytes).map_err(|error| refuse(error.to_string()))
    }
}

/// The elements' bytes, from the one field they lie in.
fn bytes(proto: &TensorProto, field: &str, dtype: DType) -> Result<Vec<u8>, String> {
    match (field, dtype) {
        ("raw_data", _) => Ok(proto.raw_data.clone()),
        ("float_data", DType::F32) => Ok(to_bytes(&proto.float_data)),
        ("double_data", DType::F64) => Ok(to_bytes(&proto.double_data)),
        ("int64_data", DType::I64) => Ok(to_bytes(&proto.int64_data)),
        ("uint64_data", DType::U64) => Ok(to_bytes(&proto.uint64_data)),
        ("uint64_data", DType::U32) => narrowed(&proto.uint64_data, dtype, 0, u32::MAX.into()),
        ("int32_data", DType::I32) => Ok(to_bytes(&proto.int32_data)),
        ("int32_data", DType::I8) => narrowed(&proto.int32_data, dtype, i8::MIN.into(), i8::MAX.into()),
        ("int32_data", DType::I16) => narrowed(&proto.int32_data, dtype, i16::MIN.into(), i16::MAX.into()),
        ("int32_data", DType::U8) => narrowed(&proto.int32_data, dtype, 0, u8::MAX.into()),
        ("int32_data", DType::U16 | DType::F16 | DType::Bf16) => narrowed(&proto.int32_data, dtype, 0, u16::MAX.into()),
        ("int32_data", DType::Bool) => narrowed(&proto.int32_data, dtype, 0, 1),
        _ => Err(format!("elements of type {dtype} cannot lie in {field}")),
    }
}

/// The low bytes of each value, which must be one that the narrower type has.
fn narrowed<T: Copy + Into<i128>>(values: &[T], dtype: DType, least: i128, most: i128) -> Result<Vec<u8>, String> {
    let width = dtype.bytes() as usize;
    let mut bytes = Vec::with_capacity(values.len() * width);
    for value in values.iter().map(|&value| value.into()) {
        if !(least..=most).contains(&value) {
            return Err(format!("element {value} is out of range for {dtype}, {least} to {most} expected"));
        }
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
    }
    Ok(bytes)
}

impl From<&Tensor> for TensorProto {
    /// The tensor as `raw_data`, without a name. ONNX's sizes have 63 bits: a larger one, which only a tensor without
    /// elements can have, is written as the largest.
    fn from(tensor: &Tensor) -> TensorProto {
        let number = DATA_TYPES.into_iter().find(|&(_, dtype)| dtype == tensor.dtype());
        let size = |&size: &u64| size.try_into().unwrap_or(i64::MAX);
        TensorProto {
            dims: tensor.shape().iter().map(size).collect(),
            data_type: number.map_or(0, |(number, _)| number),
            raw_data: tensor.bytes().to_vec(),
            ..Default::default()
        }
    }
}
