//! Calibration on a device: what the search asks for is timed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::{Bound, Kernels, Slots, buffer, catching, explain};
use crate::calibration::{Platform, Search, Trial};
use crate::error::within;
use crate::plan::Plan;
use crate::{AdapterKind, Calibration, Error, Tuning};

/// How long a calibration may take, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationOptions {
    /// The time after which the best so far is taken, 10 seconds. What is under way then is finished first: a pipeline
    /// that is being compiled, and one sample.
    pub budget: Duration,
    /// The tuning to begin with: the row of GPUs.
    pub start: Tuning,
}

impl Default for CalibrationOptions {
    fn default() -> CalibrationOptions {
        CalibrationOptions { budget: Duration::from_secs(10), start: Tuning::of(AdapterKind::Hardware) }
    }
}

/// How far a calibration is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationProgress {
    /// The time that it took so far.
    pub elapsed: Duration,
    /// The time that it may take.
    pub budget: Duration,
    /// Candidates that were timed.
    pub tried: usize,
    /// Those among them that were better.
    pub kept: usize,
    /// The best so far.
    pub tuning: Tuning,
}

/// The time of a batch.
const BATCH: Duration = Duration::from_millis(2);

/// A sample is the least of some batches, once another took hardly longer, or once it takes too long itself.
const HARDLY_LONGER: f64 = 1.05;
const LONG_SAMPLE: Duration = Duration::from_millis(60);

/// The most times that a batch runs a plan.
const MAX_REPEATS: u32 = 64;

/// How long the device works before anything is timed: clocks rise when they are asked to.
const WARMING: Duration = Duration::from_millis(200);

/// The bytes that inputs are spread over, more than caches hold, so that no run finds what the last one has read.
const INPUT_BYTES: u64 = 160 << 20;
const SCRATCH_BYTES: u64 = 8 << 20;

/// The plans that are kept ready.
const MOST_READY: usize = 100;

impl Kernels {
    /// Measures on this device which [`Tuning`] is fastest, from the GPUs' row on, and says now and then how far it is. What
    /// it compiles is dropped with it. The result goes to [`Kernels::tune`], now and whenever the program runs again.
    ///
    /// Nothing else should run on the device meanwhile; noise makes it miss what it could find, and does not make it find
    /// what is not there. It takes some 200 MiB of the device's memory. Like all that waits for the device, natively it
    /// blocks; for browsers the npm package has it.
    ///
    /// # Errors
    /// [`Error::InvalidTuning`] for a start out of range; those of [`Kernels::prepare`]; [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`] and [`Error::Gpu`] from the device.
    pub async fn calibrate(
        &self,
        queue: &wgpu::Queue,
        options: &CalibrationOptions,
        mut progress: impl FnMut(&CalibrationProgress),
    ) -> Result<Calibration, Error> {
        let begin = Instant::now();
        let mut search = Search::new(options.start, self.limits())?;
        let mut bench = Bench::new(self, queue).await?;
        while begin.elapsed() < options.budget {
            let Some(trial) = search.trial() else { break };
            search.timed(bench.sample(&search, trial).await?.as_secs_f64());
            progress(&CalibrationProgress {
                elapsed: begin.elapsed(),
                budget: options.budget,
                tried: search.tried(),
                kept: search.kept(),
                tuning: search.best(),
            });
        }
        Ok(search.calibration(Platform::of(self.device())))
    }

    /// [`Kernels::calibrate`], waiting for it.
    ///
    /// # Errors
    /// As there.
    pub fn calibrate_blocking(
        &self,
        queue: &wgpu::Queue,
        options: &CalibrationOptions,
        progress: impl FnMut(&CalibrationProgress),
    ) -> Result<Calibration, Error> {
        pollster::block_on(self.calibrate(queue, options, progress))
    }
}

/// Buffers on a device, and plans that are ready to run on them.
struct Bench<'a> {
    kernels: Kernels,
    queue: &'a wgpu::Queue,
    input: wgpu::Buffer,
    scratch: [wgpu::Buffer; 2],
    output: Option<wgpu::Buffer>,
    ready: HashMap<Trial, Ready>,
    /// How many runs there were: each reads another place.
    runs: usize,
    is_warm: bool,
}

/// A plan that reads one place or another, and how often a batch runs it.
struct Ready {
    bounds: Vec<Bound>,
    repeats: u32,
}

