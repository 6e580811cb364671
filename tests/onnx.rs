//! ONNX files: every form of a tensor, and graphs in one submission.

mod common;
#[path = "common/onnx.rs"]
mod models;

use models::{fifty_nodes, initializer, int, ints, model, node, small_model, typed_value};
use wgmax::half::{bf16, f16};
use wgmax::onnx::proto::{TensorProto, decode, encode};
use wgmax::onnx::{Graph, Model};
use wgmax::{DType, Element, Error, Gpu, GpuOptions, Tensor};

/// The graph's answer on every device, which must be the reference's.
fn answer(graph: &Graph) -> Vec<Tensor> {
    let expected = graph.reference().unwrap();
    for gpu in common::gpus() {
        let got = graph.run_blocking(gpu).unwrap();
        assert_eq!(common::first_difference(&expected, &got), None, "{gpu}");
    }
    expected
}

fn error_of<T>(outcome: Result<T, Error>) -> String {
    outcome.err().map(|error| error.to_string()).expect("an error")
}

#[test]
fn every_type_in_every_field_that_may_hold_it() {
    fn check<T: Element + std::fmt::Debug>(number: i32, elements: &[T], typed: TensorProto) {
        let expected = Tensor::new([1, elements.len() as u64], elements).unwrap();
        let dims = vec![1, elements.len() as i64];
        let typed = TensorProto { dims: dims.clone(), data_type: number, ..typed };
        let raw = TensorProto { dims, data_type: number, raw_data: expected.bytes().to_vec(), ..Default::default() };
        for proto in [typed, raw.clone()] {
            let read = decode::<TensorProto>(&encode(&proto)).unwrap();
            assert_eq!(Tensor::try_from(&read).unwrap(), expected, "{proto:?}");
        }
        assert_eq!(TensorProto::from(&expected), raw);
    }
    let int32 = |int32_data: &[i32]| TensorProto { int32_data: int32_data.into(), ..Default::default() };
    let uint64 = |uint64_data: &[u64]| TensorProto { uint64_data: uint64_data.into(), ..Default::default() };
    let nan = f32::from_bits(0xffc0_0001);
    check(1, &[nan, -0.0, 1e-45], TensorProto { float_data: vec![nan, -0.0, 1e-45], ..Default::default() });
    check(2, &[0_u8, 255], int32(&[0, 255]));
    check(3, &[-128_i8, 127], int32(&[-128, 127]));
    check(4, &[0_u16, 65535], int32(&[0, 65535]));
    check(5, &[i16::MIN, i16::MAX], int32(&[-32768, 32767]));
    check(6, &[i32::MIN, i32::MAX], int32(&[i32::MIN, i32::MAX]));
    check(7, &[i64::MIN, i64::MAX], TensorProto { int64_data: vec![i64::MIN, i64::MAX], ..Default::default() });
    check(9, &[false, true], int32(&[0, 1]));
    check(10, &[f16::from_bits(0x8000), f16::from_bits(0x7e01)], int32(&[0x8000, 0x7e01]));
    check(11, &[-0.0, f64::MAX], TensorProto { double_data: vec![-0.0, f64::MAX], ..Default::default() });
    check(12, &[0_u32, u32::MAX], uint64(&[0, u32::MAX.into()]));
    check(13, &[0_u64, u64::MAX], uint64(&[0, u64::MAX]));
    check(16, &[bf16::from_bits(0xff80), bf16::from_bits(0x7fc1)], int32(&[0xff80, 0x7fc1]));
}

#[test]
fn fifty_nodes_run_in_one_submission() {
    let (proto, inputs) = fifty_nodes();
    assert_eq!(proto.graph.as_ref().unwrap().node.len(), 50);
    let graph = Model::new(proto).unwrap().graph(inputs.clone()).unwrap();
    let answer = answer(&graph);
    assert_eq!(graph.operations().count(), 50);
    assert_eq!(graph.outputs().map(|o| o.shape.len()).collect::<Vec<_>>(), [3, 0, 2, 3, 3, 3]);
    assert_eq!((answer[2].dtype(), &answer[5]), (DType::I64, &inputs[0]));
    let gpu = Gpu::new_blocking(&GpuOptions::default()).unwrap(); // other tests may have those of `gpus`
    let submissions = || {
        let index = format!("{:?}", gpu.queue().submit([]));
        index.chars().filter(char::is_ascii_digit).collect::<String>().parse::<u64>().unwrap()
    };
    let cost = |graph: &Graph| {
        let before = submissions();
        graph.run_blocking(&gpu).unwrap();
        submissions() - before - graph.outputs().count() as u64 // wgpu counts the mapping of a buffer, too
    };
    // The same as for a single node.
    let one = Model::new(small_model()).unwrap().graph(inputs).unwrap();
    assert_eq!(cost(&graph), cost(&one));
}

