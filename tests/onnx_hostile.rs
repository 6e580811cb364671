//! ONNX files that are torn or hostile: an error for each, no panic, and no more memory than the file is worth; and tensors
//! whose bytes are no elements.

#[path = "common/budget.rs"]
mod budget;
mod common;
#[path = "common/onnx.rs"]
mod models;

use budget::{READING, measured, thrifty_answer};
use models::{fifty_nodes, initializer, int, ints, node, small_model, typed_value, value};
use wgmax::onnx::Model;
use wgmax::onnx::proto::{
    AttributeProto, GraphProto, ModelProto, SegmentProto, SparseTensorProto, StringStringEntryProto, TensorProto,
    TypeProto, decode, encode,
};
use wgmax::{DType, Element, Error, Tensor, half};

/// One change that makes a tensor wrong.
type Spoil<T> = (&'static str, fn(&mut T));

const TENSORS: [Spoil<TensorProto>; 26] = [
    ("a type that is none", |t| t.data_type = 0),
    ("a string", |t| t.data_type = 8),
    ("a complex number", |t| t.data_type = 14),
    ("a type that is not known", |t| t.data_type = i32::MAX),
    ("a negative type", |t| t.data_type = -1),
    ("a negative size", |t| t.dims = vec![-1, -4]),
    ("the least size", |t| t.dims = vec![i64::MIN]),
    ("a huge size", |t| t.dims = vec![i64::MAX]),
    ("huge sizes", |t| t.dims = vec![1 << 40, 1 << 40]),
    ("sizes that wrap to 4", |t| t.dims = vec![1 << 32, 1 << 32, 4]),
    ("more dimensions than elements", |t| t.dims = vec![2; 1000]),
    ("more dimensions than tensors have", |t| t.dims = [vec![1; 64], vec![4]].concat()),
    ("a size too much", |t| t.dims = vec![5]),
    ("a size too little", |t| t.dims = vec![3]),
    ("no dimension", |t| t.dims = vec![]),
    ("nothing for elements", |t| t.raw_data.clear()),
    ("elements where there are none", |t| t.dims = vec![0, 4]),
    ("a torn element", |t| t.raw_data.truncate(15)),
    ("elements in two fields", |t| t.float_data = vec![0.0; 4]),
    ("elements in the wrong field", |t| (t.raw_data, t.int64_data) = (vec![], vec![0; 4])),
    ("an element that the type does not have", |t| {
        (t.raw_data, t.data_type, t.int32_data) = (vec![], 2, vec![0, 1, 256, 2]);
    }),
    ("a byte that is no bool", |t| (t.raw_data, t.data_type) = (vec![0, 1, 2, 1], 9)),
    ("a number that is no bool", |t| (t.raw_data, t.data_type, t.int32_data) = (vec![], 9, vec![0, 1, 256, 1])),
    ("a place in another file", |t| {
        t.external_data = vec![StringStringEntryProto { key: "location".into(), value: "/etc/passwd".into() }];
    }),
    ("a location elsewhere", |t| t.data_location = 1),
    ("a segment", |t| t.segment = Some(SegmentProto { begin: 0, end: 4 })),
];

fn graph_of(model: &mut ModelProto) -> &mut GraphProto {
    model.graph.get_or_insert_default()
}

const MODELS: [Spoil<ModelProto>; 35] = [
    ("no graph", |m| m.graph = None),
    ("no operator set", |m| m.opset_import.clear()),
    ("another domain's operator set", |m| m.opset_import[0].domain = "com.example".into()),
    ("two operator sets", |m| m.opset_import.push(m.opset_import[0].clone())),
    ("operator set 0", |m| m.opset_import[0].version = 0),
    ("a negative operator set", |m| m.opset_import[0].version = i64::MIN),
    ("an operator that is not ours", |m| graph_of(m).node[0].op_type = "Conv".into()),
    ("an operator without a name", |m| graph_of(m).node[0].op_type.clear()),
    ("an operator of another domain", |m| graph_of(m).node[0].domain = "com.example".into()),
    ("no input", |m| graph_of(m).node[0].input.clear()),
    ("an input left out", |m| graph_of(m).node[0].input[0].clear()),
    ("an input that nobody gives", |m| graph_of(m).node[0].input[0] = "z".into()),
    ("an input too many", |m| graph_of(m).node[0].input = vec!["x".into(); 3]),
    ("an input of itself", |m| graph_of(m).node[0].input[0] = "y".into()),
    ("no output", |m| graph_of(m).node[0].output.clear()),
    ("an output without a name", |m| graph_of(m).node[0].output[0].clear()),
    ("two outputs", |m| graph_of(m).node[0].output.push("z".into())),
    ("the input for an output", |m| graph_of(m).node[0].output[0] = "x".into()),
    ("two nodes with one output", |m| graph_of(m).node.push(node("Max", &["x"], "y", &[]))),
    ("an output of the graph that nobody gives", |m| graph_of(m).output[0].name = "z".into()),
    ("an output of the graph listed twice", |m| graph_of(m).output.push(value("y"))),
    ("an output of another type than declared", |m| graph_of(m).output[0] = typed_value("y", 7, &[Some(1), Some(2)])),
    ("a value of another shape than declared", |m| graph_of(m).value_info.push(typed_value("y", 1, &[None, Some(3)]))),
    ("two inputs of one name", |m| graph_of(m).input.push(value("x"))),
    ("an input without a name", |m| graph_of(m).input[0].name.clear()),
    ("an input that is no tensor", |m| graph_of(m).input[0].r#type = Some(TypeProto { tensor_type: None })),
    ("an input of no known type", |m| graph_of(m).input[0] = typed_value("x", 99, &[])),
    ("an attribute that is not known", |m| graph_of(m).node[0].attribute.push(int("axle", 1))),
    ("an attribute given twice", |m| graph_of(m).node[0].attribute.push(ints("axes", &[1]))),
    ("an attribute of another kind", |m| graph_of(m).node[0].attribute[0] = int("axes", 1)),
    ("an attribute of a function", |m| graph_of(m).node[0].attribute[0].ref_attr_name = "a".into()),
    ("a flag that is neither 0 nor 1", |m| graph_of(m).node[0].attribute.push(int("keepdims", 2))),
    ("axes out of range", |m| graph_of(m).node[0].attribute[0].ints = vec![i64::MAX]),
    ("more axes than dimensions", |m| graph_of(m).node[0].attribute[0].ints = vec![0; 1000]),
    ("a sparse initializer", |m| graph_of(m).sparse_initializer.push(SparseTensorProto {})),
];

/// Bytes that are no message, or one that lies about its sizes: a field's number and kind, then its bytes.
fn hostile_bytes() -> Vec<Vec<u8>> {
    let mut files = vec![
        vec![0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f], // a graph of 4 GiB that is not there
        vec![0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], // one of 2^63 bytes
        vec![0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], // a length without an end
        vec![0x08],                               // a number that is missing
        vec![0x00, 0x00],                         // field 0
        vec![0x3e, 0x00],                         // a kind that there is none of
        vec![0x38, 0x01],                         // the graph as a number
        vec![0x3a, 0x02, 0x0a, 0x7f],             // a node longer than its graph
        vec![0x0c],                               // the end of no group
    ];
    files.push(vec![0x0b; 100_000]); // groups in groups without end
    files.push([vec![0x3b; 100_000], vec![0x3c; 100_000]].concat());
    // Graphs in attributes in nodes, a thousand deep.
    let mut deep = Vec::new();
    for _ in 0..1000 {
        for tag in [0x32, 0x2a, 0x0a] {
            deep = [vec![tag], length(deep.len()), deep].concat();
        }
    }
    files.push([vec![0x3a], length(deep.len()), deep].concat());
    files.push(vec![0x3a; 100_000]);
    // A name that is not UTF-8, and one that is longer than the file.
    files.push(vec![0x3a, 0x04, 0x12, 0x02, 0xc3, 0x28]);
    files.push(vec![0x3a, 0x03, 0x12, 0x7f, 0x41]);
    files
}

/// A length as protobuf writes it.
fn length(mut len: usize) -> Vec<u8> {
    let mut bytes = vec![];
    while len > 127 {
        bytes.push(len as u8 | 0x80);
        len >>= 7;
    }
    bytes.push(len as u8);
    bytes
}

/// Reads a model from bytes and runs it on one input, as far as that goes.
fn read_model(bytes: &[u8]) -> Result<Vec<Tensor>, Error> {
    let input = Tensor::new([2, 2], &[0.0_f32; 4])?;
    thrifty_answer(bytes, 1 << 20, &mut |_| vec![input.clone()])
}

fn read_tensor(bytes: &[u8]) -> Result<Tensor, Error> {
    let (tensor, usage) = measured(|| Tensor::try_from(&decode::<TensorProto>(bytes)?));
    READING.check("reading a tensor", &bytes, bytes.len() as u64, &usage);
    tensor
}

#[test]
fn torn_and_hostile_files_give_errors_within_their_budget() {
    let mut files = 0;
    let mut refused = |what: &str, outcome: Option<Error>| {
        files += 1;
        let error = outcome.unwrap_or_else(|| panic!("{what}: no error")).to_string();
        assert!(!error.is_empty() && error.len() < 20_000, "{what}: {} bytes of error", error.len());
    };
    let tensor = TensorProto::from(&Tensor::new([4], &[1.0_f32, 2.0, 3.0, 4.0]).unwrap());
    assert!(read_tensor(&encode(&tensor)).is_ok());
    for (what, spoil) in TENSORS {
        let mut spoilt = tensor.clone();
        spoil(&mut spoilt);
        refused(what, read_tensor(&encode(&spoilt)).err());
        let mut model = small_model();
        graph_of(&mut model).initializer.push(TensorProto { name: "spoilt".into(), ..spoilt });
        refused(what, read_model(&encode(&model)).err());
    }
    assert!(read_model(&encode(&small_model())).is_ok());
    for (what, spoil) in MODELS {
        let mut model = small_model();
        spoil(&mut model);
        refused(what, read_model(&encode(&model)).err());
    }
    for bytes in hostile_bytes() {
        refused("hostile bytes", read_model(&bytes).err());
    }
    // Every part of a file from its beginning: the operator set stands last in a model, the elements in a tensor.
    let mut model = small_model();
    graph_of(&mut model).initializer.push(initializer("constant", &Tensor::new([3], &[1_u8, 2, 3]).unwrap()));
    for (whole, read) in [
        (encode(&model), (|bytes| read_model(bytes).err()) as fn(&[u8]) -> Option<Error>),
        (encode(&fifty_nodes().0), |bytes| read_model(bytes).err()),
        (encode(&tensor), |bytes| read_tensor(bytes).err()),
    ] {
        (0..whole.len()).for_each(|len| refused(&format!("the first {len} bytes"), read(&whole[..len])));
    }
    assert!(files >= 200, "{files} files");
    println!("{files} files refused");
}

/// A value in the field that is not its kind's contradicts the kind, also where the kind is unsaid.
#[test]
fn attributes_have_values_of_their_kind_alone() {
    for own in [
        ("ReduceMax", ints("axes", &[0])),
        ("ReduceMax", int("keepdims", 1)),
        ("ArgMax", int("axis", 0)),
        ("ArgMax", int("keepdims", 1)),
        ("ArgMax", int("select_last_index", 1)),
        ("Hardmax", int("axis", 0)),
    ] {
        let (operator, sound) = own;
        for kind in [sound.r#type, 0] {
            let outcome = |i: i64, ints: &[i64]| {
                let attribute = AttributeProto { i, ints: ints.into(), r#type: kind, ..sound.clone() };
                let model = models::model(13, &["x"], &["y"], vec![node(operator, &["x"], "y", &[attribute])], vec![]);
                read_model(&encode(&model))
            };
            assert!(outcome(sound.i, &sound.ints).is_ok(), "{operator} {sound:?}");
            type Change = fn(&mut AttributeProto);
            let changes: [Change; 5] = [
                |own| own.f = 1.0,
                |own| own.s = b"1".to_vec(),
                |own| own.t = Some(Default::default()),
                |own| own.floats = vec![1.0],
                |own| own.strings = vec![b"1".to_vec()],
            ];
            for change in changes {
                let mut attribute = AttributeProto { r#type: kind, ..sound.clone() };
                change(&mut attribute);
                let model = models::model(13, &["x"], &["y"], vec![node(operator, &["x"], "y", &[attribute])], vec![]);
                let error = read_model(&encode(&model)).expect_err(operator).to_string();
                assert!(error.contains(&format!("attribute {} is", sound.name)), "{error}");
            }
            let (other, others) = if sound.ints.is_empty() { (0, vec![1]) } else { (1, vec![]) };
            for (i, ints) in [(other, &others[..]), (sound.i + other, &[&sound.ints[..], &others].concat())] {
                let error = outcome(i, ints).expect_err(operator).to_string();
                assert!(error.contains(&format!("attribute {} is", sound.name)), "{error}");
            }
        }
    }
}

/// Each version says how many inputs it takes, also before it says what the second one has to be.
#[test]
fn inputs_are_counted_by_version() {
    for (opset, given, said) in
        [(13, 2, "2 inputs given, 1"), (13, 3, "3 inputs given, 1"), (18, 3, "3 inputs given, 2")]
    {
        let computed = node("Max", &["x"], "v", &[]);
        let reduced = node("ReduceMax", &["x", "v", "v"][..given], "y", &[]);
        let model = models::model(opset, &["x"], &["y"], vec![computed, reduced], vec![]);
        let error = read_model(&encode(&model)).unwrap_err().to_string();
        assert_eq!(error, format!("node 1 (ReduceMax): {said} expected"));
    }
}

/// Each of a Max's inputs is needed; another operator's optional one may be left out at the end.
#[test]
fn inputs_left_out() {
    let read = |operator, inputs: &[&str]| {
        read_model(&encode(&models::model(18, &["x"], &["y"], vec![node(operator, inputs, "y", &[])], vec![])))
    };
    for (inputs, missing) in [(&["x", ""][..], 1), (&["x", "", "x"], 1), (&["x", "x", ""], 2)] {
        let error = read("Max", inputs).unwrap_err().to_string();
        assert!(error.contains(&format!("input {missing}: it is left out")), "{inputs:?}: {error}");
    }
    assert!(read("ReduceMax", &["x", ""]).is_ok());
    assert!(read("ReduceMax", &["x", "", ""]).is_ok());
}

/// Bits flipped anywhere: whatever comes of it, no panic and no run-away memory.
#[test]
fn flipped_bits_never_panic() {
    let (proto, inputs) = fifty_nodes();
    let whole = encode(&proto);
    let mut random = common::Random::new(40);
    for _ in 0..2000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << random.below(8);
        }
        // What is left of the model may be sound, and is small.
        let _ = thrifty_answer(&bytes, 1 << 20, &mut |_| inputs.clone());
    }
}

/// What is declared of a value holds, where it says something; of a value that there is not, it may say anything.
#[test]
fn values_are_held_against_their_declarations() {
    let x = Tensor::new([2, 3], &[1.0_f32; 6]).unwrap();
    let graph = |change: &dyn Fn(&mut GraphProto)| {
        let mut model = small_model(); // y, of shape [1, 3]
        change(graph_of(&mut model));
        Model::new(model).and_then(|model| model.graph(vec![x.clone()]))
    };
    let (one, three) = (Some(1), Some(3));
    for fitting in [
        typed_value("y", 1, &[one, three]),
        typed_value("y", 1, &[None, three]),
        typed_value("y", 0, &[one, None]),
        typed_value("y", 1, &[Some(-1), three]),
        value("y"),
    ] {
        assert!(graph(&|graph| graph.output[0] = fitting.clone()).is_ok(), "{fitting:?}");
        assert!(graph(&|graph| graph.value_info = vec![fitting.clone(); 2]).is_ok(), "{fitting:?}");
    }
    for left_behind in [typed_value("z", 1, &[Some(9)]), typed_value("z", 8, &[])] {
        assert!(graph(&|graph| graph.value_info = vec![left_behind.clone()]).is_ok(), "{left_behind:?}");
    }
    for (wrong, declared) in [
        (typed_value("y", 7, &[one, three]), "i64 and [1, 3]"),
        (typed_value("y", 1, &[one, Some(4)]), "f32 and [1, 4]"),
        (typed_value("y", 0, &[None]), "any type and [?]"),
        (typed_value("y", 1, &[]), "f32 and []"),
    ] {
        let said = |kind| {
            format!("node 0 (ReduceMax): {kind} \"y\": its type is f32 and its shape [1, 3], declared are {declared}")
        };
        let error = |graph: Result<(), Error>| graph.expect_err("an error").to_string();
        assert_eq!(error(graph(&|graph| graph.output[0] = wrong.clone()).map(drop)), said("output"));
        assert_eq!(error(graph(&|graph| graph.value_info = vec![value("y"), wrong.clone()]).map(drop)), said("value"));
    }
    // An initializer, which may be an input's default.
    let initializer =
        |graph: &mut GraphProto| graph.initializer.push(initializer("c", &Tensor::new([2], &[1_u8, 2]).unwrap()));
    let declared = typed_value("c", 2, &[three]);
    for (kind, error) in [
        ("input", graph(&|graph| (initializer(graph), graph.input.push(declared.clone())).1)),
        ("value", graph(&|graph| (initializer(graph), graph.value_info.push(declared.clone())).1)),
    ] {
        let error = error.err().expect("an error").to_string();
        assert_eq!(error, format!("{kind} \"c\": its type is u8 and its shape [2], declared are u8 and [3]"));
    }
}

/// A Max that names a value again is one of the values; what is wrong is still said of the file's inputs.
#[test]
fn inputs_named_again_are_taken_once() {
    let [a, b] = [[1.0_f32, 5.0], [3.0, 4.0]].map(|data| Tensor::new([2], &data).unwrap());
    let graph = |b: &Tensor| {
        let nodes = vec![node("Max", &["a", "b", "a", "a", "b"], "y", &[])];
        Model::new(models::model(13, &["a", "b"], &["y"], nodes, vec![])).unwrap().graph(vec![a.clone(), b.clone()])
    };
    let both = graph(&b).unwrap();
    assert_eq!(both.operations().next().unwrap().inputs().unwrap().len(), 2);
    assert_eq!(both.reference().unwrap()[0].to_vec::<f32>().unwrap(), [3.0, 5.0]);
    let mut nodes = small_model();
    graph_of(&mut nodes).node[0] = node("Max", &["x", "x", "x", "i"], "y", &[]);
    graph_of(&mut nodes).initializer.push(initializer("i", &Tensor::new([1], &[1_i32]).unwrap()));
    let error = read_model(&encode(&nodes)).unwrap_err().to_string();
    assert_eq!(error, "node 0 (Max): input 3 has type i32, f32 expected");
}

/// Whatever makes a tensor, its bytes are those of its elements: no element has two forms, which devices and the reference
/// might tell apart.
#[test]
fn bytes_are_those_of_elements() {
    fn check<T: Element>() {
        let size = size_of::<T>();
        for byte in 0..=255_u8 {
            let bytes = [vec![0; size], vec![byte; size], vec![1; size]].concat();
            let raw_data = TensorProto {
                data_type: TensorProto::from(&Tensor::new::<T>([0], &[]).unwrap()).data_type,
                dims: vec![3],
                raw_data: bytes.clone(),
                ..Default::default()
            };
            let made = Tensor::from_bytes(T::DTYPE, [3], bytes.clone());
            #[cfg(feature = "serde")]
            {
                let json = format!(r#"{{"dtype": "{}", "shape": [3], "bytes": {bytes:?}}}"#, T::DTYPE);
                let read = serde_json::from_str::<Tensor>(&json);
                assert_eq!(read.map_err(|error| error.to_string().contains("0 or 1")), made.clone().map_err(|_| true));
            }
            assert_eq!(Tensor::try_from(&raw_data).is_ok(), made.is_ok());
            match made {
                Ok(made) => {
                    let again = Tensor::new([3], &made.to_vec::<T>().unwrap()).unwrap();
                    assert_eq!(again, made, "{} of bytes {byte}", T::DTYPE);
                }
                Err(error) => {
                    assert_eq!(T::DTYPE, DType::Bool);
                    assert_eq!(error, Error::BoolValue { element: 1, value: byte });
                }
            }
        }
    }
    check::<f32>();
    check::<half::f16>();
    check::<half::bf16>();
    check::<f64>();
    check::<i8>();
    check::<i16>();
    check::<i32>();
    check::<i64>();
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
    check::<bool>();
    let error = Tensor::from_bytes(DType::Bool, [4], vec![1, 0, 2, 255]).unwrap_err();
    assert_eq!(error.to_string(), "element 2 of a bool tensor is 2, 0 or 1 expected");
}
