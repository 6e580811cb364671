use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use crate::plan::{Plan, Slot};
use crate::{Error, Limits};

/// The buffers of one use of a plan, in the plan's order. A slice's offset must be a multiple of the device's
/// `min_storage_buffer_offset_alignment` (a [`View`](crate::View)'s own offset may be anything); its size may exceed what is
/// needed. Every buffer needs the usage `STORAGE`.
///
/// All are buffers of the device that the plan was prepared on. One of another device is refused, but not one of a device
/// of another `wgpu::Instance`: wgpu numbers each instance's buffers anew and takes it for one of its own.
///
/// What is written (outputs and scratch) must not overlap anything else. WebGPU refuses a dispatch that reads and writes one
/// buffer: keep outputs and scratch in other buffers than inputs, and each scratch in a buffer of its own; or plan with
/// [`Limits::shared_buffers`], and everything may lie in one.
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

/// A compiled kernel.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

#[derive(Debug)]
struct Inner {
    device: wgpu::Device,
    alignment_bytes: u64,
    plan: Plan,
    pipelines: Vec<Pipeline>,
    params: wgpu::Buffer,
    /// Where each dispatch's parameters lie.
    params_at: Vec<Range<u64>>,
    /// The plan's embedded operands, a buffer each.
    embedded: Vec<wgpu::Buffer>,
}