#[test]
fn axes_are_known_before_the_graph_runs() {
    let reduce = |axes: &str| {
        vec![node("ArgMax", &["x"], "i", &[int("keepdims", 0)]), node("ReduceMax", &["x", axes], "y", &[])]
    };
    let x = Tensor::new([2, 2], &[1_i32, 2, 4, 3]).unwrap();
    let axes = Tensor::new([1], &[-1_i64]).unwrap();
    let given = Model::new(model(18, &["x", "a"], &["y"], reduce("a"), vec![])).unwrap();
    let graph = given.graph(vec![x.clone(), axes.clone()]).unwrap();
    assert_eq!(answer(&graph)[0].to_vec::<i32>().unwrap(), [2, 4]);
    // An input with an initializer has a default, and is not asked for.
    let default = model(18, &["x", "a"], &["y"], reduce("a"), vec![initializer("a", &axes)]);
    let default = Model::new(default).unwrap();
    assert_eq!(default.inputs().collect::<Vec<_>>(), ["x"]);
    assert_eq!(default.graph(vec![x.clone()]).unwrap().reference().unwrap()[0].to_vec::<i32>().unwrap(), [2, 4]);
    let computed = Model::new(model(18, &["x"], &["y"], reduce("i"), vec![])).unwrap();
    let error = error_of(computed.graph(vec![x]));
    assert!(error.starts_with("node 1 (ReduceMax): input axes: its elements come out of a node"), "{error}");
}

#[test]
fn empty_tensors_and_scalars_pass_through() {
    let nodes = vec![
        node("ReduceMax", &["x"], "least", &[ints("axes", &[1])]),
        node("Hardmax", &["x"], "none", &[]),
        node("Max", &["least", "scalar"], "y", &[]),
    ];
    let model = Model::new(model(13, &["x", "scalar"], &["least", "none", "y"], nodes, vec![])).unwrap();
    let x = Tensor::new([3, 0], &[] as &[f16]).unwrap();
    let answer = answer(&model.graph(vec![x, Tensor::new([], &[f16::ONE]).unwrap()]).unwrap());
    assert_eq!(answer[0].to_vec::<f16>().unwrap(), [f16::NEG_INFINITY; 3]);
    assert_eq!((answer[1].shape(), answer[2].to_vec::<f16>().unwrap()), (&[3, 0][..], vec![f16::ONE; 3]));
}

#[test]
fn inputs_are_held_against_their_declaration() {
    let mut proto = small_model();
    proto.graph.as_mut().unwrap().input = vec![typed_value("x", 1, &[Some(2), None])];
    let model = Model::new(proto).unwrap();
    let run = |shape: &[u64], len| model.graph(vec![Tensor::new(shape, &vec![0_f32; len]).unwrap()]);
    assert!(run(&[2, 5], 10).is_ok());
    assert_eq!(
        error_of(run(&[3, 5], 15)),
        "input \"x\": its type is f32 and its shape [3, 5], declared are f32 and [2, ?]"
    );
    assert!(run(&[2], 2).is_err());
    assert!(model.graph(vec![Tensor::new([2, 1], &[0_i32; 2]).unwrap()]).is_err());
    assert_eq!(error_of(model.graph(vec![])), "0 inputs given, 1 expected");
}

/// A model that decodes may still ask for any number of bytes.
#[test]
fn what_nodes_write_is_bounded() {
    let outer = vec![node("Max", &["a", "b"], "y", &[])];
    let wide = Model::new(model(13, &["a", "b"], &["y"], outer, vec![])).unwrap();
    let column = Tensor::new([1 << 18, 1], &vec![0_f32; 1 << 18]).unwrap();
    let row = Tensor::new([1 << 18], &vec![0_f32; 1 << 18]).unwrap();
    let error = error_of(wide.graph(vec![column, row]));
    assert!(error.contains("bytes of all values that nodes write: 274877906944 given, at most 4294967296"), "{error}");
    let nothing = Tensor::from_bytes(DType::F32, [0, 1 << 60], vec![]).unwrap();
    assert!(error_of(Model::new(small_model()).unwrap().graph(vec![nothing])).contains("at most"));
    let small = Model::new(small_model()).unwrap().max_bytes(3);
    assert!(small.graph(vec![Tensor::new([5], &[0_f32; 5]).unwrap()]).is_err());
}
