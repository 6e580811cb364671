//! Nodes of every dialect and version, resolved: no panic; what resolves and has outputs answers on the CPU and is
//! planned, with no more work than it is worth.
#![no_main]

#[path = "../../tests/common/budget.rs"]
mod budget;
#[path = "../common/input.rs"]
mod input;
#[path = "../../tests/common/laws.rs"]
mod laws;

use budget::thrifty_reference;
use input::{Input, MOST_OPERANDS};
use laws::lawful_plan;
use libfuzzer_sys::fuzz_target;
use wgmax::dialect::{onednn, onnx, openvino};
use wgmax::{AnyOperation, Error, Operation, Tensor, TensorType, View};

/// An operation, and the elements that its views see.
fn operation(input: &mut Input<'_>) -> Result<(AnyOperation, u64), Error> {
    let dtype = input.dtype();
    let opset = if input.below(8) == 0 { input.any() } else { input.below(30).into() };
    let node = input.below(6);
    let view = input.view()?;
    let mut len = view.len();
    let flag = |input: &mut Input<'_>| match input.below(3) {
        0 => None,
        own => Some(own == 1),
    };
    let axis = |input: &mut Input<'_>| input.flag().then(|| input.signed());
    let axes = |input: &mut Input<'_>| input.flag().then(|| (0..input.count(1000)).map(|_| input.signed()).collect());
    let axes_input = |input: &mut Input<'_>| input.flag().then(|| input.axes_tensor());
    let op: AnyOperation = match node {
        0 => {
            let (axes, axes_input) = (axes(input), axes_input(input));
            let (keepdims, noop_with_empty_axes) = (flag(input), flag(input));
            onnx::ReduceMax { axes, axes_input, keepdims, noop_with_empty_axes }.resolve(opset, dtype, view)?.into()
        }
        1 => {
            let (axis, keepdims, select_last_index) = (axis(input), flag(input), flag(input));
            onnx::ArgMax { axis, keepdims, select_last_index }.resolve(opset, dtype, view)?.into()
        }
        2 => onnx::Hardmax { axis: axis(input) }.resolve(opset, dtype, view)?.into(),
        3 => {
            let mut views = vec![view];
            for _ in 0..input.count(MOST_OPERANDS) {
                views.push(if input.below(8) == 1 { input.view()? } else { views[0].clone() });
            }
            len = views.iter().map(View::len).fold(0, u64::saturating_add);
            onnx::Max { consumed_inputs: axes(input) }.resolve(opset, dtype, views)?.into()
        }
        4 => {
            let node = openvino::ReduceMax1 { axes: axes_input(input), keep_dims: input.flag() };
            node.resolve(dtype, view)?.into()
        }
        _ => {
            let (axes, axes_input, keep_dims) = (axes(input), axes_input(input), input.flag());
            onednn::ReduceMax { axes, axes_input, keep_dims }.resolve(dtype, view)?.into()
        }
    };
    Ok((op, len))
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    let limits = input.limits();
    let Ok((op, len)) = operation(&mut input) else {
        return;
    };
    lawful_plan(&op, &limits);
    let (Ok(needs), Ok(outputs)) = (op.inputs(), op.outputs()) else {
        return;
    };
    // Small enough to answer: what comes out is of the type and shape that was said.
    let answered = outputs.iter().map(|output: &TensorType| output.bytes().unwrap_or(u64::MAX));
    if answered.chain(needs.iter().map(|need| need.bytes)).fold(len, u64::saturating_add) > 4096 {
        return;
    }
    let tensor = |need: &wgmax::InputNeed| {
        let len = need.bytes / need.dtype.bytes();
        let mut bytes: Vec<u8> = (0..len * need.dtype.bytes()).map(|_| input.byte()).collect();
        if need.dtype == wgmax::DType::Bool {
            bytes.iter_mut().for_each(|byte| *byte &= 1);
        }
        Tensor::from_bytes(need.dtype, [len], bytes).expect("whole elements")
    };
    let inputs: Vec<Tensor> = needs.iter().map(tensor).collect();
    match thrifty_reference(&op, &inputs.iter().collect::<Vec<_>>()) {
        Ok(answer) => assert!(answer.iter().map(Tensor::tensor_type).eq(&outputs)),
        Err(error) => panic!("{error}"),
    }
});
