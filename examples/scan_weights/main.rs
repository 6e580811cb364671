//! Scans a checkpoint's weights: the maximum of each tensor and of each of its channels, as quantisers need them, of
//! safetensors files of any size, in memory that does not grow with them.
//!
//! ```text
//! cargo run --release --features safetensors --example scan_weights [-- CHECKPOINT] [--memory MIB] [--json FILE] [--adapter NAME]
//! cargo run --release --features safetensors --example scan_weights -- --make FOLDER [--gib 4]
//! ```
//!
//! CHECKPOINT is a `.safetensors` file, an index of several, or a folder with either. `--make` makes one up and scans it;
//! with neither, a small one is made in `target`. A channel is what has one index of the first dimension; a tensor of
//! fewer than two dimensions is one channel. Each tensor is read once: the maximum of all channels' maxima is the tensor's.
//!
//! The table has, for each tensor, its maximum, where that lies, and a chart of its channels' maxima: each bar is the
//! greatest of as many channels as it stands for, beside the tensor's greatest number, and `N` one with a NaN. `--memory`
//! is about what a stream's buffers take. `--json` writes a line for each tensor, with all of its channels.

#[path = "../common/mod.rs"]
mod common;
mod make;
mod report;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::{Failure, gigabytes_per_second};
use make::Planted;
use report::Found;
use wgmax::checkpoint::{Checkpoint, StoredTensor};
use wgmax::{ArgMax, ArgMaxOutput, Gpu, GpuOptions, Operation, Progress, Stream, Tensor, View};

const USAGE: &str =
    "usage: scan_weights [CHECKPOINT | --make FOLDER [--gib N]] [--memory MIB] [--json FILE] [--adapter NAME]";

/// The default of `--memory`: small chunks are still in a cache when they are read, which counts on CPUs.
const MEMORY_MIB: u64 = 16;

/// A stream has three sets of buffers, each twice as large as a chunk and with room for its outputs.
const CHUNKS_IN_MEMORY: u64 = 8;

fn main() -> ExitCode {
    if common::wants_help() {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let scan = match Scan::from_args() {
        Ok(scan) => scan,
        Err(error) => return common::fail("scan_weights", 2, &error),
    };
    match scan.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => common::fail("scan_weights", 1, &error),
    }
}

struct Scan {
    gpu: Gpu,
    checkpoint: Checkpoint,
    /// What is known of a checkpoint that was made now.
    planted: Vec<Planted>,
    memory: u64,
    json: Option<PathBuf>,
}

/// What a scan took.
#[derive(Default)]
struct Cost {
    bytes: u64,
    time: Duration,
    /// The time spent waiting for the file.
    reading: Duration,
    /// The most that any stream's buffers took.
    buffers: u64,
}

impl Scan {
    fn from_args() -> Result<Scan, Failure> {
        let mut args = pico_args::Arguments::from_env();
        let path = |text: &std::ffi::OsStr| Ok::<_, String>(PathBuf::from(text));
        let adapter: Option<String> = args.opt_value_from_str("--adapter")?;
        let folder = args.opt_value_from_os_str("--make", path)?;
        let gib: Option<f64> = args.opt_value_from_str("--gib")?;
        let memory: u64 = args.opt_value_from_str("--memory")?.unwrap_or(MEMORY_MIB);
        let json = args.opt_value_from_os_str("--json", path)?;
        let rest = args.finish();
        let memory = memory.checked_mul(1 << 20).ok_or(format!("--memory {memory} is given, fewer MiB expected"))?;
        if let Some(gib) = gib.filter(|gib| folder.is_none() || !(0.0..1e6).contains(gib)) {
            return Err(
                format!("--gib {gib} is given, a number from 0 to a million beside --make expected; {USAGE}").into()
            );
        }
        let given = match rest.as_slice() {
            [] => None,
            [given] if folder.is_none() && !given.to_string_lossy().starts_with('-') => Some(PathBuf::from(given)),
            _ => return Err(format!("cannot make sense of {rest:?}; {USAGE}").into()),
        };
        let gpu = Gpu::new_blocking(&GpuOptions { adapter, ..Default::default() })?;
        println!("Running on {gpu}.");
        let mut planted = Vec::new();
        let path = match given {
            Some(path) => path,
            None => {
                let gib = gib.unwrap_or(if folder.is_some() { 4.0 } else { 0.05 });
                let folder = folder.unwrap_or_else(|| "target/scan_weights".into());
                planted = make::make(&folder, (gib * (1_u64 << 30) as f64) as u64)?;
                println!("Made {}.", folder.display());
                folder
            }
        };
        Ok(Scan { gpu, checkpoint: Checkpoint::open(path)?, planted, memory, json })
    }