impl<'a> Bench<'a> {
    async fn new(kernels: &Kernels, queue: &'a wgpu::Queue) -> Result<Bench<'a>, Error> {
        let device = kernels.device();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let make = || {
            let input = buffer(device, "wgmax calibration input", INPUT_BYTES, usage);
            let elements = elements(1 << 20);
            for at in (0..INPUT_BYTES).step_by(elements.len()) {
                queue.write_buffer(&input, at, &elements);
            }
            Ok((input, [(); 2].map(|()| buffer(device, "wgmax calibration scratch", SCRATCH_BYTES, usage))))
        };
        let (input, scratch) = catching(device, make).await?;
        let (ready, kernels) = (HashMap::new(), kernels.without_pipelines());
        Ok(Bench { kernels, queue, input, scratch, output: None, ready, runs: 0, is_warm: false })
    }

    /// The time of one run.
    async fn sample(&mut self, search: &Search, trial: Trial) -> Result<Duration, Error> {
        self.make_ready(search, trial).await?;
        let begin = Instant::now();
        let mut least = self.batch(trial).await?;
        while begin.elapsed() < LONG_SAMPLE {
            let time = self.batch(trial).await?;
            let [lesser, longer] = [least.min(time), least.max(time)];
            least = lesser;
            if longer <= lesser.mul_f64(HARDLY_LONGER) {
                break;
            }
        }
        Ok(least)
    }

    /// Compiles what is not there yet, and runs it until it is known how often a batch takes it.
    async fn make_ready(&mut self, search: &Search, trial: Trial) -> Result<(), Error> {
        if self.ready.contains_key(&trial) {
            return Ok(());
        }
        if self.ready.len() >= MOST_READY {
            self.ready.clear();
        }
        let bounds = self.bounds(&search.plan(&trial)?).await?;
        self.ready.insert(trial, Ready { bounds, repeats: 1 });
        self.batch(trial).await?; // the first run pays for what is made lazily
        let warming = if self.is_warm { Duration::ZERO } else { WARMING };
        let begin = Instant::now();
        let mut once = self.batch(trial).await?;
        while begin.elapsed() < warming {
            once = self.batch(trial).await?;
        }
        self.is_warm = true;
        let repeats = BATCH.as_secs_f64() / once.as_secs_f64().max(1e-9);
        self.ready.entry(trial).and_modify(|own| own.repeats = (repeats.ceil() as u32).clamp(1, MAX_REPEATS));
        Ok(())
    }

    /// The plan, bound to one place of the input after another.
    async fn bounds(&mut self, plan: &Plan) -> Result<Vec<Bound>, Error> {
        let step = self.kernels.limits().binding_alignment_bytes.max(256);
        let sizes: Vec<u64> = plan.input_bytes.iter().map(|bytes| bytes.next_multiple_of(step)).collect();
        let given = sizes.iter().sum::<u64>();
        within("bytes of a probe's inputs, as far apart as bindings begin", given, INPUT_BYTES)?;
        let places = INPUT_BYTES / given.max(1);
        let prepared = self.kernels.prepare(plan).await?;
        let output_bytes = plan.output_bytes.iter().sum::<u64>();
        let device = self.kernels.device().clone();
        let make = || {
            let output = self.output(output_bytes);
            let scratch = self.scratch.each_ref().map(|scratch| scratch.slice(..));
            let mut at = 0;
            let mut slice = |&bytes: &u64| {
                at += bytes;
                self.input.slice(at - bytes..at)
            };
            let bind = |_| {
                let inputs: Vec<wgpu::BufferSlice> = sizes.iter().map(&mut slice).collect();
                prepared.bind(&Slots { inputs: &inputs, outputs: &[output.slice(..)], scratch: &scratch })
            };
            (0..places.clamp(1, 8)).map(bind).collect()
        };
        catching(&device, make).await
    }

    /// An output of at least so many bytes.
    fn output(&mut self, bytes: u64) -> wgpu::Buffer {
        let make = || buffer(self.kernels.device(), "wgmax calibration output", bytes, wgpu::BufferUsages::STORAGE);
        let output = self.output.take().filter(|output| output.size() >= bytes).unwrap_or_else(make);
        self.output = Some(output.clone());
        output
    }

    /// Records, submits and waits: the time of each run.
    async fn batch(&mut self, trial: Trial) -> Result<Duration, Error> {
        let Ready { bounds, repeats } = &self.ready[&trial];
        let repeats = *repeats;
        let device = self.kernels.device();
        let run = || {
            let begin = Instant::now();
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            for _ in 0..repeats {
                bounds[self.runs % bounds.len()].record(&mut encoder);
                self.runs += 1;
            }
            self.queue.submit([encoder.finish()]);
            let waited = device.poll(wgpu::PollType::wait_indefinitely());
            waited.map(|_| begin.elapsed() / repeats).map_err(|error| Error::Gpu { message: error.to_string() })
        };
        match catching(device, run).await {
            Ok(time) => Ok(time),
            Err(error) => Err(explain(device, error).await),
        }
    }
}

/// Bytes that are numbers of every type: floats in the range of 1 to 2 and their negatives.
fn elements(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = (state >> 32) as u32 & 0x807f_83ff | 0x3f80_3c00; // an f32, and two f16
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes
}
