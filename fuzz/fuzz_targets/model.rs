//! ONNX models made of few names: values taken, declared and listed again and again, nodes and tensors of many dimensions.
//! No panic, and no more work than the file is worth; what is sound answers on the CPU.
#![no_main]

#[path = "../../tests/common/budget.rs"]
mod budget;
#[path = "../common/input.rs"]
mod input;

use budget::thrifty_answer;
use input::Input;
use libfuzzer_sys::fuzz_target;
use wgmax::Tensor;
use wgmax::onnx::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto, encode,
};

/// Most names are those of values that a sound graph has.
fn name(input: &mut Input<'_>, values: usize) -> String {
    match input.below(32) {
        0 => String::new(),
        1 => "z".into(),
        _ => format!("v{}", usize::from(input.byte()) % values.max(1)),
    }
}

/// A name for a value of its own, in most models for every one.
fn own_name(input: &mut Input<'_>, values: &mut usize) -> String {
    *values += 1;
    if input.below(64) == 63 { name(input, *values) } else { format!("v{}", *values - 1) }
}

/// f32 in most places, that values may meet.
fn data_type(input: &mut Input<'_>) -> i32 {
    if input.below(4) == 3 { input.below(18).into() } else { 1 }
}

fn sizes(input: &mut Input<'_>) -> Vec<i64> {
    let rank = input.count(300);
    (0..rank).map(|_| if rank < 6 && input.below(4) == 3 { i64::from(input.below(5)) } else { 1 }).collect()
}

fn tensor(input: &mut Input<'_>, name: String) -> TensorProto {
    let (data_type, dims) = (data_type(input), sizes(input));
    let len = dims.iter().product::<i64>() as usize; // of at most five sizes below 5
    let len = if input.below(16) == 15 { input.count(300) } else { len };
    let bytes = match data_type {
        2 | 3 | 9 => len,
        4 | 5 | 10 | 16 => 2 * len,
        7 | 11 | 13 => 8 * len,
        _ => 4 * len,
    };
    let byte = if data_type == 7 { input.byte() % 3 } else { input.byte() };
    let mut raw_data = vec![if data_type == 9 { byte % 2 } else { 0 }; bytes];
    if data_type != 9 || byte > 250 {
        raw_data.iter_mut().step_by(8).for_each(|own| *own = byte);
    }
    TensorProto { name, data_type, dims, raw_data, ..Default::default() }
}

fn declared(input: &mut Input<'_>, name: String) -> ValueInfoProto {
    let dim = |size| DimensionProto { dim_value: (size != 4).then_some(size) };
    let shape = (input.below(4) == 3).then(|| TensorShapeProto { dim: sizes(input).into_iter().map(dim).collect() });
    let elem_type = if input.flag() { 0 } else { data_type(input) };
    let tensor_type = Some(TensorTypeProto { elem_type, shape });
    ValueInfoProto { name, r#type: input.flag().then_some(TypeProto { tensor_type }) }
}

fn attribute(input: &mut Input<'_>) -> AttributeProto {
    let name =
        input.pick(&["axes", "axis", "keepdims", "noop_with_empty_axes", "select_last_index", "consumed_inputs"]);
    let ints = if name == "axes" { (0..input.count(300)).map(|_| input.signed()).collect() } else { vec![] };
    let r#type = if matches!(name, "axes" | "consumed_inputs") { 7 } else { 2 };
    AttributeProto { name: name.into(), i: i64::from(input.below(4)) - 1, ints, r#type, ..Default::default() }
}

fn node(input: &mut Input<'_>, values: &mut usize) -> NodeProto {
    let op_type = input.pick(&["Max", "ReduceMax", "Hardmax", "ArgMax", "Max"]);
    let taken = if op_type == "Max" { 1 + input.count(3000) } else { 1 + usize::from(input.below(16) == 15) };
    let only = (taken > 40).then(|| name(input, *values)); // or so many names would need as many bytes
    let names = (0..taken).map(|_| only.clone().unwrap_or_else(|| name(input, *values))).collect();
    let attributes = usize::from(input.below(8)).saturating_sub(5);
    NodeProto {
        op_type: op_type.into(),
        input: names,
        attribute: (0..attributes).map(|_| attribute(input)).collect(),
        output: vec![own_name(input, values)],
        ..Default::default()
    }
}

fn model(input: &mut Input<'_>) -> ModelProto {
    let mut values = 0;
    let version = input.pick(&[13, 18, 20, 12, 11, 8, 1]);
    let initializer = (0..input.count(500)).map(|_| own_name(input, &mut values)).collect::<Vec<_>>();
    let initializer = initializer.into_iter().map(|name| tensor(input, name)).collect();
    let inputs = (0..input.count(40)).map(|_| own_name(input, &mut values)).collect::<Vec<_>>();
    let inputs = inputs.into_iter().map(|name| declared(input, name)).collect();
    let node = (0..input.count(500)).map(|_| node(input, &mut values)).collect();
    let listed = match input.below(4) {
        0 => (0..input.count(2000)).map(|_| name(input, values)).collect(),
        _ => vec![format!("v{}", values.saturating_sub(1))],
    };
    let output = listed.into_iter().map(|name| declared(input, name)).collect();
    let value_info = (0..input.count(500)).map(|_| name(input, values)).collect::<Vec<_>>();
    let value_info = value_info.into_iter().map(|name| declared(input, name)).collect();
    let graph = GraphProto { node, initializer, input: inputs, output, value_info, ..Default::default() };
    let opset_import = vec![OperatorSetIdProto { domain: String::new(), version }];
    ModelProto { ir_version: 8, graph: Some(graph), opset_import }
}

fuzz_target!(|bytes: &[u8]| {
    let file = encode(&model(&mut Input(bytes)));
    let x = Tensor::new([2, 3], &[1.0_f32, f32::NAN, 3.0, -0.0, 5.0, 6.0]).expect("six elements");
    let _ = thrifty_answer(&file, 1 << 14, &mut |model| vec![x.clone(); model.inputs().count()]);
});
