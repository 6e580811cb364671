//! What reading, planning and answering take: memory, and the work that takes memory, in proportion to what is given.
//! Each family has a size, and is held to the same budget at every size: what grows faster than its input leaves it.

#[path = "common/budget.rs"]
mod budget;
mod common;
#[path = "common/onnx.rs"]
mod models;

use std::time::Instant;

use budget::{SHOWN, thrifty_answer, thrifty_plan};
use models::{initializer, int, ints, model, node, typed_value, value};
use wgmax::onnx::proto::{ModelProto, NodeProto, TensorProto, encode};
use wgmax::{
    AnyOperation, ArgMax, DType, Error, Hardmax, Limits, Max, Operation, Parts, ReduceMax, Slices, Tensor, View,
};

/// A model of a size.
type Family = (&'static str, fn(usize) -> ModelProto);

/// One element in many dimensions.
fn flat(name: &str, rank: usize) -> TensorProto {
    TensorProto { name: name.into(), dims: vec![1; rank], data_type: 1, raw_data: vec![0; 4], ..Default::default() }
}

fn numbered(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|i| format!("{prefix}{i}")).collect()
}

fn names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// A model without inputs.
fn closed(nodes: Vec<NodeProto>, outputs: &[&str], overrides: Vec<TensorProto>) -> ModelProto {
    model(13, &[], outputs, nodes, overrides)
}

fn with_graph(mut model: ModelProto, change: impl FnOnce(&mut wgmax::onnx::proto::GraphProto)) -> ModelProto {
    change(model.graph.as_mut().unwrap());
    model
}

const MODELS: [Family; 17] = [
    ("one tensor named again and again", |n| {
        closed(vec![node("Max", &vec!["a"; n], "y", &[])], &["y"], vec![flat("a", 64)])
    }),
    ("one tensor of many dimensions named again and again", |n| {
        closed(vec![node("Max", &vec!["a"; n], "y", &[])], &["y"], vec![flat("a", n)])
    }),
    ("a large tensor named again and again", |n| {
        let a = initializer("a", &Tensor::new([n as u64], &vec![0_f32; n]).unwrap());
        closed(vec![node("Max", &vec!["a"; n], "y", &[])], &["y"], vec![a])
    }),
    ("many tensors", |n| {
        let all = numbered("a", n);
        let overrides = all.iter().map(|name| flat(name, 64)).collect();
        closed(vec![node("Max", &names(&all), "y", &[])], &["y"], overrides)
    }),
    ("many tensors named again and again", |n| {
        let few = n.isqrt();
        let all: Vec<String> = (0..few).map(|i| char::from(b'!' + i as u8).into()).collect();
        let nodes = numbered("y", few).iter().map(|y| node("Max", &names(&all), y, &[])).collect();
        closed(nodes, &["y0"], all.iter().map(|name| flat(name, 64)).collect())
    }),
    ("one output listed again and again", |n| {
        closed(vec![node("Max", &["a"], "y", &[])], &vec!["y"; n], vec![flat("a", 1)])
    }),
    ("a large output listed again and again", |n| {
        let a = initializer("a", &Tensor::new([n as u64], &vec![0_f32; n]).unwrap());
        closed(vec![], &vec!["a"; n], vec![a])
    }),
    ("many outputs", |n| {
        let all = numbered("y", n);
        let nodes = all.iter().map(|y| node("Max", &["a"], y, &[])).collect();
        closed(nodes, &names(&all), vec![flat("a", 64)])
    }),
    ("many dimensions", |n| closed(vec![node("ReduceMax", &["a"], "y", &[])], &["y"], vec![flat("a", n)])),
    ("many dimensions named one by one", |n| {
        let all: Vec<i64> = (0..n as i64).collect();
        closed(vec![node("ReduceMax", &["a"], "y", &[ints("axes", &all)])], &["y"], vec![flat("a", n)])
    }),
    ("many axes for many nodes", |n| {
        let axes = initializer("axes", &Tensor::new([n as u64], &vec![0_i64; n]).unwrap());
        let nodes = numbered("y", n).iter().map(|y| node("ReduceMax", &["a", "axes"], y, &[])).collect();
        model(18, &[], &["y0"], nodes, vec![axes, flat("a", 1)])
    }),
    ("a long chain", |n| {
        let all = numbered("y", n);
        let before = ["a".to_string()].into_iter().chain(all.clone());
        let nodes = all.iter().zip(before).map(|(y, x)| node("Hardmax", &[&x], y, &[int("axis", 0)])).collect();
        closed(nodes, &[&all[n - 1]], vec![flat("a", 64)])
    }),
    ("a value declared again and again", |n| {
        with_graph(closed(vec![node("Max", &["a"], "y", &[])], &["y"], vec![flat("a", 1)]), |graph| {
            graph.value_info = vec![typed_value("y", 1, &[Some(1)]); n];
        })
    }),
    ("many dimensions declared", |n| {
        with_graph(closed(vec![node("Max", &["a"], "y", &[])], &["y"], vec![flat("a", 1)]), |graph| {
            graph.output = vec![typed_value("y", 1, &vec![None; n])];
        })
    }),
    ("empty nodes", |n| with_graph(closed(vec![], &[], vec![]), |graph| graph.node = vec![NodeProto::default(); n])),
    ("empty tensors", |n| closed(vec![], &[], vec![TensorProto::default(); n])),
    ("empty inputs and attributes", |n| {
        with_graph(closed(vec![node("Max", &[], "y", &vec![int("", 0); n])], &[], vec![]), |graph| {
            graph.input = vec![value(""); n];
        })
    }),
];

