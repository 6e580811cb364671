//! Measures which tuning is fastest on this device, keeps it as JSON, and shows every workload of `benches/workloads.json`
//! before and after.
//!
//! ```text
//! cargo run --release --features serde --example calibrate [-- --adapter NAME] [--out FILE] [--budget SECONDS]
//!                                                          [--rounds N]
//! ```
//!
//! A calibration of the same device that FILE has is used as it is. "before" is the row of GPUs, where the search begins,
//! and "built in" what plans of this device follow without a calibration: on GPUs it is the same. Times are medians of N runs
//! in turns (9), by the device's clock if it has one, else of record, submit and wait; N of 0 leaves the table out.

mod common;
#[path = "../benches/table/mod.rs"]
mod table;

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::{Buffers, Failure, Resident};
use serde_json::Value;
use wgmax::calibration::Platform;
use wgmax::{Calibration, CalibrationOptions, Gpu, Limits, Tensor, Tuning};

const USAGE: &str = "usage: calibrate [--adapter NAME] [--out FILE] [--budget SECONDS] [--rounds N]";

struct Options {
    adapter: Option<String>,
    out: Option<PathBuf>,
    budget: f64,
    rounds: usize,
}

fn main() -> ExitCode {
    let (options, gpu) = match opened() {
        Ok(opened) => opened,
        Err(error) => return common::fail("calibrate", 2, &error),
    };
    match run(&options, &gpu) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => common::fail("calibrate", 1, &error),
    }
}

fn opened() -> Result<(Options, Gpu), Failure> {
    let mut args = pico_args::Arguments::from_env();
    let options = Options {
        adapter: args.opt_value_from_str("--adapter")?,
        out: args.opt_value_from_str("--out")?,
        budget: args.opt_value_from_str("--budget")?.unwrap_or(10.0),
        rounds: args.opt_value_from_str("--rounds")?.unwrap_or(9),
    };
    if let [_, ..] = args.finish().as_slice() {
        return Err(USAGE.into());
    }
    let gpu = common::needed(options.adapter.clone())?;
    Ok((options, gpu))
}

fn run(options: &Options, gpu: &Gpu) -> Result<(), Failure> {
    let calibration = match options.out.as_deref().and_then(|path| kept(path, gpu)) {
        Some(calibration) => calibration,
        None => calibrated(options, gpu)?,
    };
    print_tuning(gpu, &calibration);
    if options.rounds > 0 {
        compare(gpu, &calibration.tuning, options.rounds)?;
    }
    Ok(())
}

/// What the file has, if it is of this device and of these kernels.
fn kept(path: &Path, gpu: &Gpu) -> Option<Calibration> {
    let text = fs::read_to_string(path).ok()?;
    let outcome = serde_json::from_str::<Calibration>(&text).map_err(|error| error.to_string()).and_then(|own| {
        own.tuning_on(&Platform::of(gpu.device())).map_err(|error| error.to_string())?;
        Ok(own)
    });
    match &outcome {
        Ok(_) => println!("{} is used.", path.display()),
        Err(error) => println!("{} is not used: {error}.", path.display()),
    }
    outcome.ok()
}

fn calibrated(options: &Options, gpu: &Gpu) -> Result<Calibration, Failure> {
    let budget = Duration::try_from_secs_f64(options.budget)?;
    let begin = Instant::now();
    let options_of_search = CalibrationOptions { budget, ..Default::default() };
    let mut best = options_of_search.start;
    let calibration = gpu.kernels().calibrate_blocking(gpu.queue(), &options_of_search, |progress| {
        let seconds = progress.elapsed.as_secs_f64();
        if io::stderr().is_terminal() {
            eprint!("{seconds:5.1} s, {} candidates timed, {} kept \r", progress.tried, progress.kept);
        }
        if progress.tuning != best {
            println!("{seconds:5.1} s: {:<36}", changes(&best, &progress.tuning));
            best = progress.tuning;
        }
    })?;
    let end = if calibration.complete { "nothing was left to try" } else { "the time was over" };
    println!("Calibrated in {:.1} s: {end}.", begin.elapsed().as_secs_f64());
    if let Some(path) = &options.out {
        fs::write(path, serde_json::to_string_pretty(&calibration)?)?;
        println!("{} has it.", path.display());
    }
    Ok(calibration)
}

