//! A program for mpirun: any cut over ranks gives the reference's answer of the whole, bit for bit, on every rank; and what
//! fails on one rank fails on all. `cargo test` alone runs it on one rank, run.sh on 1 to 4.
//!
//! With arguments it ends badly, for run.sh to watch: `leave R`, `panic R`, `kill R`.

#[path = "../examples/scan/checkpoint.rs"]
mod checkpoint;
#[path = "../../../tests/common/mod.rs"]
mod common;
#[path = "ranks/failing.rs"]
mod failing;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use common::{Data, Random, cut, edges, element_bits, first_difference, greatest, tensor};
use safetensors::tensor::TensorView;
use wgmax::shard::{Partial, Partials, Sharded};
use wgmax::{
    AnyOperation, ArgMax, ArgMaxOutput, Axes, DType, EmptyMax, Hardmax, IndexType, NanPolicy, Operation, ReduceMax,
    Slices, Tensor, View,
};
use wgmax_mpi::{Device, Error, Failure, Ranks};

fn main() -> ExitCode {
    wgmax_mpi::run(|ranks| {
        let args: Vec<String> = std::env::args().skip(1).collect();
        match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [end @ ("leave" | "panic" | "kill"), rank] => end_badly(ranks, end, rank.parse()?),
            _ => all_tests(ranks),
        }
    })
}

type Test = fn(&Ranks, &Device) -> Result<u64, Failure>;

/// Each test and what it shows; it returns the number of its cases.
const TESTS: [(&str, Test); 9] = [
    ("random cuts, found by the reference", random_cuts),
    ("random cuts, found by devices", random_cuts_on_devices),
    ("edge values on every rank, found by devices", edges_on_every_rank),
    ("positions beyond 2^32", far_positions),
    ("several reductions in one, and more than one message", many_at_once),
    ("a checkpoint's tensors", checkpoints),
    ("the maximum of nothing", nothing),
    ("failures", failures),
    ("failures of MPI's", failures_of_mpi),
];

fn all_tests(ranks: &Ranks) -> Result<(), Failure> {
    let device = ranks.agree("opening devices", Device::open(ranks))?;
    let (first, size) = (ranks.rank() == 0, ranks.size());
    if first {
        println!("{size} ranks; rank 0 runs on {device}");
    }
    for (name, test) in TESTS {
        let (begin, bytes) = (Instant::now(), ranks.bytes());
        let cases = test(ranks, &device)?;
        if first {
            let (seconds, bytes) = (begin.elapsed().as_secs_f64(), ranks.bytes() - bytes);
            println!("{name}: {cases} cases, {bytes} bytes from each rank, {seconds:.1} s");
        }
    }
    ranks.agree("all tests", Ok::<_, Failure>(()))?;
    if first {
        println!("test result: ok. {} passed; 0 failed; ranks: {size}", TESTS.len());
    }
    Ok(())
}

/// A reduction of any kind, and a tensor for it.
fn problem(random: &mut Random) -> Result<(AnyOperation, Tensor), Failure> {
    let dtype = DType::ALL[random.below(13) as usize];
    let rank = 1 + random.below(3) as usize;
    let shape: Vec<u64> = (0..rank).map(|_| [1, 2, 3, 5, 8, 40][random.below(6) as usize]).collect();
    let nan = [NanPolicy::Propagate, NanPolicy::Ignore][random.below(2) as usize];
    let axes: Vec<i64> = (0..rank as i64).filter(|_| random.below(2) == 0).collect();
    let axes = if random.below(4) == 0 { Axes::All } else { Axes::List(axes) };
    let view = View::new(shape.clone())?;
    let last = random.below(2) == 0;
    let op = match random.below(4) {
        0 => ReduceMax::new(dtype, view).axes(axes).nan(nan).into(),
        1 => {
            let axis = random.below(rank as u64) as i64;
            Hardmax::new(dtype, view, if last { Slices::Along(axis) } else { Slices::From(axis) }).nan(nan).into()
        }
        _ => {
            let index = [IndexType::I64, IndexType::I32, IndexType::U32][random.below(3) as usize];
            let op = ArgMax::new(dtype, view).axes(axes).nan(nan).select_last(last).index(index);
            op.output(ArgMaxOutput::ValuesAndIndices).into()
        }
    };
    let flat = tensor(dtype, shape.iter().product(), Data::ALL[random.below(7) as usize], random.word());
    Ok((op, Tensor::from_bytes(dtype, shape, flat.bytes().to_vec())?))
}

