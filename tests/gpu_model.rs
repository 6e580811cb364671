//! What plans ask of a GPU, by the model of `examples/gpu_model`: for the bench's table, for shapes at random, and from one size
//! to the next.

#[path = "../examples/common/mod.rs"]
mod common;
#[path = "../benches/sweep/draw.rs"]
#[allow(dead_code)] // it names them, too
mod draw;
#[path = "../examples/gpu_model/model.rs"]
#[allow(dead_code)] // the example prints more
mod model;
#[path = "common/paper/mod.rs"]
#[allow(dead_code, unused_imports)] // the tests in tests/paper use more of it
mod paper;
#[path = "../benches/table/mod.rs"]
mod table;

use std::thread;

use draw::{Kind, Problem};
use model::{Device, Work};
use serde_json::Value;
use wgmax::{ArgMax, DType, Hardmax, Max, Operation, ReduceMax, Slices, View};

/// The fastest memory, which is hardest to keep busy.
fn h100() -> Device {
    Device::parse_all(include_str!("../examples/gpu_model/devices.json")).unwrap().remove(0)
}

fn count(op: &dyn Operation) -> Work {
    Work::count(op, &model::gpu()).unwrap()
}

/// Calls it for all of these, several at a time, and gives the answers in their order.
fn all<T: Sync, U: Send>(of: &[T], call: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let cores = thread::available_parallelism().map_or(1, |n| n.get());
    let part = of.len().div_ceil(cores).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> =
            of.chunks(part).map(|part| scope.spawn(|| part.iter().map(&call).collect::<Vec<U>>())).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

/// Workloads of 8 MB and more that come to less than 0.85 of what is attainable, with what they come to. Their outputs are too
/// few for a dispatch that keeps the device busy, and a second one waits for it.
const SECOND_DISPATCH: [(&str, f64); 1] = [("hardmax_long", 0.81)];

/// They take one dispatch.
const ONE_DISPATCH: [&str; 6] =
    ["llm_greedy_64", "softmax_max", "short_rows", "hardmax_rows", "segmentation", "yolo_classes"];

#[test]
fn the_table_comes_near_to_what_is_attainable() {
    let table: Vec<Value> = serde_json::from_str(include_str!("../benches/workloads.json")).unwrap();
    let counted = all(&table, |entry| {
        let shapes = table::shapes(entry, 1.0).unwrap();
        count(&*table::operation(entry, table::dtype(&entry["dtype"]).unwrap(), &shapes).unwrap())
    });
    for (entry, work) in table.iter().zip(&counted) {
        let name = entry["name"].as_str().unwrap();
        let most = if ONE_DISPATCH.contains(&name) { 1 } else { 2 };
        assert!(work.dispatches.len() <= most, "{name}: {} dispatches", work.dispatches.len());
        if work.bytes < 8_000_000 {
            continue;
        }
        let of_attainable = h100().part(work) / h100().attainable(work);
        let least = SECOND_DISPATCH.iter().find(|(known, _)| *known == name).map_or(0.85, |&(_, least)| least);
        assert!(of_attainable >= least, "{name}: {of_attainable:.2} of what is attainable");
        // 256 workgroups of 256, or fewer of more. What waits is less where the last turn of a loop is not whole.
        let main = work.main();
        assert!(main.groups * main.group >= 1 << 16, "{name}: {} workgroups of {}", main.groups, main.group);
        assert!(main.in_flight() >= 2.5e6, "{name}: {} bytes in flight", main.in_flight());
    }
}

/// Of contiguous inputs; of outputs that are an eighth of the bytes or more.
#[test]
fn random_shapes_ask_for_little_more_than_they_need() {
    let problems: Vec<Problem> = (0..120).map(|n| Problem::draw(20_261_123, n).unwrap()).collect();
    let problems: Vec<_> = problems.into_iter().filter(|own| own.kind == Kind::Contiguous).collect();
    let counted = all(&problems, |own| count(&own.operation().unwrap()));
    let loads = |work: &Work| Some(work.loads().efficiency());
    let stores = |work: &Work| (8.0 * work.stores().bytes >= work.bytes as f64).then(|| work.stores().efficiency());
    check_efficiency("loads", [0.75, 0.45], &problems, &counted, loads);
    check_efficiency("stores", [0.7, 0.12], &problems, &counted, stores);
}

/// Of the sectors that move, what is asked for: at least so much in the median and at the 5th percentile.
fn check_efficiency(
    what: &str,
    floors: [f64; 2],
    problems: &[Problem],
    counted: &[Work],
    of: impl Fn(&Work) -> Option<f64>,
) {
    let mut own: Vec<_> =
        problems.iter().zip(counted).filter_map(|(problem, work)| Some((of(work)?, problem))).collect();
    own.sort_by(|a, b| a.0.total_cmp(&b.0));
    let found = [0.5, 0.05].map(|part| own[(part * (own.len() - 1) as f64).round() as usize].0);
    own.iter().take(20).for_each(|(efficiency, problem)| println!("{efficiency:.2} {problem}"));
    println!("{what} of {}: {found:.2?} in the median and at the 5th percentile", own.len());
    assert!(found.iter().zip(floors).all(|(found, floor)| *found >= floor), "{what}: {found:.2?}, {floors:?} expected");
}

type BySize = fn(u64) -> Box<dyn Operation>;

/// Operations over some 16 MB, by one of their sizes.
const FAMILIES: [(&str, BySize); 8] = [
    ("ReduceMax of rows", |n| Box::new(ReduceMax::new(DType::F32, tensor([(1 << 22) / n, n])).axes([1]))),
    ("ArgMax of rows", |n| Box::new(ArgMax::new(DType::F16, tensor([(1 << 23) / n, n])).axes([1]))),
    ("Hardmax of rows", |n| Box::new(Hardmax::new(DType::F32, tensor([(1 << 22) / n, n]), Slices::Along(1)))),
    ("ReduceMax of so many rows", |n| Box::new(ReduceMax::new(DType::F32, tensor([(1 << 16) / n, n, 64])).axes([1]))),
    ("ArgMax of columns", |n| Box::new(ArgMax::new(DType::F32, tensor([(1 << 16) / n, 64, n])).axes([1]))),
    ("Hardmax of columns", |n| Box::new(Hardmax::new(DType::F32, tensor([(1 << 16) / n, 64, n]), Slices::Along(1)))),
    ("Max of rows with a row", |n| Box::new(Max::new(DType::F32, [tensor([(1 << 22) / n, n]), tensor([1, n])]))),
    ("Max of rows with a column", |n| {
        Box::new(Max::new(DType::F16, [tensor([(1 << 23) / n, n]), tensor([(1 << 23) / n, 1])]))
    }),
];

fn tensor<const N: usize>(shape: [u64; N]) -> View {
    View::new(shape.map(|size| size.max(1))).unwrap()
}

/// All small sizes from 2 on, and powers of two with the sizes around them: whatever a policy asks is asked of one of them.
#[test]
fn no_size_takes_twice_as_long_as_the_next() {
    let around = (5..=15).flat_map(|power| [(1_u64 << power) - 1, 1 << power, (1 << power) + 1]);
    let sizes: Vec<u64> = (2..=17).chain(around).collect();
    let device = h100();
    for (name, operation) in FAMILIES {
        let paces = all(&sizes, |&n| {
            let work = count(&*operation(n));
            device.seconds(&work) / work.bytes as f64
        });
        for (pair, pace) in sizes.windows(2).zip(paces.windows(2)).filter(|(pair, _)| pair[1] == pair[0] + 1) {
            let jump = (pace[1] / pace[0]).max(pace[0] / pace[1]);
            assert!(jump <= 2.0, "{name}, sizes {pair:?}: {jump:.2} times as long for a byte");
        }
    }
}
