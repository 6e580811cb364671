//! Random problems of everyday sizes, each beside the pace of memory: where are the cliffs?
//!
//! ```text
//! cargo bench --bench sweep -- [--seed N] [--count N | --only N,N...] [--adapter NAME] [--seconds S] [--rotate MIB]
//!                              [--json FILE]
//! cargo bench --bench sweep -- [--seed N] [--count N] --workloads FILE
//! ```
//!
//! The distribution, `sweep-1`, is in `benches/sweep/draw.rs`. Problem n of a seed is the same whatever the count, and `--only`
//! takes the problems of these numbers, so that a line of what is printed can be found again. Bytes, the limit and `--rotate` are
//! those of `benches/workloads.rs`: each input read once, each output written once, and what as many bytes take at memory's pace.
//!
//! Quantiles of the ratio, which is 1 where a problem runs at memory's pace, are printed by operator, by kind of view and by
//! family, and then the worst 20 problems. Choose a policy or a kernel on some seeds, and judge it by others.
//!
//! The rows of JSON also say what a GPU's plan asks of its memory, counted on paper whatever the adapter: see
//! `examples/gpu_model`.
//!
//! `--workloads` times nothing, but writes the problems that other libraries can express, as `benches/workloads.json` has them:
//! of contiguous tensors, of the types there. `benches/peers/compare.py --sweep` takes them from there.

#[path = "../../examples/common/mod.rs"]
mod common;
mod draw;
#[path = "../../examples/gpu_model/model.rs"]
#[allow(dead_code)] // it predicts, too
mod model;
#[path = "../../tests/common/paper/mod.rs"]
#[allow(dead_code, unused_imports)] // the tests use more of it
mod paper;
#[path = "../table/mod.rs"]
mod table;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::{fs, thread};

use common::Failure;
use draw::{DISTRIBUTION, Kind, Operator, Problem};
use model::Work;
use serde_json::{Map, Value, json};
use table::data;
use table::pace::Timing;
use wgmax::{Gpu, Limits, Operation, Tensor};

struct Options {
    seed: u64,
    /// The problems' numbers.
    numbers: Vec<u64>,
    adapter: Option<String>,
    seconds: f64,
    rotated_bytes: u64,
    json: Option<PathBuf>,
    workloads: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    if let Some(path) = &options.workloads {
        let drawn = options.numbers.iter().map(|&n| Problem::draw(options.seed, n));
        let problems = drawn.collect::<Result<Vec<_>, _>>()?;
        let workloads: Vec<Value> = problems.iter().filter_map(|problem| workload(problem, options.seed)).collect();
        println!("{} of {} problems of {DISTRIBUTION}, seed {}", workloads.len(), options.numbers.len(), options.seed);
        return Ok(fs::write(path, serde_json::to_vec(&workloads)?)?);
    }
    let gpu = common::needed(options.adapter.clone())?;
    println!("{} problems of {DISTRIBUTION}, seed {}", options.numbers.len(), options.seed);
    let drawn = options.numbers.iter().map(|&n| Problem::draw(options.seed, n));
    let problems = drawn.collect::<Result<Vec<_>, _>>()?;
    compile(&gpu, &problems)?;
    let mut json = options.json.as_ref().map(fs::File::create).transpose()?;
    let on_paper = json.as_ref().map_or(Ok(vec![]), |_| counts(&problems))?;
    let mut rows = Vec::new();
    for (n, problem) in problems.iter().enumerate() {
        eprint!("{} of {} …\r", n + 1, problems.len()); // this takes minutes
        let mut row = time(&gpu, problem, &options).map_err(|error| failed(problem, error))?;
        if let Some(file) = &mut json {
            row.as_object_mut().into_iter().for_each(|row| row.extend(on_paper[n].clone()));
            writeln!(file, "{row}")?;
        }
        rows.push(row);
    }
    print_quantiles(&rows);
    print_worst(&rows);
    Ok(())
}

fn options() -> Result<Options, Failure> {
    let mut args = pico_args::Arguments::from_env();
    args.contains("--bench"); // cargo says so
    let count: u64 = args.opt_value_from_str("--count")?.unwrap_or(100);
    let options = Options {
        seed: args.opt_value_from_str("--seed")?.unwrap_or(1),
        numbers: args.opt_value_from_fn("--only", numbers)?.unwrap_or_else(|| (0..count).collect()),
        adapter: args.opt_value_from_str("--adapter")?,
        seconds: args.opt_value_from_str("--seconds")?.unwrap_or(0.1),
        rotated_bytes: args.opt_value_from_str::<_, u64>("--rotate")?.unwrap_or(0) << 20,
        json: args.opt_value_from_str("--json")?,
        workloads: args.opt_value_from_str("--workloads")?,
    };
    match args.finish().as_slice() {
        [] => Ok(options),
        rest => Err(format!("cannot make sense of {rest:?}").into()),
    }
}

fn numbers(text: &str) -> Result<Vec<u64>, String> {
    text.split(',').map(|n| n.parse().map_err(|_| format!("{n:?} is no problem's number"))).collect()
}

