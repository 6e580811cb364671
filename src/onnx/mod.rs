//! ONNX files: models and tensors read, graphs of this crate's operators run (feature `onnx`).
//!
//! ```
//! # use wgmax::{Tensor, onnx::{Model, proto}};
//! # use wgmax::onnx::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
//! # let value = |name: &str| ValueInfoProto { name: name.into(), ..Default::default() };
//! # let node = |op: &str, i: &str, o: &str| NodeProto {
//! #     op_type: op.into(), input: vec![i.into()], output: vec![o.into()], ..Default::default()
//! # };
//! # let bytes = proto::encode(&ModelProto {
//! #     opset_import: vec![OperatorSetIdProto { domain: "".into(), version: 15 }],
//! #     graph: Some(GraphProto {
//! #         node: vec![node("ReduceMax", "x", "y"), node("Hardmax", "y", "z")],
//! #         input: vec![value("x")], output: vec![value("y"), value("z")],
//! #         ..Default::default()
//! #     }),
//! #     ..Default::default()
//! # });
//! let model = Model::decode(&bytes)?; // such as std::fs::read("model.onnx")
//! let x = Tensor::new([2, 3], &[1.0_f32, 7.0, 3.0, 4.0, 5.0, 6.0])?;
//! let graph = model.graph(vec![x])?;
//! let answer = graph.reference()?; // or graph.run_blocking(&gpu)?: one submission
//! assert_eq!(answer[0].to_vec::<f32>()?, [7.0]);
//! # Ok::<(), wgmax::Error>(())
//! ```
//!
//! A file is not trusted: whatever is torn, contradicts itself or is not supported gives an [`Error`]. What is declared of a
//! value, its type and the sizes that are known, is held against what the value is.
//!
//! Memory stays in proportion to the file's bytes, the inputs' and those that nodes write, which have a limit,
//! [`Model::max_bytes`]. Reading takes twice the bytes of a file of weights, and some 300 times those of one of nothing but
//! empty messages. A graph shares the weights, and takes at worst some 600 bytes for each byte of a file that names
//! tensors of [64](crate::View::MAX_RANK) dimensions and little else.

mod graph;
mod model;
mod node;
pub mod proto;
#[cfg(feature = "gpu")]
mod run;
mod tensor;

pub use graph::Graph;
pub use model::Model;
pub use node::{Operand, operation};

use crate::Error;

/// An error of a file: where, and what is wrong there.
fn error(place: impl Into<String>, problem: impl Into<String>) -> Error {
    Error::Onnx { place: place.into(), problem: problem.into() }
}