/// What is another number in the second tuning.
fn changes(old: &Tuning, new: &Tuning) -> String {
    let fields = Tuning::FIELDS.iter().filter(|field| field.get(old) != field.get(new));
    let mut changes: Vec<String> = fields.map(|field| format!("{} {}", field.name, field.get(new))).collect();
    changes.extend((old.int64 != new.int64).then(|| format!("int64 {}", new.int64)));
    changes.join(", ")
}

/// The numbers that the search changed, and what it gained by them.
fn print_tuning(gpu: &Gpu, calibration: &Calibration) {
    let start = CalibrationOptions::default().start;
    let built_in = Tuning::of(gpu.kernels().limits().adapter);
    println!("\n{:<18} {:>12} {:>12} {:>12}", "number", "before", "built in", "calibrated");
    for field in Tuning::FIELDS {
        let [before, built_in, now] = [&start, &built_in, &calibration.tuning].map(|tuning| field.get(tuning));
        println!("{:<18} {before:>12} {built_in:>12} {now:>12}", field.name);
    }
    println!("{:<18} {:>12} {:>12} {:>12}", "int64", start.int64, built_in.int64, calibration.tuning.int64);
    let gains = calibration.gains.iter().map(|gain| format!("{} {}", gain.probe, gain.speed_percent));
    println!(
        "\nthe speed of each probe in percent of before, as the search saw it: {}",
        gains.collect::<Vec<_>>().join(", ")
    );
}

/// Every workload with each of the tunings, in turns.
fn compare(gpu: &Gpu, tuning: &Tuning, rounds: usize) -> Result<(), Failure> {
    let limits = gpu.kernels().limits();
    let tunings = [CalibrationOptions::default().start, Tuning::of(limits.adapter), *tuning];
    let list: Vec<Value> = serde_json::from_slice(&fs::read(table::WORKLOADS)?)?;
    println!(
        "\n{:<18} {:>11} {:>11} {:>14} {:>13} {:>15}",
        "workload", "before ms", "built in ms", "calibrated ms", "of before", "of built in"
    );
    let mut logarithms = [0.0, 0.0];
    for work in &list {
        let name = work["name"].as_str().unwrap_or("?");
        let times = times(gpu, work, &tunings.map(|tuning| Limits { tuning: Some(tuning), ..limits.clone() }), rounds)?;
        let [before, built_in, after] = [times[0], times[1], times[2]].map(|time| time.as_secs_f64() * 1e3);
        println!(
            "{name:<18} {before:>11.3} {built_in:>11.3} {after:>14.3} {:>13.2} {:>15.2}",
            after / before,
            after / built_in
        );
        logarithms[0] += (after / before).ln() / list.len() as f64;
        logarithms[1] += (after / built_in).ln() / list.len() as f64;
    }
    let [before, built_in] = logarithms.map(f64::exp);
    println!("{:<18} {:>11} {:>11} {:>14} {before:>13.2} {built_in:>15.2}", "geometric mean", "", "", "");
    Ok(())
}

/// The median time with each of the limits.
fn times(gpu: &Gpu, work: &Value, limits: &[Limits], rounds: usize) -> Result<Vec<Duration>, Failure> {
    let dtype = table::dtype(&work["dtype"])?;
    let shapes = table::shapes(work, 1.0)?;
    let op = table::operation(work, dtype, &shapes)?;
    let inputs: Vec<Tensor> = shapes.iter().map(|shape| table::data(dtype, shape)).collect::<Result<_, _>>()?;
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let buffers = Buffers::new(gpu, &*op, &inputs)?;
    let resident = |limits: &Limits| Resident::planned(gpu, &op.plan(limits)?, &buffers);
    let residents: Vec<Resident> = limits.iter().map(resident).collect::<Result<_, _>>()?;
    let mut times = vec![Vec::new(); residents.len()];
    for round in 0..=rounds {
        for (own, times) in residents.iter().zip(&mut times) {
            let time = own.gpu_step()?.map_or_else(|| own.step(), Ok)?;
            if round > 0 {
                times.push(time); // the first run pays for what is made lazily
            }
        }
    }
    Ok(times.into_iter().map(table::median).collect())
}
