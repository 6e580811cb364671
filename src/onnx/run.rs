//! A graph on a GPU: one buffer for each value, one encoder, one submission.

use futures_intrusive::channel::shared::oneshot_channel;
use wgpu::BufferUsages;

use super::graph::{Graph, Value};
use crate::{Error, Gpu, Prepared, Slots, Tensor};

impl Graph {
    /// Uploads what is known, records every step into one encoder, submits once, and reads the outputs back. What steps
    /// write stays on the device.
    ///
    /// # Errors
    /// Those of [`Operation::plan`](crate::Operation::plan); [`Error::OutOfMemory`], [`Error::DeviceLost`] and
    /// [`Error::Gpu`] from the device.
    pub async fn run(&self, gpu: &Gpu) -> Result<Vec<Tensor>, Error> {
        let mut prepared = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let plan = step.operation.plan(gpu.kernels().limits())?;
            prepared.push(gpu.kernels().prepare(&plan).await?);
        }
        let scopes = [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation]
            .map(|filter| gpu.device().push_error_scope(filter));
        let recorded = self.submit(gpu, &prepared);
        for scope in scopes.into_iter().rev() {
            // A popped scope's error says why whatever came after it failed.
            scope.pop().await.map_or(Ok(()), |error| Err(Error::from(error)))?;
        }
        self.read(gpu, &recorded?).await
    }

    /// [`Graph::run`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(&self, gpu: &Gpu) -> Result<Vec<Tensor>, Error> {
        pollster::block_on(self.run(gpu))
    }

    /// Records and submits the steps; the buffer that the outputs are copied to, one after the other.
    fn submit(&self, gpu: &Gpu, prepared: &[Prepared]) -> Result<wgpu::Buffer, Error> {
        let values = self.buffers(gpu, prepared);
        // One step's dispatches come after those of the step before: all may use the same scratch.
        let scratch = [0, 1].map(|n| {
            let bytes = prepared.iter().map(|prepared| prepared.plan().scratch_bytes[n]).max().unwrap_or(0);
            buffer(gpu, "scratch", bytes, BufferUsages::STORAGE)
        });
        let scratch = scratch.each_ref().map(|buffer| buffer.slice(..));
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for (step, prepared) in self.steps.iter().zip(prepared) {
            let inputs: Vec<wgpu::BufferSlice<'_>> = step.inputs.iter().map(|&id| values[id].slice(..)).collect();
            let outputs = [values[step.output].slice(..)];
            prepared.record(&mut encoder, &Slots { inputs: &inputs, outputs: &outputs, scratch: &scratch })?;
        }
        let ranges = self.read_back_ranges();
        let end = ranges.last().map_or(0, |range| range.end);
        let read_back = buffer(gpu, "read back", end, BufferUsages::COPY_DST | BufferUsages::MAP_READ);
        for (&id, range) in self.outputs.iter().zip(ranges) {
            encoder.copy_buffer_to_buffer(&values[id], 0, &read_back, range.start, range.end - range.start);
        }
        gpu.queue().submit([encoder.finish()]);
        Ok(read_back)
    }

    /// A buffer for each value; what is known is uploaded.
    fn buffers(&self, gpu: &Gpu, prepared: &[Prepared]) -> Vec<wgpu::Buffer> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let mut bytes: Vec<u64> = self.values.iter().map(padded_bytes).collect();
        for (step, prepared) in self.steps.iter().zip(prepared) {
            bytes[step.output] = prepared.plan().output_bytes[0].max(bytes[step.output]);
        }
        let values = bytes.iter().map(|&bytes| buffer(gpu, "value", bytes, usage)).collect::<Vec<_>>();
        for (value, buffer) in self.values.iter().zip(&values) {
            if let Value::Known(tensor) = value {
                let mut bytes = tensor.bytes().to_vec();
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                gpu.queue().write_buffer(buffer, 0, &bytes);
            }
        }
        values
    }

    /// Where each output lies in the read-back buffer.
    fn read_back_ranges(&self) -> Vec<std::ops::Range<u64>> {
        let mut end = 0;
        let mut range = |&id: &usize| {
            let begin = end;
            end += padded_bytes(&self.values[id]);
            begin..end
        };
        self.outputs.iter().map(&mut range).collect()
    }

    async fn read(&self, gpu: &Gpu, read_back: &wgpu::Buffer) -> Result<Vec<Tensor>, Error> {
        let refused = |message: String| Error::Gpu { message };
        let (sender, receiver) = oneshot_channel();
        read_back.map_async(wgpu::MapMode::Read, .., move |outcome| {
            let _ = sender.send(outcome); // nobody waits any more if the future was dropped
        });
        // In a browser the event loop does this.
        #[cfg(not(target_arch = "wasm32"))]
        gpu.device().poll(wgpu::PollType::wait_indefinitely()).map_err(|error| refused(error.to_string()))?;
        match receiver.receive().await {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(refused(error.to_string())),
            None => return Err(refused("a buffer was never mapped".into())),
        }
        let mapped = read_back.get_mapped_range(..).map_err(|error| refused(error.to_string()))?;
        let tensor = |(&id, range): (&usize, std::ops::Range<u64>)| {
            let tensor_type = self.values[id].tensor_type();
            let begin = range.start as usize;
            let bytes = &mapped[begin..begin + tensor_type.bytes().unwrap_or(0) as usize];
            Tensor::from_bytes(tensor_type.dtype, tensor_type.shape.clone(), bytes.to_vec())
        };
        self.outputs.iter().zip(self.read_back_ranges()).map(tensor).collect()
    }
}

/// The bytes of a value, in whole words.
fn padded_bytes(value: &Value) -> u64 {
    value.tensor_type().bytes().unwrap_or(0).next_multiple_of(4) // counted when the graph was made
}

/// A buffer of at least one word: a size of 0 may not be mapped everywhere.
fn buffer(gpu: &Gpu, label: &str, bytes: u64, usage: BufferUsages) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes.max(4),
        usage,
        mapped_at_creation: false,
    })
}
