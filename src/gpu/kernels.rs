use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
#[cfg(not(target_arch = "wasm32"))]
use std::{
    iter, panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use super::prepared::Pipeline;
use super::{Prepared, catching, explain};
use crate::calibration::Platform;
use crate::plan::{Kernel, Plan};
use crate::{Calibration, Error, Limits};

/// A device's pipelines, compiled when first needed and shared by every plan that has the same kernel, whatever its
/// shapes.
///
/// Make one for each device and keep it; it may be used from several threads. Cloning it gives another handle to the
/// same pipelines.
#[derive(Clone, Debug)]
pub struct Kernels {
    device: wgpu::Device,
    limits: Limits,
    cache: Option<wgpu::PipelineCache>,
    pipelines: Arc<Mutex<HashMap<Kernel, Arc<Place>>>>,
}

/// A kernel's place: compiled by whoever comes first, while others wait for this kernel and no other.
#[derive(Debug)]
struct Place {
    pipeline: OnceLock<Pipeline>,
    turn: futures_intrusive::sync::Mutex<()>,
}

impl Kernels {
    /// No pipelines yet. The device needs no optional feature, and no limit above WebGPU's defaults; on lavapipe
    /// `Features::SHADER_INT64` saves a sixth of the time.
    pub fn new(device: &wgpu::Device) -> Kernels {
        Kernels { device: device.clone(), limits: Limits::from(device), cache: None, pipelines: Arc::default() }
    }

    /// The same with a pipeline cache of the caller's, which every pipeline is compiled through. A backend that has
    /// such caches (Vulkan; the device needs `Features::PIPELINE_CACHE`) then compiles faster when the program runs
    /// again; [`wgpu::PipelineCache::get_data`] gives what to keep until then.
    ///
    /// Making a cache is the caller's part because it is `unsafe`: whoever does it vouches for the data.
    ///
    /// ```
    /// # use wgmax::{DType, Gpu, GpuOptions, Kernels, Operation, ReduceMax, View, wgpu};
    /// # let features = wgpu::Features::PIPELINE_CACHE;
    /// # let Ok(gpu) = Gpu::new_blocking(&GpuOptions { features, ..Default::default() }) else { return Ok(()) };
    /// # if !gpu.device().features().contains(features) { return Ok(()) }
    /// # let (device, kept) = (gpu.device(), None);
    /// let descriptor = wgpu::PipelineCacheDescriptor { label: None, data: kept, fallback: true };
    /// // SAFETY: `kept` is what `get_data` gave once, from a file that nobody else writes.
    /// let cache = unsafe { device.create_pipeline_cache(&descriptor) };
    /// let kernels = Kernels::with_cache(device, &cache);
    /// # let plan = ReduceMax::new(DType::F32, View::new([64])?).plan(kernels.limits())?;
    /// # kernels.prepare_blocking(&plan)?;
    /// # assert!(cache.get_data().is_some_and(|data| !data.is_empty()));
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    pub fn with_cache(device: &wgpu::Device, cache: &wgpu::PipelineCache) -> Kernels {
        Kernels { cache: Some(cache.clone()), ..Kernels::new(device) }
    }

    /// Takes the tuning of a calibration that was made on this device: [`Kernels::limits`] has it from now on. Clones of
    /// this handle, and plans that are there already, stay as they are.
    ///
    /// ```no_run
    /// # use wgmax::{Calibration, CalibrationOptions, Gpu, GpuOptions};
    /// # let gpu = Gpu::new_blocking(&GpuOptions::default())?;
    /// # let mut kernels = gpu.kernels().clone();
    /// # let kept: Option<Calibration> = None; // read from where it was kept
    /// let calibration = match kept.filter(|kept| kernels.tune(kept).is_ok()) {
    ///     Some(calibration) => calibration,
    ///     None => kernels.calibrate_blocking(gpu.queue(), &CalibrationOptions::default(), |_| ())?,
    /// };
    /// kernels.tune(&calibration)?;
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::StaleCalibration`] if it was made on another adapter, driver or version of the kernels;
    /// [`Error::InvalidTuning`] if a number of it is out of range. Nothing is changed then.
    pub fn tune(&mut self, calibration: &Calibration) -> Result<(), Error> {
        self.limits.tuning = Some(calibration.tuning_on(&Platform::of(&self.device))?);
        Ok(())
    }

    /// The same device with no pipelines yet.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn without_pipelines(&self) -> Kernels {
        Kernels { pipelines: Arc::default(), ..self.clone() }
    }

    /// What plans for this device need to know of it.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// How many pipelines have been compiled.
    pub fn pipeline_count(&self) -> usize {
        let known = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().filter(|place| place.pipeline.get().is_some()).count()
    }

    /// Compiles what the plan needs and is not there yet, and makes its parameter buffer. Nothing goes through the
    /// queue. Several threads compile different kernels at once, and none twice.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::BindingMisaligned`] or [`Error::MissingFeature`] for a plan that was made for
    /// another device's limits, [`Error::InvalidPlan`] for one that contradicts itself; [`Error::Gpu`] or
    /// [`Error::OutOfMemory`] if the device refuses a shader, a pipeline or the buffer; [`Error::DeviceLost`] if it is
    /// gone.
    pub async fn prepare(&self, plan: &Plan) -> Result<Prepared, Error> {
        plan.check(&self.limits)?;
        let prepared = self.prepare_checked(plan).await;
        match prepared {
            Err(error) => Err(explain(&self.device, error).await),
            prepared => prepared,
        }
    }

    async fn prepare_checked(&self, plan: &Plan) -> Result<Prepared, Error> {
        let mut pipelines = Vec::with_capacity(plan.dispatches.len());
        for pass in &plan.dispatches {
            pipelines.push(self.pipeline(&pass.kernel).await?);
        }
        catching(&self.device, || Prepared::new(&self.device, &self.limits, plan, pipelines)).await
    }

    /// [`Kernels::prepare`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_blocking(&self, plan: &Plan) -> Result<Prepared, Error> {
        pollster::block_on(self.prepare(plan))
    }

    /// [`Kernels::prepare`] for many plans at once, on all cores: at a start, so that nothing is compiled later.
    ///
    /// # Errors
    /// Those of [`Kernels::prepare`]; of several, the first plan's. What was compiled until then is kept.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_all_blocking(&self, plans: &[Plan]) -> Result<Vec<Prepared>, Error> {
        let next = AtomicUsize::new(0);
        let some = || {
            let plans = iter::from_fn(|| {
                let n = next.fetch_add(1, Ordering::Relaxed);
                plans.get(n).map(|plan| (n, plan))
            });
            plans.map(|(n, plan)| (n, self.prepare_blocking(plan))).collect::<Vec<_>>()
        };
        let cores = thread::available_parallelism().map_or(1, usize::from).min(plans.len());
        let mut prepared = thread::scope(|scope| {
            let others: Vec<_> = (1..cores).map(|_| scope.spawn(some)).collect();
            let mut all = some();
            for other in others {
                all.extend(other.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
            }
            all
        });
        prepared.sort_by_key(|(n, _)| *n);
        prepared.into_iter().map(|(_, own)| own).collect()
    }

    async fn pipeline(&self, kernel: &Kernel) -> Result<Pipeline, Error> {
        let place = self.place(kernel);
        if let Some(pipeline) = place.pipeline.get() {
            return Ok(pipeline.clone());
        }
        let _turn = place.turn.lock().await;
        if let Some(pipeline) = place.pipeline.get() {
            return Ok(pipeline.clone());
        }
        let make = || Ok(compile(&self.device, kernel, self.cache.as_ref()));
        let pipeline = catching(&self.device, make).await?; // whoever comes next tries again
        Ok(place.pipeline.get_or_init(|| pipeline).clone())
    }

    fn place(&self, kernel: &Kernel) -> Arc<Place> {
        let mut known = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        let empty = || Place { pipeline: OnceLock::new(), turn: futures_intrusive::sync::Mutex::new((), true) };
        match known.get(kernel) {
            Some(place) => place.clone(),
            None => known.entry(kernel.clone()).or_insert_with(|| Arc::new(empty())).clone(),
        }
    }
}

