//! Random problems of everyday sizes, each beside the pace of memory: where are the cliffs?
//!
//! ```text
//! cargo bench --bench sweep -- [--seed N] [--count N | --only N,N...] [--adapter NAME] [--seconds S] [--json FILE]
//! cargo bench --bench sweep -- [--seed N] [--count N] --workloads FILE
//! ```
//!
//! The distribution, `sweep-1`, is in `benches/sweep/draw.rs`. Problem n of a seed is the same whatever the count, and `--only`
//! takes the problems of these numbers, so that a line of what is printed can be found again. Bytes and the limit are those of
//! `benches/workloads.rs`: each input read once, each output written once, and what as many bytes take at memory's pace.
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
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use common::Failure;
use draw::{DISTRIBUTION, Kind, Operator, Problem};
use model::Work;
use serde_json::{Value, json};
use table::data;
use table::pace::Timing;
use wgmax::{Gpu, Limits, Operation, Tensor};

struct Options {
    seed: u64,
    /// The problems' numbers.
    numbers: Vec<u64>,
    adapter: Option<String>,
    seconds: f64,
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
    let Some(gpu) = common::open(options.adapter.clone())? else {
        return Err("there is nothing to time without an adapter".into());
    };
    println!("{} problems of {DISTRIBUTION}, seed {}", options.numbers.len(), options.seed);
    let mut json = options.json.as_ref().map(fs::File::create).transpose()?;
    let mut rows = Vec::new();
    for (done, &n) in options.numbers.iter().enumerate() {
        eprint!("{} of {} …\r", done + 1, options.numbers.len()); // this takes minutes
        let problem = Problem::draw(options.seed, n)?;
        let failed = |error: Failure| format!("problem {n}, {problem}: {error}");
        let mut row = time(&gpu, &problem, &options).map_err(failed)?;
        if let Some(file) = &mut json {
            count_on_paper(&problem, &mut row).map_err(failed)?; // takes as long as to time it
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
    let timing = Timing { limits: gpu.kernels().limits().clone(), seconds: options.seconds, rotated_bytes: 0 };
    let pace = timing.measure(gpu, &op, &inputs.iter().collect::<Vec<_>>())?;
    Ok(json!({
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
        "dispatches": pace.dispatches,
        "bytes": pace.bytes,
        "median_ms": pace.median.as_secs_f64() * 1e3,
        "gb_per_s": pace.gb_per_s(),
        "limit_gb_per_s": pace.limit_gb_per_s(),
        "ratio": pace.ratio(),
    }))
}

/// What a GPU's plan asks of its memory.
fn count_on_paper(problem: &Problem, row: &mut Value) -> Result<(), Failure> {
    let work = Work::count(&problem.operation()?, &Limits::default())?;
    row["gpu_load_efficiency"] = work.loads().efficiency().into();
    row["gpu_store_efficiency"] = work.stores().efficiency().into();
    row["gpu_times_read"] = work.times_read().into();
    Ok(())
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
