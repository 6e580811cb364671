//! The workloads of `workloads.json`, shapes of real models, on one adapter: median time of record + submit + wait with
//! the data on the device, beside the pace of memory measured in the same run.
//!
//! ```text
//! cargo bench --bench workloads -- [--workloads FILE] [--adapter NAME] [--only NAME]... [--scale F] [--seconds S]
//!                                  [--json FILE] [--table workloads|sizes|orders|neighbours|ceilings]
//!                                  [--limits JSON]... [--rotate MIB]
//! ```
//!
//! `--table sizes` times one maximum (and its position) of 1 MiB to 1 GiB, or to what one buffer holds: time should grow
//! with the bytes. `--table orders` reduces each axis of one tensor in turn: none should be slow. `--table neighbours` gives one
//! dimension one size after another, around those at which other kernels are chosen, and says where the time of a byte jumps
//! most: by more than 2 is a cliff. `--table ceilings` times no operation, but what bounds all of them: memory's pace for a read and
//! for a copy, and what one, two and three dispatches cost that wait for one another.
//!
//! `--limits` says what of the device's limits is otherwise, such as `'{"shared_buffers": true}'` or
//! `'{"tuning": {"group": 64}}'`; it takes the feature `serde`. Given more than once, each workload is measured with one after
//! the other, in turns.
//! `--rotate` takes buffers in turn, so that so many MiB lie between two uses of one: more than a cache holds.
//!
//! `bytes` are the fewest: each input read once, each output written once. The limit is what the same number of bytes
//! takes at memory's pace: on a CPU adapter a read by all cores with vector instructions, on a GPU a plain read of what no
//! cache holds, both by the device's clock where it has one.

#[path = "../examples/common/mod.rs"]
mod common;
mod table;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use common::Failure;
use serde_json::{Value, json};
use table::ceilings::ceilings;
use table::pace::{Pace, Timing};
use table::{WORKLOADS, data, dtype, limits, operation, picked, shapes};
use wgmax::{Gpu, Tensor};

struct Options {
    workloads: PathBuf,
    adapter: Option<String>,
    only: Vec<String>,
    scale: f64,
    seconds: f64,
    json: Option<PathBuf>,
    table: String,
    limits: Vec<String>,
    rotated_bytes: u64,
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    let gpu = common::needed(options.adapter.clone())?;
    let list: Vec<Value> = match options.table.as_str() {
        "workloads" => serde_json::from_slice(&fs::read(&options.workloads)?)?,
        "sizes" => sizes(gpu.device().limits().max_buffer_size),
        "orders" => orders(),
        "neighbours" => neighbours(),
        "ceilings" => vec![],
        other => return Err(format!("no table {other:?}: workloads, sizes, orders, neighbours or ceilings").into()),
    };
    let list = picked(list, &options.only)?;
    let mut json = options.json.as_ref().map(fs::File::create).transpose()?;
    if options.table == "ceilings" {
        let rows = ceilings(&gpu)?;
        return json.map_or(Ok(()), |mut file| rows.iter().try_for_each(|row| Ok(writeln!(file, "{row}")?)));
    }
    println!(
        "{:<20} {:>10} {:>9} {:>10} {:>10} {:>8} {:>8} {:>6}",
        "name", "dispatches", "MB", "median ms", "on the GPU", "GB/s", "limit", "ratio"
    );
    let mut rows = Vec::new();
    for work in &list {
        let name = work["name"].as_str().unwrap_or("?");
        eprint!("{name} …\r"); // this can take a while
        for row in time(&gpu, work, &options).map_err(|error| format!("{name}: {error}"))? {
            print_row(&row);
            if let Some(file) = &mut json {
                writeln!(file, "{row}")?;
            }
            rows.push(row);
        }
    }
    if options.table == "neighbours" {
        print_jumps(&rows);
    }
    Ok(())
}

fn options() -> Result<Options, Failure> {
    let mut args = pico_args::Arguments::from_env();
    args.contains("--bench"); // cargo says so
    let options = Options {
        workloads: args.opt_value_from_str("--workloads")?.unwrap_or_else(|| WORKLOADS.into()),
        adapter: args.opt_value_from_str("--adapter")?,
        only: args.values_from_str("--only")?,
        scale: args.opt_value_from_str("--scale")?.unwrap_or(1.0),
        seconds: args.opt_value_from_str("--seconds")?.unwrap_or(1.0),
        json: args.opt_value_from_str("--json")?,
        limits: args.values_from_str("--limits")?,
        rotated_bytes: args.opt_value_from_str::<_, u64>("--rotate")?.unwrap_or(0) << 20,
        table: args.opt_value_from_str("--table")?.unwrap_or_else(|| "workloads".into()),
    };
    match args.finish().as_slice() {
        [] => Ok(options),
        rest => Err(format!("cannot make sense of {rest:?}").into()),
    }
}

/// One maximum and one position of 1 MiB, 2 MiB and so on, as far as a buffer goes.
fn sizes(most_bytes: u64) -> Vec<Value> {
    let sizes = (0..=10).map(|n| 1_u64 << n).filter(|mib| mib << 20 <= most_bytes);
    let rows = |mib: u64| {
        let shapes = [[mib << 18]];
        [
            json!({"name": format!("reduce_max_{mib}_mib"), "op": "ReduceMax", "dtype": "float32", "shapes": shapes, "axes": [0]}),
            json!({"name": format!("arg_max_{mib}_mib"), "op": "ArgMax", "dtype": "float32", "shapes": shapes, "axis": 0}),
        ]
    };
    sizes.flat_map(rows).collect()
}