type Part = (Vec<u64>, Vec<u64>);

/// What a rank finds in its boxes.
fn find(whole: &Sharded, boxes: &[Part], input: &Tensor, device: Option<&Device>) -> Result<Partials, Failure> {
    let mut known = whole.nothing()?;
    for (begin, shape) in boxes {
        let shard = whole.shard(begin, shape)?;
        let elements = shard.elements(input)?;
        let found = match device {
            Some(device) => device.run(&shard, &elements)?,
            None => shard.reference(&elements)?,
        };
        known.merge(&found)?;
    }
    Ok(known)
}

/// One reduction, its boxes dealt to the ranks by chance: its answer is the reference's for the whole, on every rank.
fn check_cut(
    ranks: &Ranks,
    (op, input): &(AnyOperation, Tensor),
    boxes: &[(usize, Part)],
    device: Option<&Device>,
) -> Result<(), Failure> {
    let whole = Sharded::new(op.clone())?;
    let own: Vec<Part> = boxes.iter().filter(|(rank, _)| *rank == ranks.rank()).map(|(_, own)| own.clone()).collect();
    let known = ranks.all_reduce(&whole, find(&whole, &own, input, device))?;
    let case = || format!("{op:?}\n{input:?}\n{boxes:?}");
    let expected = op.reference(&[input])?;
    same_as_reference(&whole, &known, &expected, &own).map_err(|error| format!("{error}\n{}", case()))?;
    if device.is_some() && ranks.rank() == 0 {
        let one_device = find(&whole, &[(vec![0; input.shape().len()], input.shape().to_vec())], input, device)?;
        same_as_reference(&whole, &one_device, &expected, &[])
            .map_err(|error| format!("alone: {error}\n{}", case()))?;
    }
    Ok(())
}

fn same_as_reference(whole: &Sharded, known: &Partials, expected: &[Tensor], own: &[Part]) -> Result<(), Failure> {
    let difference = match whole.operation() {
        AnyOperation::Hardmax(_) => {
            let part = |(begin, shape): &Part| {
                let shard = whole.shard(begin, shape)?;
                Ok(first_difference(&[shard.elements(&expected[0])?], &[shard.hardmax(known)?]))
            };
            own.iter().map(part).collect::<Result<Vec<_>, wgmax::Error>>()?.into_iter().flatten().next()
        }
        _ => first_difference(expected, &whole.finish(known)?),
    };
    difference.map_or(Ok(()), |difference| Err(difference.into()))
}

fn check_random_cuts(ranks: &Ranks, device: Option<&Device>, seed: u64, cases: u64) -> Result<u64, Failure> {
    let mut random = Random::new(seed); // the same on every rank
    for _ in 0..cases {
        let problem = problem(&mut random)?;
        let shape = problem.1.shape().to_vec();
        let pieces = random.below(2 * ranks.size() as u64 + 2);
        let boxes = cut(&vec![0; shape.len()], &shape, pieces, &mut random);
        let boxes: Vec<_> = boxes.into_iter().map(|own| (random.below(ranks.size() as u64) as usize, own)).collect();
        check_cut(ranks, &problem, &boxes, device)?;
    }
    Ok(cases)
}

fn random_cuts(ranks: &Ranks, _: &Device) -> Result<u64, Failure> {
    check_random_cuts(ranks, None, 1, 3000)
}