impl Prepared {
    /// An error if a buffer could not be filled, as those of a lost device cannot.
    pub(super) fn new(
        device: &wgpu::Device,
        limits: &Limits,
        plan: &Plan,
        pipelines: Vec<Pipeline>,
    ) -> Result<Prepared, Error> {
        let alignment = u64::from(device.limits().min_uniform_buffer_offset_alignment);
        let mut bytes = Vec::new();
        let mut params_at = Vec::new();
        for dispatch in &plan.dispatches {
            bytes.resize((bytes.len() as u64).next_multiple_of(alignment) as usize, 0);
            let begin = bytes.len() as u64;
            bytes.extend(dispatch.params.to_bytes());
            params_at.push(begin..bytes.len() as u64);
        }
        let params = filled_buffer(device, "wgmax parameters", &bytes, wgpu::BufferUsages::UNIFORM)?;
        let operand = |bytes: &Vec<u8>| filled_buffer(device, "wgmax operand", bytes, wgpu::BufferUsages::STORAGE);
        let embedded = plan.embedded.iter().map(operand).collect::<Result<_, _>>()?;
        Ok(Prepared(Arc::new(Inner {
            device: device.clone(),
            alignment_bytes: limits.binding_alignment_bytes,
            plan: plan.clone(),
            pipelines,
            params,
            params_at,
            embedded,
        })))
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
    /// [`Error::BindingOverlap`], [`Error::InputsOverlap`] or [`Error::BindingSharesBuffer`]: see [`Slots`].
    /// [`Error::BindingRefused`] for a buffer that was destroyed, or is another device's; [`Error::OutOfMemory`] and
    /// [`Error::Gpu`] from the device.
    ///
    /// A browser tells these last ones later than this returns: to the error scopes around the call, or else to the
    /// device's `uncapturederror`. A device that is lost is no error here: what is bound then does nothing when it is
    /// submitted. [`Kernels::prepare`](crate::Kernels::prepare) tells of it.
    pub fn bind(&self, slots: &Slots<'_>) -> Result<Bound, Error> {
        self.check(slots)?;
        #[cfg(not(target_arch = "wasm32"))]
        {
            // Natively what wgpu found is known at once.
            let bound = pollster::block_on(super::catching(&self.0.device, || Ok(self.make_groups(slots))));
            bound.map_err(|error| self.refusal(slots, error))
        }
        #[cfg(target_arch = "wasm32")]
        Ok(self.make_groups(slots))
    }

    /// Whose fault it is that bind groups were refused: each slot in a bind group of its own.
    #[cfg(not(target_arch = "wasm32"))]
    fn refusal(&self, slots: &Slots<'_>, error: Error) -> Error {
        let device = &self.0.device;
        let error = pollster::block_on(super::explain(device, error));
        if !matches!(error, Error::Gpu { .. }) {
            return error;
        }
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: true },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        for Used { slot, slice, needed } in used_slots(&self.0.plan, slots) {
            let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
            let size = NonZeroU64::new(needed.min(device.limits().max_storage_buffer_binding_size));
            let buffer = wgpu::BufferBinding { buffer: slice.buffer(), offset: slice.offset(), size };
            let resource = wgpu::BindingResource::Buffer(buffer);
            let _ = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &layout,
                entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
            });
            if let Some(refused) = pollster::block_on(scope.pop()) {
                return Error::BindingRefused { slot: self.name(slot), message: refused.to_string() };
            }
        }
        error
    }

    /// A slot, for messages.
    fn name(&self, slot: Slot) -> String {
        format!("{slot} of {}", self.0.plan.label)
    }

    fn make_groups(&self, slots: &Slots<'_>) -> Bound {
        let Inner { device, plan, pipelines, params, params_at, embedded, .. } = &*self.0;
        let dispatches = plan.dispatches.iter().zip(pipelines).zip(params_at);
        let bind = |((dispatch, pipeline), at): ((&crate::plan::Dispatch, &Pipeline), &Range<u64>)| {
            let entry = |binding, buffer, offset, bytes| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset,
                    size: NonZeroU64::new(bytes),
                }),
            };
            let mut entries = vec![entry(0, params, at.start, at.end - at.start)];
            entries.extend(dispatch.bindings.iter().map(|b| {
                let (buffer, offset) = match (b.slot, slots.get(b.slot)) {
                    (Slot::Embedded(n), _) => (&embedded[n], 0),
                    (_, Some(slice)) => (slice.buffer(), slice.offset()),
                    (_, None) => (params, 0), // the count of slots was checked
                };
                entry(b.binding, buffer, offset + b.offset_bytes, b.bytes)
            }));
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(&plan.label),
                layout: &pipeline.layout,
                entries: &entries,
            });
            BoundDispatch { pipeline: pipeline.pipeline.clone(), group, grid: dispatch.grid }
        };
        Bound { prepared: self.clone(), dispatches: dispatches.map(bind).collect() }
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
        let used = used_slots(plan, slots);
        used.iter().try_for_each(|own| self.check_slot(own))?;
        for (i, written) in used.iter().enumerate().filter(|(_, own)| !matches!(own.slot, Slot::Input(_))) {
            let others = used.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, own)| own);
            if let Some(other) = others.into_iter().find(|other| overlap(written, other)) {
                let ranges = [written.range(), other.range()];
                let (written, other) = (self.name(written.slot), other.slot.to_string());
                return Err(Error::BindingOverlap { written, other, ranges });
            }
        }
        let shared = plan.dispatches.iter().all(|own| own.kernel.shared_buffers);
        if shared { self.check_inputs_apart(&used) } else { self.check_buffers_apart(slots) }
    }

    /// No buffer is both read and written. That asks nothing of the dispatches, which depend on shapes.
    fn check_buffers_apart(&self, slots: &Slots<'_>) -> Result<(), Error> {
        let plan = &self.0.plan;
        let inputs = (0..slots.inputs.len()).filter(|&n| plan.input_bytes[n] > 0).map(Slot::Input);
        let scratch = || (0..slots.scratch.len()).map(Slot::Scratch);
        let buffer = |slot: Slot| slots.get(slot).map(|slice| slice.buffer());
        for written in (0..slots.outputs.len()).map(Slot::Output).chain(scratch()) {
            let mut reads = inputs.clone().chain(scratch()).filter(|&read| read != written);
            if let Some(read) = reads.find(|&read| buffer(read) == buffer(written)) {
                return Err(Error::BindingSharesBuffer { written: self.name(written), read: read.to_string() });
            }
        }
        Ok(())
    }

    /// No byte is bound twice by one dispatch: inputs of one are apart. What is written overlaps nothing anyway.
    fn check_inputs_apart(&self, used: &[Used<'_>]) -> Result<(), Error> {
        for dispatch in self.0.plan.dispatches.iter().filter(|dispatch| dispatch.bindings.len() > 2) {
            let bound: Vec<&Used<'_>> =
                used.iter().filter(|own| dispatch.bindings.iter().any(|b| b.slot == own.slot)).collect();
            for (n, own) in bound.iter().enumerate() {
                if let Some(other) = bound[..n].iter().find(|other| overlap(own, other)) {
                    let (input, ranges) = (self.name(own.slot), [own.range(), other.range()]);
                    return Err(Error::InputsOverlap { input, other: other.slot.to_string(), ranges });
                }
            }
        }
        Ok(())
    }

    fn check_slot(&self, &Used { slot, slice, needed }: &Used<'_>) -> Result<(), Error> {
        let slot = || self.name(slot);
        if slice.size() < needed {
            return Err(Error::BindingTooSmall { slot: slot(), given: slice.size(), needed });
        }
        let alignment = self.0.alignment_bytes;
        if slice.offset() % alignment != 0 {
            return Err(Error::BindingMisaligned { slot: slot(), offset: slice.offset(), alignment });
        }
        if !slice.buffer().usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::BindingUsage { slot: slot(), given: usages(slice.buffer()) });
        }
        Ok(())
    }
}

