//! Any bytes as an ONNX model: no panic, no run-away memory; what is sound answers on the CPU.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wgmax::Tensor;
use wgmax::onnx::Model;
use wgmax::onnx::proto::{TensorProto, decode};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(proto) = decode::<TensorProto>(bytes) {
        let _ = Tensor::try_from(&proto);
    }
    let Ok(model) = Model::decode(bytes) else {
        return;
    };
    let model = model.max_bytes(1 << 14);
    let count = model.inputs().count();
    let x = Tensor::new([2, 3], &[1.0_f32, f32::NAN, 3.0, -0.0, 5.0, 6.0]).expect("six elements");
    let Ok(graph) = model.graph(vec![x; count.min(64)]) else {
        return;
    };
    match graph.reference() {
        Ok(outputs) => assert_eq!(outputs.len(), model.outputs().count()),
        Err(error) => panic!("{error}"),
    }
});
