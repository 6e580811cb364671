//! How long an operation takes with the data on the device, beside memory's pace in the same minute.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use wgmax::{Gpu, Limits, Operation, Tensor, wgpu};

use super::median;
use crate::common::{Failure, Resident, gigabytes_per_second, least_bytes, submitted};

/// What was measured.
pub struct Pace {
    pub dispatches: usize,
    /// Each input read once, each output written once.
    pub bytes: u64,
    /// Record, submit and wait.
    pub median: Duration,
    /// The same work between two timestamps of the device's, where it has some.
    pub gpu_median: Option<Duration>,
    /// What as many bytes take at memory's pace.
    pub limit: Duration,
}

/// How to measure.
pub struct Timing {
    /// What plans are made for.
    pub limits: Limits,
    /// Five runs, and more while seconds are left.
    pub seconds: f64,
    /// So many bytes lie between two uses of a buffer, if there are any: then caches hold nothing of it.
    pub rotated_bytes: u64,
}

/// The most copies of an operation's buffers.
const MOST_COPIES: u64 = 64;

impl Timing {
    pub fn measure(&self, gpu: &Gpu, op: &dyn Operation, inputs: &[&Tensor]) -> Result<Pace, Failure> {
        let plan = op.plan(&self.limits)?;
        let bytes = least_bytes(op)?;
        let copies = self.rotated_bytes.div_ceil(bytes.max(1)).clamp(1, MOST_COPIES);
        let copy = |_| Resident::planned(gpu, op, &plan, inputs);
        let residents = (0..copies).map(copy).collect::<Result<Vec<_>, _>>()?;
        let limit = Limit::new(gpu, bytes);
        residents.iter().try_for_each(|resident| resident.step().map(drop))?; // the first run pays for what is made lazily
        let (mut times, mut gpu_times, mut limits) = (Vec::new(), Vec::new(), Vec::new());
        let begin = Instant::now();
        let mut turns = residents.iter().cycle();
        while times.len() < 5 || (begin.elapsed().as_secs_f64() < self.seconds && times.len() < 500) {
            let mut next = || turns.next().unwrap_or(&residents[0]);
            times.push(next().step()?);
            gpu_times.extend(next().gpu_step()?);
            limits.push(limit.step(gpu)?); // interleaved: the machine's pace drifts
        }
        Ok(Pace {
            dispatches: plan.dispatches.len(),
            bytes,
            median: median(times),
            gpu_median: (!gpu_times.is_empty()).then(|| median(gpu_times)),
            limit: median(limits),
        })
    }
}

impl Pace {
    pub fn gb_per_s(&self) -> f64 {
        gigabytes_per_second(self.bytes, self.median)
    }

    pub fn limit_gb_per_s(&self) -> f64 {
        gigabytes_per_second(self.bytes, self.limit)
    }

    /// 1 where it is as fast as memory.
    pub fn ratio(&self) -> f64 {
        self.limit.as_secs_f64() / self.median.as_secs_f64()
    }
}

/// Memory's pace for a number of bytes.
enum Limit {
    /// The cores read them.
    Read(Vec<u64>),
    /// The device copies half of them: each is read and written.
    Copy(wgpu::Buffer, wgpu::Buffer),
}

impl Limit {
    fn new(gpu: &Gpu, bytes: u64) -> Limit {
        if gpu.info().device_type == wgpu::DeviceType::Cpu {
            return Limit::Read(vec![1; bytes.div_ceil(8) as usize]);
        }
        let buffer = |usage| {
            let size = (bytes / 2).next_multiple_of(4).max(4);
            gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        Limit::Copy(buffer(wgpu::BufferUsages::COPY_SRC), buffer(wgpu::BufferUsages::COPY_DST))
    }

    fn step(&self, gpu: &Gpu) -> Result<Duration, Failure> {
        match self {
            Limit::Read(words) => {
                let begin = Instant::now();
                let cores = thread::available_parallelism()?.get();
                thread::scope(|scope| {
                    for part in words.chunks(words.len().div_ceil(cores)) {
                        scope.spawn(move || black_box(part.iter().fold(0, |a, b| a | b)));
                    }
                });
                Ok(begin.elapsed())
            }
            Limit::Copy(from, to) => {
                submitted(gpu, |encoder| encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size()))
            }
        }
    }
}
