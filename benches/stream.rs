//! A tensor larger than memory, made on the fly, through a [`Stream`]: its pace beside that of its source alone and of a
//! chunk that stays on the device, and the most memory that the process had.
//!
//! ```text
//! cargo bench --bench stream -- [--gib 8] [--chunk-mib 8] [--source-pace GB/S] [--adapter NAME]
//! ```
//!
//! On an adapter that computes on the CPU, source, copies and shaders share its cores. `--source-pace` makes the source as slow
//! as a disk, which leaves them to the others.
//!
//! Maxima are planted at both ends and on both sides of an edge of chunks; the answers are checked against them.

#[path = "../examples/common/mod.rs"]
mod common;

use std::io::{self, IsTerminal, Read};
use std::time::{Duration, Instant};

use common::{Failure, Resident, gigabytes_per_second, peak_memory};
use wgmax::{AnyOperation, ArgMax, ArgMaxOutput, DType, Gpu, Operation, ReduceMax, Stream, Tensor, View};

/// The greatest f16; all others of the source are below 2.
const GREATEST: u16 = 0x7bff;

fn main() -> Result<(), Failure> {
    let mut args = pico_args::Arguments::from_env();
    args.contains("--bench"); // cargo says so
    let bytes = args.opt_value_from_str("--gib")?.unwrap_or(8_u64) << 30;
    let chunk_bytes = args.opt_value_from_str("--chunk-mib")?.unwrap_or(8_u64) << 20;
    let pace: Option<f64> = args.opt_value_from_str("--source-pace")?;
    let adapter: Option<String> = args.opt_value_from_str("--adapter")?;
    if let [first, ..] = args.finish().as_slice() {
        return Err(format!("cannot make sense of {first:?}").into());
    }
    if chunk_bytes == 0 || chunk_bytes > bytes / 2 {
        return Err(format!("--chunk-mib {}: from 1 to half of --gib expected", chunk_bytes >> 20).into());
    }
    let gpu = common::needed(adapter)?;
    let idle = peak_memory().unwrap_or(0);
    let source = source_pace(bytes.min(1 << 30), pace)?;
    println!("{} GiB of f16 in chunks of {} MiB; the source alone: {source:.2} GB/s", bytes >> 30, chunk_bytes >> 20);
    println!("{:<18} {:>10} {:>12} {:>14} {:>10}", "", "GB/s", "chunk GB/s", "of the slower", "buffers");
    let (len, chunk) = (bytes / 2, chunk_bytes / 2);
    let edge = len / 2 / chunk * chunk;
    for (name, op, planted, expected) in problems(len, edge)? {
        let resident = chunk_pace(&gpu, &op, chunk)?;
        let mut stream = Stream::new_blocking(&gpu, op, chunk_bytes)?.on_progress(show_progress());
        let buffers = stream.buffer_bytes();
        let begin = Instant::now();
        stream.read_from_blocking(&mut Source::new(bytes, planted, pace))?;
        let answer = stream.finish_blocking()?;
        let pace = gigabytes_per_second(bytes, begin.elapsed());
        let got = answer.last().ok_or("no output")?;
        if !expected.iter().all(|&(at, bytes)| got.bytes()[at..].starts_with(&bytes[..got.dtype().bytes() as usize])) {
            return Err(format!("{name}: a wrong answer").into());
        }
        let share = pace / resident.min(source);
        println!("{name:<18} {pace:>10.2} {resident:>12.2} {share:>14.2} {:>6} MiB", buffers >> 20);
    }
    let peak = peak_memory().unwrap_or(0);
    println!("memory: {} MiB at most, of them {} MiB before the streams", peak >> 20, idle >> 20);
    Ok(())
}