fn random_cuts_on_devices(ranks: &Ranks, device: &Device) -> Result<u64, Failure> {
    check_random_cuts(ranks, Some(device), 2, 40)
}

/// An element's bits, by its rank and its place among the rank's own.
type Bits = fn(DType, usize, u64) -> u64;

/// How elements are chosen. Types without NaN and -0 take 0 and 1 instead.
const FAMILIES: [(&str, Bits); 7] = [
    ("NaN of both signs on every rank", |dtype, rank, at| nan(dtype, (rank + at as usize) % 2 == 1)),
    ("-NaN on odd ranks", |dtype, rank, at| if rank % 2 == 1 && at == 2 { nan(dtype, true) } else { greatest(dtype) }),
    ("NaN on even ranks", |dtype, rank, at| if rank % 2 == 0 && at == 2 { nan(dtype, false) } else { greatest(dtype) }),
    ("ties across ranks", |dtype, _, at| if at % 3 == 1 { greatest(dtype) } else { 0 }),
    ("-0 on even ranks, +0 on odd ones", |dtype, rank, _| zero(dtype, rank % 2 == 0)),
    ("+0 on even ranks, -0 on odd ones", |dtype, rank, _| zero(dtype, rank % 2 == 1)),
    ("the least everywhere", |dtype, _, _| element_bits(dtype, Data::Least, &mut Random::new(0))),
];

fn nan(dtype: DType, negative: bool) -> u64 {
    edges(dtype).0[usize::from(negative)]
}

fn zero(dtype: DType, negative: bool) -> u64 {
    if dtype.is_float() && negative { 1 << (8 * dtype.bytes() - 1) } else { 0 }
}

/// Rows that are cut across. One rank in turn has no elements, and the next one has two parts.
fn edges_on_every_rank(ranks: &Ranks, device: &Device) -> Result<u64, Failure> {
    let (rows, each, size) = (2, 5, ranks.size() as u64);
    let mut cases = 0;
    for dtype in DType::ALL {
        for (n, (family, bits)) in FAMILIES.into_iter().enumerate() {
            // Each rank's own elements, row by row.
            let element = |at: u64| bits(dtype, (at % (each * size) / each) as usize, at % each);
            let bytes = (0..rows * each * size)
                .flat_map(|at| element(at).to_le_bytes().into_iter().take(dtype.bytes() as usize));
            let input = Tensor::from_bytes(dtype, [rows, each * size], bytes.collect())?;
            let empty = n % (ranks.size() + 1);
            let mut boxes: Vec<(usize, Part)> =
                (0..ranks.size()).map(|rank| (rank, (vec![0, rank as u64 * each], vec![rows, each]))).collect();
            if let Some(moved) = boxes.get_mut(empty) {
                moved.0 = (empty + 1) % ranks.size();
            }
            for op in operations(dtype, input.shape())? {
                check_cut(ranks, &(op, input.clone()), &boxes, Some(device))
                    .map_err(|error| format!("{family}, {dtype}: {error}"))?;
                cases += 1;
            }
        }
    }
    Ok(cases)
}

/// Every operator along rows, with both policies, the first and the last of equal maxima.
fn operations(dtype: DType, shape: &[u64]) -> Result<Vec<AnyOperation>, Failure> {
    let view = View::new(shape)?;
    let mut all = Vec::new();
    for nan in [NanPolicy::Propagate, NanPolicy::Ignore] {
        all.push(ReduceMax::new(dtype, view.clone()).axes([1]).nan(nan).into());
        all.push(Hardmax::new(dtype, view.clone(), Slices::Along(1)).nan(nan).into());
        for last in [false, true] {
            let op = ArgMax::new(dtype, view.clone()).axes([1]).nan(nan).select_last(last);
            all.push(op.output(ArgMaxOutput::ValuesAndIndices).into());
        }
    }
    Ok(all)
}