/// Maxima of one tensor over each of its axes, and over each but one.
fn orders() -> Vec<Value> {
    let cases =
        [("0", vec![0]), ("1", vec![1]), ("2", vec![2]), ("01", vec![0, 1]), ("02", vec![0, 2]), ("12", vec![1, 2])];
    let rows = cases.into_iter().flat_map(|(name, axes)| {
        ["float32", "float16"].map(|dtype| {
            let shapes = [[256, 256, 128]];
            json!({"name": format!("{dtype}_axes_{name}"), "op": "ReduceMax", "dtype": dtype, "shapes": shapes, "axes": axes})
        })
    });
    rows.collect()
}

/// Tensors of 4 MiB of which one dimension has one size after another: rows of so many elements, so many rows of columns, so
/// many columns.
fn neighbours() -> Vec<Value> {
    const SIZES: [u64; 29] = [
        2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 34, 47, 48, 49, 63, 64, 65, 127, 128, 129, 1023, 1024,
        1025,
    ];
    let mut list = Vec::new();
    for (dtype, bytes) in [("float32", 4), ("float16", 2), ("uint8", 1)] {
        let elements = (4 << 20) / bytes;
        for op in ["ReduceMax", "ArgMax", "Hardmax"] {
            for kind in ["rows of", "columns of", "rows of columns:"] {
                list.extend(SIZES.iter().map(|&n| {
                    let (shape, axis) = match kind {
                        "rows of" => (vec![elements / n, n], 1),
                        "columns of" => (vec![4, n, elements / 4 / n], 1),
                        _ => (vec![elements / 64 / n, 64, n], 1),
                    };
                    let name = format!("{op} {dtype} {kind} {n}");
                    json!({"name": name, "op": op, "dtype": dtype, "shapes": [shape], "axis": axis, "axes": [axis]})
                }));
            }
        }
    }
    list
}

/// The ten greatest differences between the times of a byte of a size and of the next one.
fn print_jumps(rows: &[Value]) {
    let series =
        |row: &Value| row["name"].as_str().and_then(|name| name.rsplit_once(' ')).map(|(kind, _)| kind.to_string());
    let pace = |row: &Value| row["gb_per_s"].as_f64().unwrap_or(0.0);
    let pairs = rows.windows(2).filter(|pair| series(&pair[0]) == series(&pair[1]));
    let mut jumps: Vec<(f64, &[Value])> =
        pairs.map(|pair| ((pace(&pair[0]) / pace(&pair[1])).ln().abs().exp(), pair)).collect();
    jumps.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("\nthe greatest jumps, of {} from one size to the next", jumps.len());
    for (jump, pair) in jumps.iter().take(10) {
        let side = |row: &Value| format!("{} ({:.2} GB/s)", row["name"].as_str().unwrap_or("?"), pace(row));
        println!("{jump:5.2}  {} and {}", side(&pair[0]), side(&pair[1]));
    }
}

fn print_row(row: &Value) {
    println!(
        "{:<20} {:>10} {:>9.2} {:>10.3} {:>10} {:>8.2} {:>8.2} {:>6.2}  {}",
        row["name"].as_str().unwrap_or("?"),
        row["dispatches"].as_u64().unwrap_or(0),
        row["bytes"].as_f64().unwrap_or(0.0) / 1e6,
        row["median_ms"].as_f64().unwrap_or(0.0),
        row["gpu_median_ms"].as_f64().map_or("-".into(), |ms| format!("{ms:.3}")),
        row["gb_per_s"].as_f64().unwrap_or(0.0),
        row["limit_gb_per_s"].as_f64().unwrap_or(0.0),
        row["ratio"].as_f64().unwrap_or(0.0),
        row["limits"].as_str().unwrap_or(""),
    );
}

/// A row for each of the limits.
fn time(gpu: &Gpu, work: &Value, options: &Options) -> Result<Vec<Value>, Failure> {
    let dtype = dtype(&work["dtype"])?;
    let shapes = shapes(work, options.scale)?;
    let op = operation(work, dtype, &shapes)?;
    let inputs: Vec<Tensor> = shapes.iter().map(|shape| data(dtype, shape)).collect::<Result<_, _>>()?;
    let otherwise: Vec<Option<&str>> = match options.limits.as_slice() {
        [] => vec![None],
        given => given.iter().map(|given| Some(given.as_str())).collect(),
    };
    let device = gpu.kernels().limits();
    let timing = Timing {
        limits: otherwise.iter().map(|given| limits(device, *given)).collect::<Result<_, _>>()?,
        seconds: options.seconds,
        rotated_bytes: options.rotated_bytes,
    };
    let paces = timing.measure(gpu, &*op, &inputs.iter().collect::<Vec<_>>())?;
    let row = |(pace, limits): (Pace, Option<&str>)| {
        pace.with_figures(json!({
            "name": work["name"],
            "op": work["op"],
            "dtype": work["dtype"],
            "shapes": shapes,
            "limits": limits,
            "adapter": gpu.info().name,
        }))
    };
    Ok(paces.into_iter().zip(otherwise).map(row).collect())
}
