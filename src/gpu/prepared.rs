use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use super::kernels::Pipeline;
use crate::plan::{Binding, Plan, Slot};
use crate::{Error, Limits};

/// The buffers of one use of a plan, in the plan's order. A slice's offset must be a multiple of the device's
/// `min_storage_buffer_offset_alignment`; its size may exceed what is needed. Every buffer needs the usage `STORAGE`.
///
/// What is written (outputs and scratch) must not overlap anything else, and no dispatch may read and write one buffer:
/// keep outputs and scratch in other buffers than inputs, and each scratch in a buffer of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slots<'a> {
    /// At least [`Plan::input_bytes`] each.
    pub inputs: &'a [wgpu::BufferSlice<'a>],
    /// At least [`Plan::output_bytes`] each.
    pub outputs: &'a [wgpu::BufferSlice<'a>],
    /// At least [`Plan::scratch_bytes`] each; those that need 0 bytes may be left out at the end.
    pub scratch: &'a [wgpu::BufferSlice<'a>],
}

/// A plan with its pipelines and its parameters on the device. It never changes: it may be bound many times, to
/// different buffers, from several threads.
#[derive(Clone, Debug)]
pub struct Prepared(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: wgpu::Device,
    alignment_bytes: u64,
    plan: Plan,
    pipelines: Vec<Pipeline>,
    params: wgpu::Buffer,
    /// Where each pass's parameters lie.
    params_at: Vec<Range<u64>>,
}

impl Prepared {
    pub(super) fn new(device: &wgpu::Device, limits: &Limits, plan: &Plan, pipelines: Vec<Pipeline>) -> Prepared {
        let alignment = u64::from(device.limits().min_uniform_buffer_offset_alignment);
        let mut bytes = Vec::new();
        let mut params_at = Vec::new();
        for pass in &plan.passes {
            bytes.resize((bytes.len() as u64).next_multiple_of(alignment) as usize, 0);
            let begin = bytes.len() as u64;
            bytes.extend(pass.params.to_bytes());
            bytes.resize(bytes.len().next_multiple_of(16), 0); // uniform structs end at 16 bytes
            params_at.push(begin..bytes.len() as u64);
        }
        let params = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgmax parameters"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::UNIFORM,
            mapped_at_creation: true,
        });
        if let Ok(mut mapped) = params.get_mapped_range_mut(..) {
            mapped.copy_from_slice(&bytes);
        }
        params.unmap();
        Prepared(Arc::new(Inner {
            device: device.clone(),
            alignment_bytes: limits.binding_alignment_bytes,
            plan: plan.clone(),
            pipelines,
            params,
            params_at,
        }))
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.0.plan
    }

    /// Checks the buffers and makes the bind groups: what is left to do is recorded with no further checks and no
    /// allocation of ours.
    ///
    /// # Errors
    /// [`Error::WrongCount`], [`Error::BindingTooSmall`], [`Error::BindingMisaligned`], [`Error::BindingUsage`],
    /// [`Error::BindingOverlap`] or [`Error::BindingSharesBuffer`]: see [`Slots`].
    pub fn bind(&self, slots: &Slots<'_>) -> Result<Bound, Error> {
        let Inner { device, plan, pipelines, params, params_at, .. } = &*self.0;
        self.check(slots)?;
        let passes = plan.passes.iter().zip(pipelines).zip(params_at);
        let bind = |((pass, pipeline), at): ((&crate::plan::Pass, &Pipeline), &Range<u64>)| {
            let entry = |binding, buffer, offset, bytes| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset,
                    size: NonZeroU64::new(bytes),
                }),
            };
            let mut entries = vec![entry(0, params, at.start, at.end - at.start)];
            entries.extend(pass.bindings.iter().map(|b| {
                let slice = slots.get(b.slot);
                entry(b.binding, slice.buffer(), slice.offset() + b.offset_bytes, b.bytes)
            }));
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(&plan.label),
                layout: &pipeline.layout,
                entries: &entries,
            });
            BoundPass { pipeline: pipeline.pipeline.clone(), group, grid: pass.grid }
        };
        Ok(Bound { label: plan.label.clone(), passes: passes.map(bind).collect() })
    }

    /// [`bind`](Prepared::bind) and [`record`](Bound::record) in one, for buffers that are used once.
    ///
    /// # Errors
    /// Those of [`Prepared::bind`]; then nothing has been recorded.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, slots: &Slots<'_>) -> Result<(), Error> {
        self.bind(slots)?.record(encoder);
        Ok(())
    }

    fn check(&self, slots: &Slots<'_>) -> Result<(), Error> {
        let plan = &self.0.plan;
        let count = |what, given, expected| {
            if given == expected { Ok(()) } else { Err(Error::WrongCount { what, given, expected }) }
        };
        count("inputs", slots.inputs.len(), plan.input_bytes.len())?;
        count("outputs", slots.outputs.len(), plan.output_bytes.len())?;
        let scratch_needed = plan.scratch_bytes.iter().rposition(|&bytes| bytes > 0).map_or(0, |last| last + 1);
        let scratch_most = plan.scratch_bytes.len();
        count("scratch buffers", slots.scratch.len(), slots.scratch.len().clamp(scratch_needed, scratch_most))?;
        let used = used_slots(plan);
        used.iter().try_for_each(|&(slot, needed)| self.check_slot(slot, slots.get(slot), needed))?;
        for (i, &(written, bytes)) in used.iter().enumerate().filter(|(_, (slot, _))| !matches!(slot, Slot::Input(_))) {
            for &(other, other_bytes) in used.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, used)| used) {
                if overlap(slots.get(written), bytes, slots.get(other), other_bytes) {
                    return Err(Error::BindingOverlap { written: written.to_string(), other: other.to_string() });
                }
            }
        }
        for pass in &plan.passes {
            for written in pass.bindings.iter().filter(|b| b.writes) {
                let shares = |read: &&Binding| slots.get(read.slot).buffer() == slots.get(written.slot).buffer();
                if let Some(read) = pass.bindings.iter().filter(|b| !b.writes).find(shares) {
                    let (written, read) = (written.slot.to_string(), read.slot.to_string());
                    return Err(Error::BindingSharesBuffer { written, read });
                }
            }
        }
        Ok(())
    }

    fn check_slot(&self, slot: Slot, slice: &wgpu::BufferSlice<'_>, needed: u64) -> Result<(), Error> {
        let slot = || slot.to_string();
        if slice.size() < needed {
            return Err(Error::BindingTooSmall { slot: slot(), given: slice.size(), needed });
        }
        let alignment = self.0.alignment_bytes;
        if slice.offset() % alignment != 0 {
            return Err(Error::BindingMisaligned { slot: slot(), offset: slice.offset(), alignment });
        }
        if !slice.buffer().usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::BindingUsage { slot: slot() });
        }
        Ok(())
    }
}

