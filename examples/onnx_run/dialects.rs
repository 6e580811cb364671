//! Nodes of other specifications, written as ONNX writes nodes: a model of one `ReduceMax` in the domain `openvino` or
//! `onednn`. The input is input 0, axes are input 1 or the attribute `axes`, and the attribute `keep_dims` is a flag.

use wgmax::dialect::{onednn, openvino};
use wgmax::onnx::Model;
use wgmax::onnx::proto::{self, AttributeProto, ModelProto, NodeProto};
use wgmax::{ReduceMax, Tensor, View};

use crate::{Backend, Outcome};

/// What a model's file holds.
pub enum Program {
    Onnx(Box<Model>),
    /// The only node, of another specification than ONNX.
    Foreign(NodeProto),
}

impl Program {
    pub fn decode(bytes: &[u8]) -> Outcome<Program> {
        let mut model: ModelProto = proto::decode(bytes)?;
        let nodes = model.graph.as_mut().map(|graph| &mut graph.node);
        Ok(match nodes {
            Some(nodes) if nodes.len() == 1 && is_foreign(&nodes[0]) => Program::Foreign(nodes.remove(0)),
            _ => Program::Onnx(Box::new(Model::new(model)?)),
        })
    }

    pub fn run(&self, inputs: Vec<Tensor>, backend: &Backend) -> Outcome<Vec<Tensor>> {
        match self {
            Program::Onnx(model) => Ok(backend.run(&model.graph(inputs)?)?),
            Program::Foreign(node) => Ok(backend.run_operation(&resolve(node, &inputs)?, &inputs[0])?),
        }
    }
}

fn is_foreign(node: &NodeProto) -> bool {
    node.op_type == "ReduceMax" && matches!(node.domain.as_str(), "openvino" | "onednn")
}

fn resolve(node: &NodeProto, inputs: &[Tensor]) -> Outcome<ReduceMax> {
    let (data, axes_input) = match inputs {
        [data] => (data, None),
        [data, axes] => (data, Some(axes.clone())),
        _ => return Err(format!("{} inputs, 1 or 2 expected: the data and the axes", inputs.len()).into()),
    };
    let (dtype, view) = (data.dtype(), View::new(data.shape())?);
    let keep_dims = attribute(node, "keep_dims").is_some_and(|attribute| attribute.i == 1);
    let axes = attribute(node, "axes").map(|attribute| attribute.ints.clone());
    Ok(match node.domain.as_str() {
        "openvino" => openvino::ReduceMax1 { axes: axes_input, keep_dims }.resolve(dtype, view)?,
        _ => onednn::ReduceMax { axes, axes_input, keep_dims }.resolve(dtype, view)?,
    })
}

fn attribute<'a>(node: &'a NodeProto, name: &str) -> Option<&'a AttributeProto> {
    node.attribute.iter().find(|attribute| attribute.name == name)
}