/// The problem as an entry of the workload table, if it can be one.
fn workload(problem: &Problem, seed: u64) -> Option<Value> {
    let (dtype, _) = table::DTYPES.into_iter().find(|&(_, own)| own == problem.dtype)?;
    let one_axis = problem.operator == Operator::ReduceMax || problem.axes.len() < 2;
    (problem.kind == Kind::Contiguous && one_axis).then(|| {
        json!({
            "name": name(seed, problem),
            "op": problem.operator.name(),
            "dtype": dtype,
            "shapes": problem.inputs.iter().map(|view| view.shape()).collect::<Vec<_>>(),
            "axis": problem.axes.first(),
            "axes": problem.axes,
            "family": problem.family,
        })
    })
}

fn name(seed: u64, problem: &Problem) -> String {
    format!("{DISTRIBUTION} {seed} {}", problem.number)
}

fn time(gpu: &Gpu, problem: &Problem, options: &Options) -> Result<Value, Failure> {
    let op = problem.operation()?;
    let inputs: Vec<Tensor> =
        op.inputs()?.iter().map(|need| data(need.dtype, &[need.elements])).collect::<Result<_, _>>()?;
    let plan = op.plan(gpu.kernels().limits())?;
    let kernels: Vec<String> = plan.dispatches.iter().map(|dispatch| dispatch.kernel.to_string()).collect();
    let timing = Timing {
        limits: vec![gpu.kernels().limits().clone()],
        seconds: options.seconds,
        rotated_bytes: options.rotated_bytes,
    };
    let pace = &timing.measure(gpu, &op, &inputs.iter().collect::<Vec<_>>())?[0];
    Ok(pace.with_figures(json!({
        "name": name(options.seed, problem),
        "problem": problem.to_string(),
        "op": problem.operator.name(),
        "dtype": problem.dtype.name(),
        "inputs": problem.inputs.iter().map(|view| json!({
            "shape": view.shape(), "strides": view.strides(), "offset": view.offset(),
        })).collect::<Vec<_>>(),
        "axes": problem.axes,
        "family": problem.family,
        "view": problem.kind.to_string(),
        "kernels": kernels,
        "adapter": gpu.info().name,
    })))
}

fn failed(problem: &Problem, error: impl Display) -> String {
    format!("problem {}, {problem}: {error}", problem.number)
}

/// Compiles what all the problems need, on all cores.
fn compile(gpu: &Gpu, problems: &[Problem]) -> Result<(), Failure> {
    eprint!("compiling …\r");
    let plan = |problem: &Problem| problem.operation()?.plan(gpu.kernels().limits());
    let plans = problems.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    gpu.kernels().prepare_all_blocking(&plans)?;
    Ok(())
}

/// What a GPU's plans ask of its memory, counted on all cores.
fn counts(problems: &[Problem]) -> Result<Vec<Map<String, Value>>, Failure> {
    eprint!("counting on paper …\r");
    let cores = thread::available_parallelism()?.get();
    let count = |problem| count(problem).map_err(|error| failed(problem, error));
    thread::scope(|scope| {
        let parts = problems.chunks(problems.len().div_ceil(cores).max(1));
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || part.iter().map(count).collect())).collect();
        let counted = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        let parts = counted.collect::<Result<Vec<Vec<_>>, String>>()?;
        Ok(parts.concat())
    })
}

fn count(problem: &Problem) -> Result<Map<String, Value>, Failure> {
    let work = Work::count(&problem.operation()?, &Limits::default())?;
    let counted = [
        ("gpu_load_efficiency", work.loads().efficiency()),
        ("gpu_store_efficiency", work.stores().efficiency()),
        ("gpu_times_read", work.times_read()),
    ];
    Ok(counted.into_iter().map(|(name, value)| (name.to_string(), value.into())).collect())
}

fn print_quantiles(rows: &[Value]) {
    let mut groups: BTreeMap<(u32, String), Vec<f64>> = BTreeMap::new();
    for row in rows {
        let ratio = row["ratio"].as_f64().unwrap_or(0.0);
        let text = |key: &str| row[key].as_str().unwrap_or("?").to_string();
        for (order, group) in
            [(0, "all".to_string()), (1, text("op")), (2, format!("{} views", text("view"))), (3, text("family"))]
        {
            groups.entry((order, group)).or_default().push(ratio);
        }
    }
    println!(
        "\n{:<38} {:>8} {:>7} {:>7} {:>7} {:>7}",
        "ratio to memory's pace", "problems", "least", "5 %", "median", "95 %"
    );
    for ((_, name), mut ratios) in groups {
        ratios.sort_by(f64::total_cmp);
        let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
        let (least, low, middle, high) = (at(0.0), at(0.05), at(0.5), at(0.95));
        println!("{name:<38} {:>8} {least:>7.3} {low:>7.3} {middle:>7.3} {high:>7.3}", ratios.len());
    }
}

fn print_worst(rows: &[Value]) {
    let ratio = |row: &&Value| row["ratio"].as_f64().unwrap_or(0.0);
    let mut worst: Vec<&Value> = rows.iter().collect();
    worst.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    println!("\nthe worst, by their numbers");
    for row in worst.into_iter().take(20) {
        let text = |value: &Value| value.as_str().unwrap_or("?").to_string();
        let (name, problem, kernel) = (text(&row["name"]), text(&row["problem"]), text(&row["kernels"][0]));
        let gb_per_s = row["gb_per_s"].as_f64().unwrap_or(0.0);
        println!("{:.3} {gb_per_s:>6.2} GB/s  {name}: {problem}; {kernel}", ratio(&row));
    }
}
