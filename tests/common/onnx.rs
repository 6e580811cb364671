//! Models for the tests of ONNX files.
#![allow(dead_code)] // each test file uses its own part

use wgmax::Tensor;
use wgmax::onnx::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
};

use crate::common::Random;

pub fn value(name: &str) -> ValueInfoProto {
    ValueInfoProto { name: name.into(), r#type: None }
}

pub fn typed_value(name: &str, elem_type: i32, dims: &[Option<i64>]) -> ValueInfoProto {
    let dim = dims.iter().map(|&dim_value| DimensionProto { dim_value }).collect();
    let tensor_type = Some(TensorTypeProto { elem_type, shape: Some(TensorShapeProto { dim }) });
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { tensor_type }) }
}

pub fn node(op_type: &str, inputs: &[&str], output: &str, attribute: &[AttributeProto]) -> NodeProto {
    NodeProto {
        op_type: op_type.into(),
        input: inputs.iter().map(ToString::to_string).collect(),
        output: vec![output.into()],
        attribute: attribute.to_vec(),
        ..Default::default()
    }
}

pub fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { name: name.into(), i, r#type: AttributeProto::INT, ..Default::default() }
}

pub fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { name: name.into(), ints: ints.into(), r#type: AttributeProto::INTS, ..Default::default() }
}

pub fn initializer(name: &str, tensor: &Tensor) -> TensorProto {
    TensorProto { name: name.into(), ..TensorProto::from(tensor) }
}

pub fn model(
    opset: i64,
    inputs: &[&str],
    outputs: &[&str],
    nodes: Vec<NodeProto>,
    overrides: Vec<TensorProto>,
) -> ModelProto {
    ModelProto {
        ir_version: 8,
        graph: Some(GraphProto {
            name: "test".into(),
            node: nodes,
            initializer: overrides,
            input: inputs.iter().map(|name| value(name)).collect(),
            output: outputs.iter().map(|name| value(name)).collect(),
            ..Default::default()
        }),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: opset }],
    }
}

/// One ReduceMax of operator set 13 over axis 0.
pub fn small_model() -> ModelProto {
    model(13, &["x"], &["y"], vec![node("ReduceMax", &["x"], "y", &[ints("axes", &[0])])], vec![])
}

/// Fifty operations after one another: every operator, values used twice, initializers, outputs from the middle.
pub fn fifty_nodes() -> (ModelProto, Vec<Tensor>) {
    let mut random = Random::new(4);
    let mut floats = |len: usize| -> Vec<f32> { (0..len).map(|_| f32::from_bits(random.word() as u32)).collect() };
    let x = Tensor::new([4, 30, 33], &floats(4 * 30 * 33)).unwrap();
    let floor = Tensor::new([30, 1], &floats(30)).unwrap();
    let mut nodes = vec![node("Max", &["x", "floor"], "v0", &[])];
    for n in 1..47 {
        let (before, own) = (format!("v{}", n - 1), format!("v{n}"));
        nodes.push(match n % 3 {
            0 => node("Hardmax", &[&before], &own, &[int("axis", n % 2)]),
            1 => node("ReduceMax", &[&before, "last"], &own, &[]),
            _ => node("Max", &[&before, "x", "v0", "floor"], &own, &[]),
        });
    }
    nodes.push(node("ReduceMax", &["v45"], "all", &[int("keepdims", 0)]));
    nodes.push(node("ArgMax", &["v44"], "best", &[int("axis", -1), int("keepdims", 0)]));
    nodes.push(node("ReduceMax", &["v20", ""], "same", &[int("noop_with_empty_axes", 1)]));
    let last = Tensor::new([1], &[-1_i64]).unwrap();
    let overrides = vec![initializer("floor", &floor), initializer("last", &last)];
    (model(18, &["x"], &["v46", "all", "best", "same", "v7", "x"], nodes, overrides), vec![x])
}
