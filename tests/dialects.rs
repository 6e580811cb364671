//! What each dialect's versions allow, default to and refuse, as tables from the specifications.

use wgmax::dialect::{onednn, onnx, openvino};
use wgmax::{DType, Error, Operation, Tensor, TensorType, View};

fn view(shape: &[u64]) -> View {
    View::new(shape).unwrap()
}

fn shape(op: &impl Operation) -> Result<Vec<u64>, Error> {
    Ok(op.outputs()?.remove(0).shape)
}

fn ints(axes: &[i64]) -> Tensor {
    Tensor::new([axes.len() as u64], axes).unwrap()
}

/// Axes, where they are given.
type List = Option<&'static [i64]>;

/// A boolean attribute, where it is given.
type Flag = Option<bool>;

/// The shape of the answer, or a part of the error.
type Expected = Result<&'static [u64], &'static str>;

/// Resolves a node without attributes for one type; the error otherwise.
type Resolve = fn(u64, DType) -> Result<(), Error>;

const OPERATORS: [(&str, &[onnx::Version], Resolve); 4] = [
    ("ReduceMax", onnx::ReduceMax::VERSIONS, |opset, dtype| {
        onnx::ReduceMax::default().resolve(opset, dtype, view(&[2, 3])).map(drop)
    }),
    ("ArgMax", onnx::ArgMax::VERSIONS, |opset, dtype| {
        onnx::ArgMax::default().resolve(opset, dtype, view(&[2, 3])).map(drop)
    }),
    ("Hardmax", onnx::Hardmax::VERSIONS, |opset, dtype| {
        onnx::Hardmax::default().resolve(opset, dtype, view(&[2, 3])).map(drop)
    }),
    ("Max", onnx::Max::VERSIONS, |opset, dtype| {
        onnx::Max::default().resolve(opset, dtype, [view(&[2, 3]), view(&[2, 3])]).map(drop)
    }),
];

/// Operator, its versions, and what each adds to the types before it.
const ONNX_TYPES: [(&str, &[(u64, &str)]); 4] = [
    ("ReduceMax", &[(1, "u32 u64 i32 i64 f16 f32 f64"), (11, ""), (12, "i8 u8"), (13, "bf16"), (18, ""), (20, "bool")]),
    ("ArgMax", &[(1, "f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64"), (11, ""), (12, ""), (13, "bf16")]),
    ("Hardmax", &[(1, "f16 f32 f64"), (11, ""), (13, "bf16")]),
    ("Max", &[(1, "f16 f32 f64"), (6, ""), (8, ""), (12, "i8 i16 i32 i64 u8 u16 u32 u64"), (13, "bf16")]),
];

#[test]
fn every_onnx_opset_means_the_newest_version_before_it() {
    for ((operator, versions, resolve), (_, rows)) in OPERATORS.into_iter().zip(ONNX_TYPES) {
        assert_eq!(versions.iter().map(|v| v.since).collect::<Vec<_>>(), rows.iter().map(|r| r.0).collect::<Vec<_>>());
        let unknown = resolve(0, DType::F32).unwrap_err();
        assert_eq!(unknown, Error::UnknownOpset { operator, opset: 0, first: 1 });
        for opset in 1..=30 {
            let in_force: Vec<_> = rows.iter().filter(|(since, _)| *since <= opset).collect();
            let since = in_force.last().unwrap().0;
            let types: Vec<&str> = in_force.iter().flat_map(|(_, types)| types.split_whitespace()).collect();
            for dtype in DType::ALL {
                let case = format!("{operator}, opset {opset}, {dtype}");
                match resolve(opset, dtype) {
                    Ok(()) => assert!(types.contains(&dtype.name()), "{case}: allowed"),
                    Err(error @ Error::TypeNotAllowed { .. }) => {
                        assert!(!types.contains(&dtype.name()), "{case}: refused");
                        let message = error.to_string();
                        let start = format!("ONNX {operator}-{since} does not allow type {dtype}, only ");
                        let listed = message.strip_prefix(&start).unwrap_or_else(|| panic!("{case}: {message}"));
                        assert!(listed.split_whitespace().all(|t| types.contains(&t)), "{case}: {message}");
                        assert_eq!(listed.split_whitespace().count(), types.len(), "{case}: {message}");
                    }
                    Err(error) => panic!("{case}: {error}"),
                }
            }
        }
    }
}

