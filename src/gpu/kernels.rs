use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Prepared, Scopes};
use crate::plan::{Binding, Kernel, Pass, Plan};
use crate::{Error, Limits};

/// A device's pipelines, compiled when first needed and shared by every plan that has the same kernel, whatever its
/// shapes.
///
/// Make one for each device and keep it; it may be used from several threads. Cloning it gives another handle to the
/// same pipelines.
#[derive(Clone, Debug)]
pub struct Kernels {
    device: wgpu::Device,
    limits: Limits,
    pipelines: Arc<Mutex<HashMap<Kernel, Pipeline>>>,
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

impl Kernels {
    /// No pipelines yet. The device needs no optional feature, and no limit above WebGPU's defaults.
    pub fn new(device: &wgpu::Device) -> Kernels {
        Kernels { device: device.clone(), limits: Limits::from(device), pipelines: Arc::default() }
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
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Compiles what the plan needs and is not there yet, and makes its parameter buffer. Nothing goes through the
    /// queue.
    ///
    /// # Errors
    /// [`Error::TooLarge`] or [`Error::BindingMisaligned`] for a plan that was made for larger limits than the
    /// device's, [`Error::InvalidPlan`] for one that contradicts itself; [`Error::Gpu`] or [`Error::OutOfMemory`] if the
    /// device refuses a shader, a pipeline or the buffer.
    pub async fn prepare(&self, plan: &Plan) -> Result<Prepared, Error> {
        plan.check(&self.limits)?;
        let scopes = Scopes::push(&self.device);
        let pipelines: Vec<Pipeline> = plan.passes.iter().map(|pass| self.pipeline(pass)).collect();
        let prepared = Prepared::new(&self.device, &self.limits, plan, pipelines);
        let outcome = scopes.pop().await;
        if outcome.is_err() {
            let mut known = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
            plan.passes.iter().for_each(|pass| drop(known.remove(&pass.kernel)));
        }
        outcome.map(|()| prepared)
    }

    /// [`Kernels::prepare`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_blocking(&self, plan: &Plan) -> Result<Prepared, Error> {
        pollster::block_on(self.prepare(plan))
    }

    fn pipeline(&self, pass: &Pass) -> Pipeline {
        let mut known = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        let compile = || compile(&self.device, &pass.kernel, &pass.bindings);
        match known.get(&pass.kernel) {
            Some(pipeline) => pipeline.clone(),
            None => known.entry(pass.kernel.clone()).or_insert_with(compile).clone(),
        }
    }
}

fn compile(device: &wgpu::Device, kernel: &Kernel, bindings: &[Binding]) -> Pipeline {
    let label = format!("wgmax {kernel}");
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
    let storage = |b: &Binding| entry(b.binding, wgpu::BufferBindingType::Storage { read_only: !b.writes });
    entries.extend(bindings.iter().map(storage));
    let layout =
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(&label), entries: &entries });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&label),
        source: wgpu::ShaderSource::Wgsl(Cow::Owned(kernel.wgsl())),
    });
    let constants: Vec<(&str, f64)> = kernel.constants.iter().map(|c| (c.name(), c.value().into())).collect();
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
        cache: None,
    });
    Pipeline { pipeline, layout }
}