#[test]
fn models_take_what_their_files_are_worth() {
    SHOWN.set(true);
    for (family, of_size) in MODELS {
        for n in [50, 500, 6000] {
            let file = encode(&of_size(n));
            println!("{family}, {n}:");
            if let Err(error) = thrifty_answer(&file, 1 << 30, &mut |_| vec![]) {
                let error = error.to_string();
                println!("    {error}");
                assert!(error.len() < 1000, "{} bytes of error", error.len());
            }
        }
    }
}

/// Sixteen times as many views of others may take so many times as long, not 256 times as what compares each with each does.
#[test]
fn views_of_others_take_time_in_proportion() {
    let time = |n: usize| {
        let all = Max::new(DType::F32, vec![View::new([2]).unwrap(); 2 * n]);
        let op = (0..n).fold(all, |op, input| op.view_of(n + input, input));
        let once = |_| {
            let begin = Instant::now();
            op.outputs().unwrap();
            begin.elapsed()
        };
        (0..5).map(once).min().unwrap()
    };
    let (few, many) = (time(2000), time(32_000));
    assert!(many < 64 * few, "{few:?} for 2000, {many:?} for 32 000");
}

/// Operations of a size.
type Operations = (&'static str, fn(u64) -> Result<AnyOperation, Error>);

/// A view whose dimensions do not collapse.
fn scattered(rank: usize) -> View {
    let strides: Vec<i64> = (0..rank.min(60)).map(|d| if d % 2 == 0 { 3 } else { 0 }).collect();
    View::strided(vec![2; strides.len()], strides, 0).unwrap()
}

fn parts(n: u64, shape: [u64; 2]) -> Result<Parts, Error> {
    Parts::new(vec![View::new(shape)?; n as usize])
}

const OPERATIONS: [Operations; 10] = [
    ("ReduceMax of dimensions that do not collapse", |n| {
        Ok(ReduceMax::new(DType::F16, scattered(n as usize))
            .axes((0..n.min(60) as i64).step_by(4).collect::<Vec<_>>())
            .into())
    }),
    ("ArgMax of dimensions that do not collapse", |n| {
        Ok(ArgMax::new(DType::F64, scattered(n as usize)).axes([0]).into())
    }),
    ("ReduceMax in windows", |n| Ok(ReduceMax::new(DType::F32, View::new([n, 1 << 20])?).axes([0]).into())),
    ("ArgMax in windows", |n| Ok(ArgMax::new(DType::U8, View::new([3, n, 1 << 18])?).axes([1]).into())),
    ("Hardmax in windows", |n| Ok(Hardmax::new(DType::F32, View::new([n, 1 << 20])?, Slices::Along(0)).into())),
    ("Max of many operands", |n| Ok(Max::new(DType::F32, vec![View::new([2, 3])?; n as usize]).into())),
    ("Max of many scattered operands", |n| Ok(Max::new(DType::F32, vec![scattered(20); n as usize]).into())),
    ("Max of many operands, stretched", |n| {
        let views = vec![View::new(vec![1; 64])?, View::new([1 << 10, 1])?, View::new([7])?];
        Ok(Max::new(DType::F32, views.into_iter().cycle().take(n as usize)).into())
    }),
    ("Max of many operands, each in windows", |n| {
        let across = View::strided([64, 64], [1, 1 << 22], 0)?;
        Ok(Max::new(DType::F32, vec![across; n as usize]).into())
    }),
    ("Max in windows", |n| Ok(Max::new(DType::F32, [View::new([n, 1 << 20])?, View::new([1])?]).into())),
];

/// Operations of so many parts.
const PARTS: [Operations; 5] = [
    ("ReduceMax over parts", |n| Ok(ReduceMax::new(DType::F32, parts(n, [1, 2000])?).axes([0]).into())),
    ("ReduceMax of parts", |n| Ok(ReduceMax::new(DType::F32, parts(n, [1, 2000])?).axes([1]).into())),
    ("ArgMax over parts", |n| Ok(ArgMax::new(DType::U8, parts(n, [3, 2000])?).axes([0]).into())),
    ("Hardmax over parts", |n| Ok(Hardmax::new(DType::F32, parts(n, [1, 2000])?, Slices::Along(0)).into())),
    ("Max of parts", |n| Ok(Max::new(DType::F32, [parts(n, [1, 64])?, View::new([1])?.into()]).into())),
];

fn check_plans(operations: &[Operations], sizes: &[u64]) {
    SHOWN.set(true);
    let large = Limits::default();
    let small = Limits { max_binding_bytes: 1 << 20, ..large };
    for (name, of_size) in operations {
        for (&n, limits) in sizes.iter().flat_map(|n| [(n, &small), (n, &large)]) {
            println!("{name}, {n}:");
            match thrifty_plan(&of_size(n).unwrap(), limits) {
                Ok(plan) => println!("    {} dispatches", plan.dispatches.len()),
                Err(error) => println!("    {error}"),
            }
        }
    }
}

#[test]
fn plans_take_what_operations_and_dispatches_are_worth() {
    check_plans(&OPERATIONS, &[2, 20, 200, 2000]);
}

#[test]
fn plans_of_many_parts_take_what_they_are_worth() {
    check_plans(&PARTS, &[2, 20, 200, 2000, 4000]);
}