fn compile(device: &wgpu::Device, kernel: &Kernel, cache: Option<&wgpu::PipelineCache>) -> Pipeline {
    let label = format!("wgmax {kernel}");
    let entry = |binding, ty, least| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: least },
        count: None,
    };
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, None)];
    entries.extend(kernel.bindings().iter().map(|own| {
        let storage = wgpu::BufferBindingType::Storage { read_only: !own.read_write };
        entry(own.binding, storage, NonZeroU64::new(own.element_bytes))
    }));
    let layout =
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(&label), entries: &entries });
    let module = shader_module(device, &label, kernel);
    let constants: Vec<(&str, f64)> = kernel.constants().map(|(name, value)| (name, value.into())).collect();
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&label),
        layout: Some(&device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(&label),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        })),
        module: &module,
        entry_point: Some(Kernel::ENTRY_POINT),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &constants,
            zero_initialize_workgroup_memory: false, // every kernel writes what it reads
        },
        cache,
    });
    Pipeline { pipeline, layout }
}

/// Without wgpu's counting of how often each loop goes round, which costs SwiftShader a twelfth of all time (docs/tuning.md).
/// All other checks stay. The kernel is one of a plan that [`Plan::check`] has passed.
#[expect(unsafe_code, reason = "a measurement pays for it, and a test keeps the promise")]
fn shader_module(device: &wgpu::Device, label: &str, kernel: &Kernel) -> wgpu::ShaderModule {
    let text = wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(Cow::Owned(kernel.wgsl())),
    };
    let checks = wgpu::ShaderRuntimeChecks { force_loop_bounding: false, ..wgpu::ShaderRuntimeChecks::checked() };
    // SAFETY: what wgpu asks for in return is that no loop is infinite, and no loop of ours is, whatever the parameters
    // and the buffers hold. The text is put together from this crate's own shaders. Of every kernel that there is,
    // tests/shaders holds that what a loop counts climbs by a constant to a bound that no step leaps over, or is halved
    // to 0: with the overrides that steps are made of at their largest, which Plan::check allows, and at their defaults.
    unsafe { device.create_shader_module_trusted(text, checks) }
}
