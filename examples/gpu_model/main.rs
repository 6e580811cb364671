//! A GPU on paper: what the plans for one ask of its memory, counted by running their shaders on paper, and how near that
//! comes to memory's pace. A prediction, of a model with six numbers for a device; nothing is measured.
//!
//! ```text
//! cargo run --release --example gpu_model [-- --workloads FILE] [--devices FILE] [--only NAME]...
//!                                         [--adapter NAME] [--limits JSON] [--json FILE]
//! ```
//!
//! Plans are for a GPU of WebGPU's default limits, or of an adapter's of this machine, but for what `--limits` says, as
//! `benches/workloads.rs` has it. Of each dispatch four workgroups are run, from the first to the last. What is printed of all
//! dispatches together:
//!
//! - `groups`, `MB in flight`: workgroups, and the bytes that wait if all run at once, of the dispatch that moves most.
//!   Memory of bandwidth B and latency L is kept busy by B L bytes: by 2 MB on an H100.
//! - `loads`, `stores`: of the sectors of 32 bytes that 32 invocations touch at once, the share that they ask for.
//! - `read`: the sectors that workgroups fetch, beside the bytes of the inputs.
//! - `barriers`: those that a workgroup meets.
//!
//! Then for each device of `devices.json` the predicted part of its bandwidth, and in parentheses what one perfect dispatch
//! of the same bytes attains. See `model.rs` for what the prediction is made of.

#[path = "../common/mod.rs"]
mod common;
mod model;
#[path = "../../tests/common/paper/mod.rs"]
#[allow(dead_code, unused_imports)] // the tests use more of it
mod paper;
#[path = "../../benches/table/mod.rs"]
mod table;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use common::Failure;
use model::{Device, Work};
use serde_json::{Value, json};
use table::{WORKLOADS, dtype, limits, operation, picked, shapes};
use wgmax::{AdapterKind, Gpu, GpuOptions, Limits};

const USAGE: &str = "usage: gpu_model [--workloads FILE] [--devices FILE] [--only NAME]...\n                 [--adapter NAME] [--limits JSON] [--json FILE]";

struct Options {
    workloads: Vec<Value>,
    devices: Vec<Device>,
    limits: Limits,
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => common::fail("gpu_model", 1, &error),
    }
}

fn options() -> Result<Options, Failure> {
    let mut args = pico_args::Arguments::from_env();
    let devices: Option<PathBuf> = args.opt_value_from_str("--devices")?;
    let devices = devices.map_or_else(|| Ok(include_str!("devices.json").to_string()), fs::read_to_string)?;
    let only: Vec<String> = args.values_from_str("--only")?;
    let workloads: String = args.opt_value_from_str("--workloads")?.unwrap_or_else(|| WORKLOADS.into());
    let workloads = fs::read(&workloads).map_err(|error| format!("{workloads}: {error}"))?;
    let workloads = picked(serde_json::from_slice(&workloads)?, &only)?;
    let device = match args.opt_value_from_str("--adapter")? {
        Some(name) => adapter_limits(name)?,
        None => model::gpu(),
    };
    let otherwise: Option<String> = args.opt_value_from_str("--limits")?;
    let options = Options {
        workloads,
        devices: Device::parse_all(&devices)?,
        limits: limits(&device, otherwise.as_deref())?,
        json: args.opt_value_from_str("--json")?,
    };
    match args.finish().as_slice() {
        [] => Ok(options),
        rest => Err(format!("cannot make sense of {rest:?}\n{USAGE}").into()),
    }
}

/// What a GPU of an adapter's limits has.
fn adapter_limits(name: String) -> Result<Limits, Failure> {
    let gpu = Gpu::new_blocking(&GpuOptions { adapter: Some(name), ..Default::default() })?;
    Ok(Limits { adapter: AdapterKind::Hardware, ..gpu.kernels().limits().clone() })
}

fn run(options: &Options) -> Result<(), Failure> {
    println!("Predicted, not measured: the part of memory's bandwidth, and in parentheses what is attainable.\n");
    print!("{:<20} {:>7} {:>10} {:>7} {:>9} {:>6} {:>6} {:>6} {:>8}", "", "", "", "", "MB in", "", "", "", "");
    println!("{}", options.devices.iter().map(|device| format!(" {:>13}", device.name)).collect::<String>());
    println!(
        "{:<20} {:>7} {:>10} {:>7} {:>9} {:>6} {:>6} {:>6} {:>8}",
        "workload", "MB", "dispatches", "groups", "flight", "loads", "stores", "read", "barriers"
    );
    let mut rows = Vec::new();
    for entry in &options.workloads {
        let name = entry["name"].as_str().unwrap_or("?");
        let work = counted(entry, &options.limits).map_err(|error| format!("{name}: {error}"))?;
        println!("{name:<20} {}", line(&work, &options.devices));
        rows.push(row(entry, &work, &options.devices));
    }
    match &options.json {
        Some(path) => Ok(fs::write(path, rows.iter().map(|row| format!("{row}\n")).collect::<String>())?),
        None => Ok(()),
    }
}

fn counted(entry: &Value, limits: &Limits) -> Result<Work, Failure> {
    let dtype = dtype(&entry["dtype"])?;
    Work::count(&*operation(entry, dtype, &shapes(entry, 1.0)?)?, limits)
}

fn line(work: &Work, devices: &[Device]) -> String {
    let main = work.main();
    let predicted = |device: &Device| {
        let (found, best) = (device.part(work), device.attainable(work));
        format!(" {:>13}", format!("{found:.2} ({best:.2})"))
    };
    format!(
        "{:>7.1} {:>10} {:>7} {:>9.2} {:>6.2} {:>6.2} {:>6.2} {:>8.0}{}",
        work.bytes as f64 / 1e6,
        work.dispatches.len(),
        main.groups,
        main.in_flight() / 1e6,
        work.loads().efficiency(),
        work.stores().efficiency(),
        work.times_read(),
        work.dispatches.iter().map(|own| own.traffic.barriers / own.traffic.groups as f64).sum::<f64>(),
        devices.iter().map(predicted).collect::<String>(),
    )
}

fn row(entry: &Value, work: &Work, devices: &[Device]) -> Value {
    let predicted = devices.iter().map(|device| {
        json!({
            "device": device.name,
            "ms": device.seconds(work) * 1e3,
            "part": device.part(work),
            "attainable": device.attainable(work),
        })
    });
    let main = work.main();
    json!({
        "name": entry["name"],
        "bytes": work.bytes,
        "dispatches": work.dispatches.len(),
        "groups": main.groups,
        "bytes_in_flight": main.in_flight(),
        "load_efficiency": work.loads().efficiency(),
        "store_efficiency": work.stores().efficiency(),
        "times_read": work.times_read(),
        "predicted": predicted.collect::<Vec<_>>(),
    })
}
