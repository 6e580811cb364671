//! The messages of `onnx.proto`, as far as this crate reads them. Other fields are skipped.
//!
//! They are written by hand for `prost`, so that building needs no protobuf compiler. What may nest without end in ONNX
//! (graphs in attributes, types of sequences) is left out, so no file can make reading it recurse.

use prost::Message;

use crate::Error;

/// Reads a message.
///
/// # Errors
/// [`Error::Onnx`] for bytes that are not such a message.
pub fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M, Error> {
    M::decode(bytes).map_err(|error| super::error("protobuf", error.to_string()))
}

/// The bytes of a message.
pub fn encode(message: &impl Message) -> Vec<u8> {
    message.encode_to_vec()
}

/// A model: a graph, and the operator sets it is written in.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// The version of the format itself.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// The graph.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// The operator sets, one for each domain.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
}

/// The version of a domain's operators.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// The domain; empty for ONNX's own.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// The version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// Nodes in topological order, with the values they start from and end in.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// The nodes.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// The graph's name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constants, and defaults of inputs of the same name.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// The inputs; before version 4 of the format, the initializers too.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// The outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Types of values between inputs and outputs, where the file says them.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Constants in a sparse form, which no operator here takes.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<SparseTensorProto>,
}

/// An operator applied to named values.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// The inputs' names; empty for an optional one that is absent.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// The outputs' names.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// The node's own name, for messages.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// The attributes.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// The operator's domain; empty for ONNX's own.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A named value of a node.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// The name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// A number, which no attribute here is.
    #[prost(float, tag = "2")]
    pub f: f32,
    /// The value of an [`INT`](AttributeProto::INT).
    #[prost(int64, tag = "3")]
    pub i: i64,
    /// Text, which no attribute here is.
    #[prost(bytes = "vec", tag = "4")]
    pub s: Vec<u8>,
    /// A tensor, which no attribute here is.
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    /// Numbers, which no attribute here is.
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    /// The values of [`INTS`](AttributeProto::INTS).
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// Texts, which no attribute here is.
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// What the value is.
    #[prost(int32, tag = "20")]
    pub r#type: i32,
    /// In a function's body, the function's attribute that gives the value.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
}

impl AttributeProto {
    /// [`type`](AttributeProto::type) of one integer.
    pub const INT: i32 = 2;
    /// [`type`](AttributeProto::type) of a list of integers.
    pub const INTS: i32 = 7;
}

/// A tensor's shape, type and elements. Converts from and to [`Tensor`](crate::Tensor).
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// The size of each dimension.
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    /// The element type, by ONNX's numbers.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// The part of a larger tensor that this is, if it is one.
    #[prost(message, optional, tag = "3")]
    pub segment: Option<SegmentProto>,
    /// Elements: f32.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements: i8, i16, i32, u8, u16, bool, and the bits of f16 and bf16.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Elements: i64.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// The tensor's name.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Elements of any type: little-endian bytes.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
    /// Elements: f64.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Elements: u32 and u64.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// Where the elements lie in another file.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// 1 if the elements lie in another file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// A part of a larger tensor.
#[derive(Clone, PartialEq, Message)]
pub struct SegmentProto {
    /// The first element.
    #[prost(int64, tag = "1")]
    pub begin: i64,
    /// Past the last element.
    #[prost(int64, tag = "2")]
    pub end: i64,
}

/// A key and its value.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    /// The key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A sparse tensor, read only far enough to be refused.
#[derive(Clone, PartialEq, Message)]
pub struct SparseTensorProto {}

/// A value's name and, where known, its type.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// The name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// A value's type; only tensors are read.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// A tensor.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

/// The type of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// The element type, by ONNX's numbers.
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// The shape, if the rank is known.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// A shape.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// The dimensions.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// A dimension.
#[derive(Clone, PartialEq, Message)]
pub struct DimensionProto {
    /// The size, if it is known.
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
}