/// A tensor of 2^40 elements, of which ranks have two each, on both sides of 2^32.
fn far_positions(ranks: &Ranks, device: &Device) -> Result<u64, Failure> {
    let nans = [f32::from_bits(0xffc0_0001), f32::from_bits(0x7f80_0001)];
    let mut cases = 0;
    for (content, greatest) in
        [([1.0, 1.0], 1.0_f32), (nans, f32::NAN), ([-0.0, 0.0], 0.0), ([f32::NEG_INFINITY; 2], f32::NEG_INFINITY)]
    {
        for last in [false, true] {
            let op = ArgMax::new(DType::F32, View::new([1 << 40])?).select_last(last);
            let whole = Sharded::new(op.output(ArgMaxOutput::ValuesAndIndices))?;
            let elements = Tensor::new([2], &content)?;
            let begin = |rank: usize| [(1 << 32) - 1, 5, (1 << 40) - 2, (1 << 32) + 7][rank % 4];
            let found = device.run(&whole.shard(&[begin(ranks.rank())], &[2])?, &elements);
            let answer = whole.finish(&ranks.all_reduce(&whole, found)?)?;
            let begins = (0..ranks.size()).map(begin);
            let expected = if last { begins.max().map(|at| at + 1) } else { begins.min() };
            let (value, at) = (answer[0].to_vec::<f32>()?[0], answer[1].to_vec::<i64>()?[0]);
            if (value.to_bits(), Some(at)) != (greatest.to_bits(), expected.map(|at| at as i64)) {
                return Err(
                    format!("{content:?} last {last}: {value} at {at}, {greatest} at {expected:?} expected").into()
                );
            }
            cases += 1;
        }
    }
    Ok(cases)
}

/// Reductions of different types in one, the last of them with more outputs than go in a message.
fn many_at_once(ranks: &Ranks, _: &Device) -> Result<u64, Failure> {
    let mut random = Random::new(3);
    let mut problems = (0..50).map(|_| problem(&mut random)).collect::<Result<Vec<_>, _>>()?;
    let shape = [(1 << 20) + 5, 2];
    let flat = tensor(DType::U8, shape[0] * 2, Data::Random, 4);
    let op = ArgMax::new(DType::U8, View::new(shape)?).axes([1]).output(ArgMaxOutput::ValuesAndIndices);
    problems.push((op.into(), Tensor::from_bytes(DType::U8, shape, flat.bytes().to_vec())?));
    let wholes = problems.iter().map(|(op, _)| Sharded::new(op.clone())).collect::<Result<Vec<_>, _>>()?;
    let found = wholes.iter().zip(&problems).map(|(whole, (_, input))| {
        let shard = whole.shards(ranks.size())?.swap_remove(ranks.rank());
        find(whole, &[(shard.begin().to_vec(), shard.shape().to_vec())], input, None)
    });
    let known = ranks.all_reduce_each(&wholes, found.collect::<Result<Vec<_>, _>>())?;
    for ((whole, known), (op, input)) in wholes.iter().zip(&known).zip(&problems) {
        let all = (vec![0; input.shape().len()], input.shape().to_vec());
        same_as_reference(whole, known, &op.reference(&[input])?, &[all])?;
    }
    Ok(problems.len() as u64)
}

