//! A graph on a GPU: one buffer for each value, one encoder, one submission.

use wgpu::BufferUsages;

use super::graph::{Graph, Value};
use crate::gpu::OUTPUT;
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
            prepared.push(gpu.prepare(&step.operation.plan(gpu.kernels().limits())?).await?);
        }
        let values = gpu.catch(|| Ok(self.buffers(gpu))).await?;
        let read_backs = gpu.catch(|| self.submit(gpu, &prepared, &values)).await?;
        let mut outputs = Vec::with_capacity(read_backs.len());
        for (tensor_type, read_back) in self.outputs().zip(&read_backs) {
            outputs.push(tensor_type.clone().tensor(gpu.read(read_back).await?)?);
        }
        Ok(outputs)
    }

    /// [`Graph::run`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(&self, gpu: &Gpu) -> Result<Vec<Tensor>, Error> {
        pollster::block_on(self.run(gpu))
    }

    /// A buffer for each value; what is known is uploaded.
    fn buffers(&self, gpu: &Gpu) -> Vec<wgpu::Buffer> {
        let buffer = |value: &Value| match value {
            Value::Known(tensor) => gpu.upload(tensor.bytes()),
            Value::Made(made) => gpu.buffer("value", made.bytes().unwrap_or(0).next_multiple_of(4), OUTPUT),
        };
        self.values.iter().map(buffer).collect()
    }

    /// Records and submits the steps; the buffers that the outputs are copied to.
    fn submit(&self, gpu: &Gpu, prepared: &[Prepared], values: &[wgpu::Buffer]) -> Result<Vec<wgpu::Buffer>, Error> {
        // One step's dispatches come after those of the step before: all may use the same scratch.
        let scratch = [0, 1].map(|n| {
            let bytes = prepared.iter().map(|prepared| prepared.plan().scratch_bytes[n]).max().unwrap_or(0);
            gpu.buffer("scratch", bytes, BufferUsages::STORAGE)
        });
        let scratch = scratch.each_ref().map(|buffer| buffer.slice(..));
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for (step, prepared) in self.steps.iter().zip(prepared) {
            let inputs: Vec<wgpu::BufferSlice<'_>> = step.inputs.iter().map(|&id| values[id].slice(..)).collect();
            let outputs = [values[step.output].slice(..)];
            prepared.record(&mut encoder, &Slots { inputs: &inputs, outputs: &outputs, scratch: &scratch })?;
        }
        let read_backs = self.outputs.iter().map(|&id| gpu.read_back(&mut encoder, &values[id])).collect();
        gpu.queue().submit([encoder.finish()]);
        Ok(read_backs)
    }
}
