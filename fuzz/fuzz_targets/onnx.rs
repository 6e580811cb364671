//! Any bytes as an ONNX model: no panic, and no more work than the file is worth; what is sound answers on the CPU.
#![no_main]

#[path = "../../tests/common/budget.rs"]
mod budget;

use budget::thrifty_answer;
use libfuzzer_sys::fuzz_target;
use wgmax::Tensor;
use wgmax::onnx::proto::{TensorProto, decode};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(proto) = decode::<TensorProto>(bytes) {
        let _ = Tensor::try_from(&proto);
    }
    let x = Tensor::new([2, 3], &[1.0_f32, f32::NAN, 3.0, -0.0, 5.0, 6.0]).expect("six elements");
    let _ = thrifty_answer(bytes, 1 << 14, &mut |model| vec![x.clone(); model.inputs().count().min(64)]);
});