/// A slot that a plan touches, with the bytes that it needs there.
struct Used<'a> {
    slot: Slot,
    slice: &'a wgpu::BufferSlice<'a>,
    needed: u64,
}

fn used_slots<'a>(plan: &Plan, slots: &'a Slots<'a>) -> Vec<Used<'a>> {
    let inputs = plan.input_bytes.iter().enumerate().map(|(n, &bytes)| (Slot::Input(n), bytes));
    let outputs = plan.output_bytes.iter().enumerate().map(|(n, &bytes)| (Slot::Output(n), bytes));
    let scratch = plan.scratch_bytes.iter().enumerate().map(|(n, &bytes)| (Slot::Scratch(n), bytes));
    let touched = inputs.chain(outputs).chain(scratch).filter(|&(_, bytes)| bytes > 0);
    touched.filter_map(|(slot, needed)| Some(Used { slot, slice: slots.get(slot)?, needed })).collect()
}

impl Used<'_> {
    /// The bytes of its buffer that are needed.
    fn range(&self) -> Range<u64> {
        self.slice.offset()..self.slice.offset() + self.needed
    }
}

fn overlap(a: &Used<'_>, b: &Used<'_>) -> bool {
    let (own, other) = (a.range(), b.range());
    a.slice.buffer() == b.slice.buffer() && own.start < other.end && other.start < own.end
}

/// The usages of a buffer by their names, for messages.
fn usages(buffer: &wgpu::Buffer) -> String {
    let names: Vec<&str> = buffer.usage().iter_names().map(|(name, _)| name).collect();
    if names.is_empty() { "none".into() } else { names.join(" | ") }
}

fn filled_buffer(
    device: &wgpu::Device,
    label: &str,
    bytes: &[u8],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, Error> {
    let size = bytes.len().max(4) as u64; // a buffer of no bytes cannot be mapped
    let buffer =
        device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: true });
    // It fails only for a buffer that could not be made; why, the caller's error scope tells.
    let refused = |error: wgpu::MapRangeError| Error::Gpu { message: format!("{label}: {error}") };
    buffer.get_mapped_range_mut(..).map_err(refused)?.slice(..bytes.len()).copy_from_slice(bytes);
    buffer.unmap();
    Ok(buffer)
}

impl<'a> Slots<'a> {
    /// What the caller gave for a slot; nothing for embedded operands, which are the plan's own.
    fn get(&self, slot: Slot) -> Option<&wgpu::BufferSlice<'a>> {
        match slot {
            Slot::Input(n) => self.inputs.get(n),
            Slot::Output(n) => self.outputs.get(n),
            Slot::Scratch(n) => self.scratch.get(n),
            Slot::Embedded(_) => None,
        }
    }
}

/// A prepared plan with its buffers: record it as often as you like, in any encoder of its device.
#[derive(Clone, Debug)]
pub struct Bound {
    prepared: Prepared,
    dispatches: Vec<BoundDispatch>,
}

#[derive(Clone, Debug)]
struct BoundDispatch {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    grid: [u32; 3],
}

impl Bound {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.prepared.plan()
    }

    /// The operation, for people: the label of its pass, of its bind groups and of its debug group.
    pub fn label(&self) -> &str {
        &self.plan().label
    }

    /// Records the dispatches into a compute pass of their own. Nothing is submitted.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.dispatches.is_empty() {
            return;
        }
        let descriptor = wgpu::ComputePassDescriptor { label: Some(self.label()), timestamp_writes: None };
        self.record_in_pass(&mut encoder.begin_compute_pass(&descriptor));
    }

    /// [`record_in_pass`](Bound::record_in_pass) within a debug group, as RenderDoc and others show it, named by the
    /// [label](Bound::label).
    pub fn record_in_group(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.push_debug_group(self.label());
        self.record_in_pass(pass);
        pass.pop_debug_group();
    }

    /// Records the dispatches into an open compute pass. They set its pipeline and its bind group 0.
    pub fn record_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        for bound in &self.dispatches {
            pass.set_pipeline(&bound.pipeline);
            pass.set_bind_group(0, &bound.group, &[]);
            pass.dispatch_workgroups(bound.grid[0], bound.grid[1], bound.grid[2]);
        }
    }
}