/// A name, an operation, where maxima are planted, and what the last output has at which of its bytes.
type Problem = (&'static str, AnyOperation, Vec<u64>, Vec<(usize, [u8; 8])>);

fn problems(len: u64, edge: u64) -> Result<Vec<Problem>, Failure> {
    let both = ArgMaxOutput::ValuesAndIndices;
    let all = View::new([len])?;
    let columns = View::new([len / 4096, 4096])?;
    let arg_max = ArgMax::new(DType::F16, all.clone()).output(both);
    let (last, wide) = (len - 1, |position: u64| position.to_le_bytes());
    Ok(vec![
        ("ReduceMax, begin", ReduceMax::new(DType::F16, all.clone()).into(), vec![0], vec![(0, wide(GREATEST.into()))]),
        ("ReduceMax, end", ReduceMax::new(DType::F16, all).into(), vec![last], vec![(0, wide(GREATEST.into()))]),
        ("ArgMax, first", arg_max.clone().into(), vec![edge - 1, edge, last], vec![(0, wide(edge - 1))]),
        ("ArgMax, last", arg_max.select_last(true).into(), vec![0, edge - 1, edge], vec![(0, wide(edge))]),
        (
            "ArgMax of columns",
            ArgMax::new(DType::F16, columns).axes([0]).output(both).into(),
            vec![0, edge - 1, edge, last],
            vec![(0, wide(0)), (8 * 4095, wide((edge - 1) / 4096))],
        ),
    ])
}

/// Random f16 numbers below 2, but for a few of the greatest.
struct Source {
    at: u64,
    end: u64,
    planted: Vec<u64>,
    /// When it began, and the gigabytes that it gives in a second at most.
    begin: Instant,
    pace: Option<f64>,
}

impl Source {
    fn new(bytes: u64, planted: Vec<u64>, pace: Option<f64>) -> Source {
        Source { at: 0, end: bytes, planted, begin: Instant::now(), pace }
    }

    fn wait(&self) {
        if let Some(pace) = self.pace {
            let due = self.begin + Duration::from_secs_f64(self.at as f64 / pace / 1e9);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min((self.end - self.at) as usize) / 8 * 8;
        let (buffer, begin) = (&mut buffer[..len], self.at);
        for (n, word) in buffer.chunks_exact_mut(8).enumerate() {
            let mixed = (begin + n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) & 0x3fff_3fff_3fff_3fff;
            word.copy_from_slice(&mixed.to_le_bytes());
        }
        for at in self.planted.iter().map(|element| 2 * element) {
            if (begin..begin + len as u64).contains(&at) {
                buffer[(at - begin) as usize..][..2].copy_from_slice(&GREATEST.to_le_bytes());
            }
        }
        self.at += len as u64;
        self.wait();
        Ok(len)
    }
}

fn source_pace(bytes: u64, pace: Option<f64>) -> Result<f64, Failure> {
    let mut buffer = vec![0; 1 << 20];
    let mut source = Source::new(bytes, vec![], pace);
    let begin = Instant::now();
    while source.read(&mut buffer)? > 0 {
        std::hint::black_box(&buffer);
    }
    Ok(gigabytes_per_second(bytes, begin.elapsed()))
}

/// The pace of the operation over so many elements that stay on the device, the median of some.
fn chunk_pace(gpu: &Gpu, op: &AnyOperation, len: u64) -> Result<f64, Failure> {
    let view = View::new([len / 4096, 4096])?;
    let both = ArgMaxOutput::ValuesAndIndices;
    let columns = op.outputs()?[0].len() > 1;
    let chunk: AnyOperation = match op {
        AnyOperation::ReduceMax(_) => ReduceMax::new(DType::F16, view).into(),
        _ if columns => ArgMax::new(DType::F16, view).axes([0]).output(both).into(),
        _ => ArgMax::new(DType::F16, view).output(both).into(),
    };
    let mut bytes = vec![0; 2 * len as usize];
    Source::new(2 * len, vec![], None).read_exact(&mut bytes)?;
    let tensor = Tensor::from_bytes(DType::F16, [len], bytes)?;
    let resident = Resident::new(gpu, &chunk, &[&tensor])?;
    let mut times = (0..25).map(|_| resident.step()).collect::<Result<Vec<Duration>, _>>()?;
    times.sort_unstable();
    Ok(gigabytes_per_second(2 * len, times[times.len() / 2]))
}

/// A line on a terminal, twice a second.
fn show_progress() -> impl FnMut(wgmax::Progress) {
    let (begin, mut shown) = (Instant::now(), 0);
    move |progress| {
        let now = begin.elapsed().as_millis() / 500;
        if now > shown && io::stderr().is_terminal() {
            shown = now;
            eprint!("\r{:3} %\r", 100 * progress.merged_bytes / progress.total_bytes.max(1));
        }
    }
}
