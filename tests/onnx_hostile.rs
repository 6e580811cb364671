//! ONNX files that are torn or hostile: an error for each, no panic, and no more memory than the file is worth.

mod common;
#[path = "common/onnx.rs"]
mod models;

use models::{fifty_nodes, initializer, int, ints, node, small_model, typed_value, value};
use wgmax::onnx::Model;
use wgmax::onnx::proto::{
    GraphProto, ModelProto, SegmentProto, SparseTensorProto, StringStringEntryProto, TensorProto, TypeProto, decode,
    encode,
};
use wgmax::{Error, Tensor};

/// One change that makes a tensor wrong.
type Spoil<T> = (&'static str, fn(&mut T));

const TENSORS: [Spoil<TensorProto>; 24] = [
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
    ("a place in another file", |t| {
        t.external_data = vec![StringStringEntryProto { key: "location".into(), value: "/etc/passwd".into() }];
    }),
    ("a location elsewhere", |t| t.data_location = 1),
    ("a segment", |t| t.segment = Some(SegmentProto { begin: 0, end: 4 })),
];

fn graph_of(model: &mut ModelProto) -> &mut GraphProto {
    model.graph.get_or_insert_default()
}

const MODELS: [Spoil<ModelProto>; 32] = [
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
    Model::decode(bytes)?.graph(vec![input])?.reference()
}

fn read_tensor(bytes: &[u8]) -> Result<Tensor, Error> {
    Tensor::try_from(&decode::<TensorProto>(bytes)?)
}

#[test]
fn torn_and_hostile_files_give_errors_and_take_no_memory() {
    let before = peak_kib();
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
    println!("{files} files refused; peak memory {before} KiB before, {} KiB after", peak_kib());
    assert!(peak_kib() - before < 64 << 10, "peak memory grew from {before} to {} KiB", peak_kib());
}

/// Bits flipped anywhere: whatever comes of it, no panic and no run-away memory.
#[test]
fn flipped_bits_never_panic() {
    let (proto, inputs) = fifty_nodes();
    let whole = encode(&proto);
    let before = peak_kib();
    let mut random = common::Random::new(40);
    for _ in 0..2000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << random.below(8);
        }
        // What is left of the model may be sound, and is small.
        let _ = Model::decode(&bytes).and_then(|model| model.max_bytes(1 << 24).graph(inputs.clone()));
    }
    assert!(peak_kib() - before < 256 << 10, "peak memory grew from {before} to {} KiB", peak_kib());
}

/// The most memory that this process has had; 0 where the system does not say.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0)
}