/// Two files with an index, of several types, whose tensors are cut wherever the ranks' shares end.
fn checkpoints(ranks: &Ranks, device: &Device) -> Result<u64, Failure> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoint");
    let tensors = stored_tensors()?;
    ranks.agree("writing", if ranks.rank() == 0 { write_checkpoint(&folder, &tensors) } else { Ok(()) })?;
    let found = checkpoint::scan(ranks, device, &folder)?;
    for (name, tensor) in &tensors {
        let found =
            found.iter().find(|found| found.stored.name() == name).ok_or_else(|| format!("{name} is missing"))?;
        let len: u64 = tensor.shape().iter().product();
        let expected = match len {
            0 => None,
            _ => {
                let op = ArgMax::new(tensor.dtype(), View::new([len])?).output(ArgMaxOutput::ValuesAndIndices);
                let answer = op.reference(&[tensor])?;
                Some((answer[0].clone(), answer[1].to_vec::<i64>()?[0]))
            }
        };
        if expected != found.greatest {
            return Err(format!("{found}, {expected:?} expected of {name}").into());
        }
    }
    // One rank does not see the files.
    for rank in 0..ranks.size() {
        let folder = if rank == ranks.rank() { PathBuf::from("no/such/folder") } else { folder.clone() };
        match checkpoint::scan(ranks, device, &folder) {
            Err(error) if error.to_string().starts_with(&format!("rank {rank} failed: no/such/folder: ")) => {}
            other => return Err(format!("{:?}", other.map(|found| found.len())).into()),
        }
    }
    Ok(tensors.len() as u64)
}

/// By their names.
fn stored_tensors() -> Result<Vec<(String, Tensor)>, Failure> {
    let mut tensors = Vec::new();
    for (n, (dtype, len, data)) in [
        (DType::F32, 10_007, Data::EdgesWithoutNan),
        (DType::F16, 4_099, Data::Edges),
        (DType::Bf16, 20_001, Data::Zeros),
        (DType::F32, 1, Data::Nans),
        (DType::I64, 333, Data::Random),
        (DType::F16, 0, Data::Ties),
        (DType::Bf16, 77_777, Data::Random),
        (DType::U8, 5, Data::Ties),
    ]
    .into_iter()
    .enumerate()
    {
        tensors.push((format!("layer.{n}.weight"), tensor(dtype, len, data, n as u64)));
    }
    Ok(tensors)
}

fn write_checkpoint(folder: &Path, tensors: &[(String, Tensor)]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    let mut map = serde_json::Map::new();
    for (n, tensors) in tensors.chunks(tensors.len().div_ceil(2)).enumerate() {
        let file = format!("model-{:05}-of-00002.safetensors", n + 1);
        let mut views = Vec::new();
        for (name, tensor) in tensors {
            let dtype = match tensor.dtype() {
                DType::F16 => safetensors::Dtype::F16,
                DType::Bf16 => safetensors::Dtype::BF16,
                DType::I64 => safetensors::Dtype::I64,
                DType::U8 => safetensors::Dtype::U8,
                _ => safetensors::Dtype::F32,
            };
            map.insert(name.clone(), file.clone().into());
            views.push((name, TensorView::new(dtype, vec![tensor.shape()[0] as usize], tensor.bytes())?));
        }
        safetensors::serialize_to_file(views, None, &folder.join(file))?;
    }
    let index = serde_json::json!({ "metadata": {}, "weight_map": map });
    Ok(std::fs::write(folder.join("model.safetensors.index.json"), index.to_string())?)
}

/// A tensor without elements is finished by policy, and outputs that no rank knows are named.
fn nothing(ranks: &Ranks, _: &Device) -> Result<u64, Failure> {
    let view = View::new([3, 0])?;
    for (empty, expected) in [(EmptyMax::Least, f32::NEG_INFINITY), (EmptyMax::LowestFinite, f32::MIN)] {
        let whole = Sharded::new(ReduceMax::new(DType::F32, view.clone()).axes([1]).empty(empty))?;
        let known = ranks.all_reduce(&whole, whole.nothing())?;
        if whole.finish(&known)?[0].to_vec::<f32>()? != [expected; 3] {
            return Err(format!("{empty:?}: {known:?}").into());
        }
    }
    let whole = Sharded::new(ReduceMax::new(DType::F32, View::new([3, 2])?).axes([1]))?;
    let known = ranks.all_reduce(&whole, whole.nothing())?;
    match whole.finish(&known) {
        Err(wgmax::Error::PartialsIncomplete { output: 0 }) => Ok(3),
        other => Err(format!("{other:?}").into()),
    }
}

