//! How long an operation takes with the data on the device, beside memory's pace in the same minute.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use wgmax::{Gpu, Limits, Operation, Plan, Tensor, wgpu};

use super::median;
use super::read::Read;
use crate::common::{Buffers, Failure, Resident, gigabytes_per_second, least_bytes};

/// What was measured.
pub struct Pace {
    pub dispatches: usize,
    /// Each input read once, each output written once.
    pub bytes: u64,
    /// Record, submit and wait.
    pub median: Duration,
    /// The same work between two timestamps of the device's, where it has some.
    pub gpu_median: Option<Duration>,
    /// What is compared with the limit: the time by the device's clock on a GPU that has one, else the caller's.
    pub time: Duration,
    /// What as many bytes take at memory's pace.
    pub limit: Duration,
}

/// How to measure.
pub struct Timing {
    /// What plans are made for, one after the other: they are measured in turns, on the same buffers.
    pub limits: Vec<Limits>,
    /// Five turns, and more while seconds are left for each of the limits.
    pub seconds: f64,
    /// So many bytes lie between two uses of a buffer, if there are any: then caches hold nothing of it.
    pub rotated_bytes: u64,
}

/// The most copies of an operation's buffers.
const MOST_COPIES: u64 = 64;

/// How long a GPU works before anything is timed.
const WARMING: Duration = Duration::from_millis(50);

impl Timing {
    /// A pace for each of the limits.
    pub fn measure(&self, gpu: &Gpu, op: &dyn Operation, inputs: &[&Tensor]) -> Result<Vec<Pace>, Failure> {
        let plans = self.limits.iter().map(|limits| op.plan(limits)).collect::<Result<Vec<_>, _>>()?;
        gpu.kernels().prepare_all_blocking(&plans)?; // on all cores
        let bytes = least_bytes(op)?;
        let copies = self.rotated_bytes.div_ceil(bytes.max(1)).clamp(1, MOST_COPIES);
        let buffers = (0..copies).map(|_| Buffers::new(gpu, op, inputs)).collect::<Result<Vec<_>, _>>()?;
        let mut contestants =
            plans.iter().map(|plan| Contestant::new(gpu, plan, &buffers)).collect::<Result<Vec<_>, _>>()?;
        let mut limit = Limit::new(gpu, bytes)?;
        limit.warm()?;
        let (mut limits, mut turn, begin) = (Vec::new(), 0, Instant::now());
        let seconds = self.seconds * plans.len() as f64;
        while limits.len() < 5 || (begin.elapsed().as_secs_f64() < seconds && limits.len() < 500) {
            for own in &mut contestants {
                own.step(&mut turn)?;
            }
            limits.push(limit.step()?); // interleaved: the machine's pace drifts
        }
        let limit = median(limits);
        // A CPU that is the device has no other clock than the caller, and memory's pace was taken by that one.
        let is_cpu = gpu.info().device_type == wgpu::DeviceType::Cpu;
        Ok(contestants.into_iter().map(|own| own.pace(bytes, limit, is_cpu)).collect())
    }
}

/// A plan that is measured in turns with others.
struct Contestant<'a> {
    dispatches: usize,
    /// One for each copy of the buffers.
    residents: Vec<Resident<'a>>,
    times: Vec<Duration>,
    gpu_times: Vec<Duration>,
}

impl<'a> Contestant<'a> {
    fn new(gpu: &'a Gpu, plan: &Plan, buffers: &[Buffers]) -> Result<Contestant<'a>, Failure> {
        let residents = buffers.iter().map(|own| Resident::planned(gpu, plan, own)).collect::<Result<Vec<_>, _>>()?;
        residents.iter().try_for_each(|resident| resident.step().map(drop))?; // the first run pays for what is made lazily
        let dispatches = plan.dispatches.len();
        Ok(Contestant { dispatches, residents, times: Vec::new(), gpu_times: Vec::new() })
    }

    /// The turn is everybody's, so that each run finds buffers that were not used for long.
    fn step(&mut self, turn: &mut usize) -> Result<(), Failure> {
        let mut next = || {
            *turn += 1;
            &self.residents[*turn % self.residents.len()]
        };
        self.times.push(next().step()?);
        self.gpu_times.extend(next().gpu_step()?);
        Ok(())
    }

    fn pace(self, bytes: u64, limit: Duration, is_cpu: bool) -> Pace {
        let Contestant { dispatches, times, gpu_times, .. } = self;
        let callers = median(times);
        let gpu_median = (!gpu_times.is_empty()).then(|| median(gpu_times));
        let time = gpu_median.filter(|_| !is_cpu).unwrap_or(callers);
        Pace { dispatches, bytes, median: callers, gpu_median, time, limit }
    }
}

impl Pace {
    /// What a line of JSON says of it, beside what was measured: `row`, an object. The ratio is 1 where it is as fast as memory.
    pub fn with_figures(&self, mut row: Value) -> Value {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        row["dispatches"] = self.dispatches.into();
        row["bytes"] = self.bytes.into();
        row["median_ms"] = ms(self.median).into();
        row["gpu_median_ms"] = self.gpu_median.map(ms).into();
        row["gb_per_s"] = gigabytes_per_second(self.bytes, self.time).into();
        row["limit_gb_per_s"] = gigabytes_per_second(self.bytes, self.limit).into();
        row["ratio"] = (self.limit.as_secs_f64() / self.time.as_secs_f64()).into();
        row
    }
}

/// What as many bytes take at memory's pace.
enum Limit<'a> {
    /// The cores read them.
    Cores(Vec<u64>),
    /// The device does.
    Device(Read<'a>),
}

impl<'a> Limit<'a> {
    fn new(gpu: &'a Gpu, bytes: u64) -> Result<Limit<'a>, Failure> {
        Ok(match gpu.info().device_type {
            wgpu::DeviceType::Cpu => Limit::Cores(vec![1; bytes.div_ceil(8) as usize]),
            _ => Limit::Device(Read::new(gpu, bytes)?),
        })
    }

    /// Clocks of a GPU rise when they are asked to.
    fn warm(&mut self) -> Result<(), Failure> {
        match self {
            Limit::Cores(_) => Ok(()),
            Limit::Device(read) => read.work(WARMING),
        }
    }

    fn step(&mut self) -> Result<Duration, Failure> {
        match self {
            Limit::Cores(words) => {
                let begin = Instant::now();
                let cores = thread::available_parallelism()?.get();
                thread::scope(|scope| {
                    for part in words.chunks(words.len().div_ceil(cores)) {
                        scope.spawn(move || black_box(part.iter().fold(0, |a, b| a | b)));
                    }
                });
                Ok(begin.elapsed())
            }
            Limit::Device(read) => read.step(),
        }
    }
}