#[test]
fn onnx_reduce_max_takes_axes_in_each_versions_form() {
    /// opset, attribute, input, noop_with_empty_axes, keepdims; the shape of [2, 3, 4] reduced
    type Row = (u64, List, List, Flag, Flag, &'static [u64]);
    let rows: [Row; 17] = [
        (1, None, None, None, None, &[1, 1, 1]),
        (1, Some(&[]), None, None, Some(false), &[]),
        (1, Some(&[0, 2]), None, None, Some(true), &[1, 3, 1]),
        (11, Some(&[-1]), None, None, Some(false), &[2, 3]),
        (13, Some(&[1, -3]), None, None, None, &[1, 1, 4]),
        (17, Some(&[]), None, None, None, &[1, 1, 1]),
        (18, None, Some(&[1]), None, None, &[2, 1, 4]),
        (18, None, Some(&[-1]), Some(true), Some(false), &[2, 3]),
        (18, None, None, None, None, &[1, 1, 1]),
        (18, None, None, Some(false), None, &[1, 1, 1]),
        (18, None, None, Some(true), None, &[2, 3, 4]),
        (18, None, Some(&[]), None, Some(false), &[]),
        (18, None, Some(&[]), Some(true), Some(false), &[2, 3, 4]),
        (20, None, Some(&[]), Some(false), None, &[1, 1, 1]),
        (20, None, Some(&[2, 0, 1]), Some(false), Some(false), &[]),
        (26, None, Some(&[0]), None, None, &[1, 3, 4]),
        (u64::MAX, None, None, Some(true), Some(false), &[2, 3, 4]),
    ];
    for (n, (opset, attribute, input, noop_with_empty_axes, keepdims, expected)) in rows.into_iter().enumerate() {
        let (axes, axes_input) = (attribute.map(<[_]>::to_vec), input.map(ints));
        let node = onnx::ReduceMax { axes, axes_input, keepdims, noop_with_empty_axes };
        assert_eq!(shape(&node.resolve(opset, DType::F32, view(&[2, 3, 4])).unwrap()).unwrap(), expected, "row {n}");
    }
}

/// What an error says of the axes that there are is what is taken, in every version.
#[test]
fn axes_said_to_be_expected_are_those_taken() {
    type Outputs = fn(u64, i64) -> Result<Vec<TensorType>, Error>;
    let all: [Outputs; 3] = [
        |opset, axis| {
            let (axes, axes_input) = if opset < 18 { (Some(vec![axis]), None) } else { (None, Some(ints(&[axis]))) };
            let op = onnx::ReduceMax { axes, axes_input, ..Default::default() };
            op.resolve(opset, DType::F32, view(&[2, 3]))?.outputs()
        },
        |opset, axis| {
            let op = onnx::ArgMax { axis: Some(axis), ..Default::default() };
            op.resolve(opset, DType::F32, view(&[2, 3]))?.outputs()
        },
        |opset, axis| onnx::Hardmax { axis: Some(axis) }.resolve(opset, DType::F32, view(&[2, 3]))?.outputs(),
    ];
    for (outputs, opset) in all.into_iter().flat_map(|outputs| [1, 11, 12, 13, 18].map(|opset| (outputs, opset))) {
        let taken: Vec<i64> = (-5..=5).filter(|&axis| outputs(opset, axis).is_ok()).collect();
        for axis in -5..=5 {
            match outputs(opset, axis) {
                Ok(_) | Err(Error::NegativeAxis { .. }) => {}
                Err(Error::AxisOutOfRange { expected, .. }) => {
                    assert!(expected.eq(taken.iter().copied()), "{opset} {axis}")
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn onnx_reduce_max_refuses_other_forms_and_names_the_version() {
    let attribute = |axes: &[i64]| onnx::ReduceMax { axes: Some(axes.into()), ..Default::default() };
    let input = |axes: Tensor| onnx::ReduceMax { axes_input: Some(axes), ..Default::default() };
    let noop = onnx::ReduceMax { noop_with_empty_axes: Some(false), ..Default::default() };
    let rows = [
        (attribute(&[-1]), 10, "ONNX ReduceMax-1 allows no negative axis, -1 given"),
        (attribute(&[0]), 18, "ONNX ReduceMax-18 takes its axes as an optional second input"),
        (input(ints(&[0])), 17, "ONNX ReduceMax-13 takes its axes as an optional attribute"),
        (input(Tensor::new([1], &[0_i32]).unwrap()), 20, "not as a tensor of type i32 and shape [1]"),
        (input(Tensor::new([], &[0_i64]).unwrap()), 20, "not as a tensor of type i64 and shape []"),
        (noop, 13, "ONNX ReduceMax-13 has no attribute noop_with_empty_axes, only: axes keepdims"),
        (attribute(&[2]), 11, "axis 2 is out of range for rank 2: expected -2 to 1"),
        (attribute(&[-3]), 11, "axis -3 is out of range"),
        (attribute(&[i64::MIN]), 11, "is out of range"),
        (attribute(&[1, -1]), 11, "axes [1, -1] name dimension 1 twice"),
    ];
    for (node, opset, expected) in rows {
        let outcome = node.resolve(opset, DType::F32, view(&[2, 3])).and_then(|op| shape(&op));
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains(expected), "{message:?} lacks {expected:?}");
    }
}

#[test]
fn onnx_arg_max_by_version() {
    let node = onnx::ArgMax { axis: Some(-1), keepdims: Some(false), select_last_index: Some(true) };
    let input = Tensor::new([2, 3], &[1_u8, 7, 7, 5, 5, 4]).unwrap();
    let op = node.resolve(12, DType::U8, view(&[2, 3])).unwrap();
    assert_eq!(op.reference(&[&input]).unwrap()[0].to_vec::<i64>().unwrap(), [2, 1]);
    let error = node.resolve(11, DType::U8, view(&[2, 3])).unwrap_err().to_string();
    assert_eq!(error, "ONNX ArgMax-11 has no attribute select_last_index, only: axis keepdims");
    let negative = onnx::ArgMax { axis: Some(-1), ..Default::default() };
    assert_eq!(shape(&negative.resolve(11, DType::U8, view(&[2, 3])).unwrap()).unwrap(), [2, 1]);
    assert!(matches!(negative.resolve(10, DType::U8, view(&[2, 3])), Err(Error::NegativeAxis { axis: -1, .. })));
    let default = onnx::ArgMax::default().resolve(13, DType::U8, view(&[2, 3])).unwrap();
    assert_eq!(shape(&default).unwrap(), [1, 3]);
    let scalar = onnx::ArgMax::default().resolve(13, DType::U8, view(&[])).unwrap();
    assert!(matches!(shape(&scalar), Err(Error::NoAxis { .. })));
}

#[test]
fn onnx_hardmax_by_version() {
    let input = Tensor::new([2, 2, 2], &[1.0_f32, 2.0, 4.0, 3.0, 8.0, 8.0, 0.0, 9.0]).unwrap();
    // opset, axis; the positions of the ones
    let rows: [(u64, Option<i64>, &[usize]); 9] = [
        (1, None, &[2, 7]),
        (1, Some(0), &[7]),
        (1, Some(3), &[0, 1, 2, 3, 4, 5, 6, 7]),
        (11, None, &[2, 7]),
        (12, Some(-1), &[1, 2, 4, 7]),
        (12, Some(-3), &[7]),
        (13, None, &[1, 2, 4, 7]),
        (13, Some(0), &[4, 5, 2, 7]),
        (26, Some(-2), &[2, 3, 4, 7]),
    ];
    for (opset, axis, ones) in rows {
        let op = onnx::Hardmax { axis }.resolve(opset, DType::F32, view(&[2, 2, 2])).unwrap();
        let mut expected = [0.0; 8];
        ones.iter().for_each(|&n| expected[n] = 1.0);
        assert_eq!(op.reference(&[&input]).unwrap()[0].to_vec::<f32>().unwrap(), expected, "opset {opset}, {axis:?}");
    }
    let error = |opset, axis, shape: &[u64]| {
        let op = onnx::Hardmax { axis }.resolve(opset, DType::F32, view(shape));
        op.and_then(|op| op.outputs()).unwrap_err()
    };
    assert!(matches!(error(1, Some(-1), &[2, 2]), Error::NegativeAxis { axis: -1, .. }));
    assert!(matches!(error(1, Some(3), &[2, 2]), Error::AxisOutOfRange { axis: 3, rank: 2, .. }));
    assert!(matches!(error(11, Some(2), &[2, 2]), Error::AxisOutOfRange { axis: 2, rank: 2, .. }));
    assert!(matches!(error(11, None, &[2]), Error::AxisOutOfRange { axis: 1, rank: 1, .. }));
    assert!(matches!(error(13, Some(2), &[2, 2]), Error::AxisOutOfRange { axis: 2, rank: 2, .. }));
    assert!([1, 11, 13].iter().all(|&opset| matches!(error(opset, None, &[]), Error::NoAxis { .. })));
}

#[test]
fn onnx_max_by_version() {
    let node = onnx::Max::default();
    let broadcast = [view(&[2, 1]), view(&[3])];
    for opset in [1, 6, 7] {
        let error = node.resolve(opset, DType::F32, broadcast.clone()).unwrap_err().to_string();
        let version = if opset < 6 { 1 } else { 6 };
        let expected = "does not broadcast: input 1 has shape [3], [2, 1] expected as of input 0";
        assert_eq!(error, format!("ONNX Max-{version} {expected}"));
        assert_eq!(shape(&node.resolve(opset, DType::F32, [view(&[2]), view(&[2])]).unwrap()).unwrap(), [2]);
    }
    for opset in [8, 12, 13, 26] {
        assert_eq!(shape(&node.resolve(opset, DType::F32, broadcast.clone()).unwrap()).unwrap(), [2, 3]);
        assert!(shape(&node.resolve(opset, DType::F32, [view(&[2]), view(&[3])]).unwrap()).is_err());
    }
    assert!(shape(&node.resolve(13, DType::F32, []).unwrap()).is_err());
    let hinted = onnx::Max { consumed_inputs: Some(vec![0, 0]) };
    assert!(hinted.resolve(5, DType::F32, [view(&[2]), view(&[2])]).is_ok());
    let error = hinted.resolve(6, DType::F32, [view(&[2])]).unwrap_err().to_string();
    assert_eq!(error, "ONNX Max-6 has no attribute consumed_inputs, only: none");
}

#[test]
fn the_maximum_of_nothing_by_dialect() {
    let empty = Tensor::new([2, 0], &[] as &[f32]).unwrap();
    let values = |op: wgmax::ReduceMax| op.reference(&[&empty]).map(|answer| answer[0].to_vec::<f32>().unwrap());
    let onnx = onnx::ReduceMax { axes: Some(vec![1]), ..Default::default() };
    assert_eq!(values(onnx.resolve(13, DType::F32, view(&[2, 0])).unwrap()).unwrap(), [f32::NEG_INFINITY; 2]);
    let openvino = openvino::ReduceMax1 { axes: Some(ints(&[1])), keep_dims: false };
    assert_eq!(values(openvino.resolve(DType::F32, view(&[2, 0])).unwrap()).unwrap(), [f32::MIN; 2]);
    let onednn = onednn::ReduceMax { axes: Some(vec![1]), ..Default::default() };
    let error = values(onednn.resolve(DType::F32, view(&[2, 0])).unwrap()).unwrap_err().to_string();
    assert!(error.contains("undefined"), "{error}");
    // Where the output is empty, too, nothing is undefined.
    let none = Tensor::new([0, 3], &[] as &[f32]).unwrap();
    let op = onednn.resolve(DType::F32, view(&[0, 3])).unwrap();
    assert_eq!(op.reference(&[&none]).unwrap()[0].shape(), [0]);
}

#[test]
fn openvino_takes_axes_as_a_scalar_or_a_list_of_i32_or_i64() {
    let i32s = |shape: &[u64], axes: &[i32]| Some(Tensor::new(shape, axes).unwrap());
    let i64s = |shape: &[u64], axes: &[i64]| Some(Tensor::new(shape, axes).unwrap());
    // axes, keep_dims; the shape of [2, 3, 4] reduced, or a part of the error
    let rows: [(Option<Tensor>, bool, Expected); 17] = [
        (i32s(&[], &[1]), false, Ok(&[2, 4])),
        (i64s(&[], &[-1]), false, Ok(&[2, 3])),
        (i32s(&[1], &[0]), true, Ok(&[1, 3, 4])),
        (i64s(&[2], &[2, -3]), false, Ok(&[3])),
        (i64s(&[3], &[0, 1, 2]), true, Ok(&[1, 1, 1])),
        (i32s(&[3], &[-1, -2, -3]), false, Ok(&[])),
        (i64s(&[0], &[]), false, Ok(&[2, 3, 4])),
        (i32s(&[0], &[]), true, Ok(&[2, 3, 4])),
        (None, false, Err("OpenVINO ReduceMax-1 takes its axes as a second input, a scalar or one dimension")),
        (i64s(&[2], &[1, 1]), false, Err("name dimension 1 twice")),
        (i32s(&[2], &[-1, 2]), false, Err("name dimension 2 twice")),
        (i64s(&[1], &[3]), false, Err("axis 3 is out of range for rank 3")),
        (i32s(&[], &[-4]), false, Err("axis -4 is out of range for rank 3")),
        (i64s(&[], &[i64::MIN]), false, Err("is out of range for rank 3")),
        (i64s(&[1, 1], &[0]), false, Err("not as a tensor of type i64 and shape [1, 1]")),
        (Some(Tensor::new([1], &[0_u8]).unwrap()), false, Err("not as a tensor of type u8 and shape [1]")),
        (Some(Tensor::new([1], &[0.0_f32]).unwrap()), false, Err("not as a tensor of type f32 and shape [1]")),
    ];
    for (n, (axes, keep_dims, expected)) in rows.into_iter().enumerate() {
        let node = openvino::ReduceMax1 { axes, keep_dims };
        check(n, node.resolve(DType::I8, view(&[2, 3, 4])), expected);
    }
    assert!(!openvino::ReduceMax1::default().keep_dims);
    let node = openvino::ReduceMax1 { axes: Some(ints(&[0])), keep_dims: false };
    for dtype in DType::ALL {
        assert_eq!(node.resolve(dtype, view(&[2])).is_ok(), dtype != DType::Bool, "{dtype}");
    }
    let no_axes = openvino::ReduceMax1 { axes: Some(ints(&[])), keep_dims: false };
    check(0, no_axes.resolve(DType::F32, view(&[])), Ok(&[]));
}

#[test]
fn onednn_takes_axes_as_an_attribute_or_an_input_but_not_both() {
    let s32 = |axes: &[i32]| Some(Tensor::new([axes.len() as u64], axes).unwrap());
    // attribute, input, keep_dims; the shape of [2, 3, 4] reduced, or a part of the error
    let rows: [(List, Option<Tensor>, bool, Expected); 14] = [
        (Some(&[1]), None, false, Ok(&[2, 4])),
        (Some(&[-1, 0]), None, true, Ok(&[1, 3, 1])),
        (Some(&[]), None, false, Ok(&[2, 3, 4])),
        (None, s32(&[1]), false, Ok(&[2, 4])),
        (None, s32(&[-3, -1, 1]), false, Ok(&[])),
        (None, s32(&[]), true, Ok(&[2, 3, 4])),
        (None, None, false, Err("oneDNN ReduceMax takes its axes as either an attribute or a second input")),
        (Some(&[1]), s32(&[1]), false, Err("not as both")),
        (Some(&[]), s32(&[]), false, Err("not as both")),
        (None, Some(ints(&[1])), false, Err("not as a tensor of type i64 and shape [1]")),
        (None, Some(Tensor::new([], &[1_i32]).unwrap()), false, Err("not as a tensor of type i32 and shape []")),
        (Some(&[0, -3]), None, false, Err("name dimension 0 twice")),
        (None, s32(&[3]), false, Err("axis 3 is out of range for rank 3")),
        (Some(&[-4]), None, false, Err("axis -4 is out of range for rank 3")),
    ];
    for (n, (axes, axes_input, keep_dims, expected)) in rows.into_iter().enumerate() {
        let node = onednn::ReduceMax { axes: axes.map(<[_]>::to_vec), axes_input, keep_dims };
        check(n, node.resolve(DType::F16, view(&[2, 3, 4])), expected);
    }
    let node = onednn::ReduceMax { axes: Some(vec![0]), ..Default::default() };
    for dtype in DType::ALL {
        let allowed = matches!(dtype, DType::F32 | DType::F16 | DType::Bf16);
        assert_eq!(node.resolve(dtype, view(&[2])).is_ok(), allowed, "{dtype}");
    }
}

fn check(row: usize, op: Result<wgmax::ReduceMax, Error>, expected: Expected) {
    match (op.and_then(|op| shape(&op)), expected) {
        (Ok(got), Ok(expected)) => assert_eq!(got, expected, "row {row}"),
        (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "row {row}: {error}"),
        (got, expected) => panic!("row {row}: {got:?}, expected {expected:?}"),
    }
}