/// What fails on one rank fails on all, by its name; and all go on.
fn failures(ranks: &Ranks, _: &Device) -> Result<u64, Failure> {
    let (own, size) = (ranks.rank(), ranks.size());
    let whole = Sharded::new(ReduceMax::new(DType::F32, View::new([3])?))?;
    let other = Sharded::new(ReduceMax::new(DType::I32, View::new([3])?))?;
    let seen = |outcome: Result<Partials, Error>, expected: Error| match outcome {
        Err(error) if error == expected => Ok(()),
        other => Err(Failure::from(format!("{other:?}, {expected:?} expected"))),
    };
    let own_elements = Tensor::new([3], &[1.0_f32; 3])?;
    let works = || ranks.all_reduce(&whole, whole.shard(&[0], &[3])?.reference(&own_elements)).map_err(Failure::from);
    let mut cases = 0;
    for rank in 0..size {
        // From one rank on they fail, and the first one is named. What it says is cut where it is too long.
        for (message, told) in [("no adapter", "no adapter"), (&"é".repeat(300), &*"é".repeat(256))] {
            let found = if own >= rank { Err(message.to_string()) } else { Ok(whole.nothing()?) };
            seen(ranks.all_reduce(&whole, found), Error::Rank { rank, message: told.to_string() })?;
        }
        // One brings what belongs to another reduction.
        let found = if own == rank { other.nothing() } else { whole.nothing() };
        let mut known = whole.nothing()?;
        let message = known.merge(&other.nothing()?).err().map_or(String::new(), |error| error.to_string());
        seen(ranks.all_reduce(&whole, found), Error::Rank { rank, message })?;
        known = works()?;
        if known.records()[0] == Partial::default() {
            return Err("nothing was merged".into());
        }
        // One is at another reduction, of as many outputs.
        if size > 1 {
            let at = if own == rank { &other } else { &whole };
            let operations = [at.operation()];
            seen(ranks.all_reduce(at, at.nothing()), Error::Differ { own: format!("{operations:?}") })?;
        }
        works()?;
        cases += 4;
    }
    Ok(cases)
}

/// Once MPI has failed, at whatever message of a step, these ranks do nothing together any more.
fn failures_of_mpi(ranks: &Ranks, _: &Device) -> Result<u64, Failure> {
    let whole = Sharded::new(ReduceMax::new(DType::U8, View::new([256, 1])?).axes([1]))?; // more than one message has room for
    let messages = ["the second of the partials", "a failed rank's words"];
    for (message, failed) in messages.into_iter().zip([false, true]) {
        let own = Ranks::new(ranks.communicator())?;
        let found = if failed { Err("no adapter".to_string()) } else { Ok(whole.nothing()?) };
        failing::after(1);
        let told = own.all_reduce(&whole, found);
        failing::never();
        match (told, own.agree("afterwards", Ok::<_, Failure>(()))) {
            (Err(error @ Error::Mpi { .. }), Err(afterwards)) if error == afterwards => {}
            other => return Err(format!("{message}: {other:?}").into()),
        }
    }
    Ok(messages.len() as u64)
}

/// One rank ends early, the others in the midst of their reductions.
fn end_badly(ranks: &Ranks, how: &str, rank: usize) -> Result<(), Failure> {
    let whole = Sharded::new(ReduceMax::new(DType::F32, View::new([3])?))?;
    for step in 0..1000 {
        if step == 500 && ranks.rank() == rank {
            match how {
                "leave" => return Err("out of order".into()),
                "panic" => panic!("on purpose"),
                _ => {
                    let own = std::process::id().to_string();
                    std::process::Command::new("kill").args(["-9", &own]).status()?;
                }
            }
        }
        ranks.all_reduce(&whole, whole.nothing())?;
    }
    Ok(())
}