    fn run(&self) -> Result<(), Failure> {
        let all: u64 = self.checkpoint.tensors().iter().map(|tensor| tensor.range().end - tensor.range().start).sum();
        let mut json = match &self.json {
            Some(path) => {
                Some(BufWriter::new(File::create(path).map_err(|error| format!("{}: {error}", path.display()))?))
            }
            None => None,
        };
        let (mut cost, mut bar) = (Cost::default(), Bar::new(all));
        report::heading();
        for tensor in self.checkpoint.tensors() {
            let found = self.scan(tensor, &mut cost, &mut bar)?;
            bar.clear();
            report::row(tensor, found.as_ref());
            if let (Some(json), Some(found)) = (&mut json, &found) {
                report::line(json, tensor, found)?;
            }
            if let Some(found) = &found {
                self.check(tensor, found)?;
            }
        }
        if let Some(json) = &mut json {
            json.flush()?;
        }
        self.summarise(&cost);
        Ok(())
    }

    /// The maxima of a tensor's channels, and of all of it; nothing where there are no elements, or of no type for them.
    fn scan(&self, tensor: &StoredTensor, cost: &mut Cost, bar: &mut Bar) -> Result<Option<Found>, Failure> {
        let Ok(dtype) = tensor.dtype() else { return Ok(None) };
        if tensor.shape().contains(&0) {
            return Ok(None); // the other sizes may be too large for a product
        }
        let len: u64 = tensor.shape().iter().product();
        let channels = if tensor.shape().len() > 1 { tensor.shape()[0] } else { 1 };
        let op = ArgMax::new(dtype, View::new([channels, len / channels])?)
            .axes([-1])
            .output(ArgMaxOutput::ValuesAndIndices);
        let begin = Instant::now();
        let mut source = Timed { reader: self.checkpoint.reader(tensor.name())?, time: Duration::ZERO };
        let before = cost.bytes;
        let stream = Stream::new_blocking(&self.gpu, op, self.memory / CHUNKS_IN_MEMORY)?;
        let mut stream =
            stream.on_progress(|progress: Progress| bar.show(before + progress.merged_bytes, tensor.name()));
        stream.read_from_blocking(&mut source)?;
        cost.buffers = cost.buffers.max(stream.buffer_bytes());
        cost.bytes += stream.total_bytes();
        let outputs = stream.finish_blocking()?;
        cost.time += begin.elapsed();
        cost.reading += source.time;
        Ok(Some(greatest(outputs, len / channels)?))
    }

    /// Whether a maximum is where it was planted.
    fn check(&self, tensor: &StoredTensor, found: &Found) -> Result<(), Failure> {
        match self.planted.iter().find(|planted| planted.name == tensor.name()) {
            Some(planted) if planted.position != found.position => {
                let (name, given, expected) = (tensor.name(), found.position, planted.position);
                Err(format!("{name}: the maximum was found at {given}, it lies at {expected}").into())
            }
            _ => Ok(()),
        }
    }

    fn summarise(&self, cost: &Cost) {
        let mib = |bytes: u64| bytes as f64 / (1 << 20) as f64;
        let [scan, file] = [cost.time, cost.reading].map(|time| gigabytes_per_second(cost.bytes, time));
        println!("\n{:.0} MiB in {:.2} s: {scan:.2} GB/s.", mib(cost.bytes), cost.time.as_secs_f64());
        println!("Waiting for the files took {:.2} s of it: they gave {file:.2} GB/s.", cost.reading.as_secs_f64());
        print!("Buffers of at most {:.0} MiB", mib(cost.buffers));
        match common::peak_memory() {
            Some(bytes) => println!(", the process {:.0} MiB at a time.", mib(bytes)),
            None => println!("."),
        }
        if !self.planted.is_empty() {
            println!("Each maximum lies where it was planted.");
        }
    }
}

/// Of channels' maxima and their positions, the tensor's: a maximum of maxima, by the same rules.
fn greatest(mut outputs: Vec<Tensor>, per_channel: u64) -> Result<Found, Failure> {
    let (positions, maxima) = (outputs.remove(1).to_vec::<i64>()?, outputs.remove(0));
    let op = ArgMax::new(maxima.dtype(), View::new(maxima.shape())?);
    let channel = op.reference(&[&maxima])?[0].to_vec::<i64>()?[0] as usize;
    let positions: Vec<u64> = (0..).zip(positions).map(|(n, position)| n * per_channel + position as u64).collect();
    Ok(Found { position: positions[channel], channel, maxima, positions })
}

/// A source, and the time that reading it takes.
struct Timed<R> {
    reader: R,
    time: Duration,
}

impl<R: Read> Read for Timed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let begin = Instant::now();
        let read = self.reader.read(buffer);
        self.time += begin.elapsed();
        read
    }
}

/// How far the scan is, on a terminal.
struct Bar {
    all: u64,
    begin: Instant,
    shown: bool,
}

impl Bar {
    const WIDTH: u64 = 30;

    fn new(all: u64) -> Bar {
        Bar { all, begin: Instant::now(), shown: io::stderr().is_terminal() }
    }

    fn show(&mut self, done: u64, name: &str) {
        if self.shown {
            let full = (Bar::WIDTH * done / self.all.max(1)) as usize;
            let (bar, rate) = ("█".repeat(full), gigabytes_per_second(done, self.begin.elapsed()));
            let percent = 100 * done / self.all.max(1);
            eprint!("\r\x1b[K{bar:░<30} {percent:3} %  {rate:.2} GB/s  {name}");
        }
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