/// The slots that a plan touches, with the bytes that it needs there.
fn used_slots(plan: &Plan) -> Vec<(Slot, u64)> {
    let inputs = plan.input_bytes.iter().enumerate().map(|(n, &bytes)| (Slot::Input(n), bytes));
    let outputs = plan.output_bytes.iter().enumerate().map(|(n, &bytes)| (Slot::Output(n), bytes));
    let scratch = plan.scratch_bytes.iter().enumerate().map(|(n, &bytes)| (Slot::Scratch(n), bytes));
    inputs.chain(outputs).chain(scratch).filter(|&(_, bytes)| bytes > 0).collect()
}

fn overlap(a: &wgpu::BufferSlice<'_>, a_bytes: u64, b: &wgpu::BufferSlice<'_>, b_bytes: u64) -> bool {
    a.buffer() == b.buffer() && a.offset() < b.offset() + b_bytes && b.offset() < a.offset() + a_bytes
}

impl Slots<'_> {
    fn get(&self, slot: Slot) -> &wgpu::BufferSlice<'_> {
        match slot {
            Slot::Input(n) => &self.inputs[n],
            Slot::Output(n) => &self.outputs[n],
            Slot::Scratch(n) => &self.scratch[n],
        }
    }
}

/// A prepared plan with its buffers: record it as often as you like, in any encoder of its device.
#[derive(Clone, Debug)]
pub struct Bound {
    label: String,
    passes: Vec<BoundPass>,
}

#[derive(Clone, Debug)]
struct BoundPass {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    grid: [u32; 3],
}

impl Bound {
    /// Records the dispatches into a compute pass of their own. Nothing is submitted.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.passes.is_empty() {
            return;
        }
        let descriptor = wgpu::ComputePassDescriptor { label: Some(&self.label), timestamp_writes: None };
        self.record_in_pass(&mut encoder.begin_compute_pass(&descriptor));
    }

    /// Records the dispatches into an open compute pass. They set its pipeline and its bind group 0.
    pub fn record_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        for bound in &self.passes {
            pass.set_pipeline(&bound.pipeline);
            pass.set_bind_group(0, &bound.group, &[]);
            pass.dispatch_workgroups(bound.grid[0], bound.grid[1], bound.grid[2]);
        }
    }
}
