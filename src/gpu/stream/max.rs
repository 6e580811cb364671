//! The element-wise maximum of tensors that come piece by piece.

use std::io::{Read, Write};

use super::super::Gpu;
use super::ring::Ring;
use super::sink::sink_error;
use super::{Progress, read_some};
use crate::tensor::check_bools;
use crate::{Error, Max, Operation, TensorType, View};

impl Gpu {
    /// Reads a Max's operands from sources, chunk by chunk, and writes the output as it is found; how many bytes that were.
    /// The operands have the output's shape, and their elements come in row-major order; a constant may be one element. Each operand
    /// has a source of its own, also where the operation has it in place or in another's buffer. The buffers of three chunks are
    /// all that is held. `progress` is told after each chunk.
    ///
    /// # Errors
    /// Whatever is wrong with the operation; [`Error::WrongCount`] for more or fewer sources than operands;
    /// [`Error::NotStreamed`] for operands of other shapes; [`Error::Read`], [`Error::StreamLength`] for a source that ends
    /// early, [`Error::BoolValue`], [`Error::Write`] and what the device says: the output has whole chunks then.
    pub fn max_of_streams_blocking(
        &self,
        op: &Max,
        sources: Vec<&mut dyn Read>,
        output: &mut dyn Write,
        chunk_bytes: u64,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        let output_type = checked_operands(op, sources.len())?;
        let (len, size) = (output_type.len(), op.dtype.bytes());
        let chunk = (chunk_bytes / size).clamp(1, len.max(1));
        let last = if len.is_multiple_of(chunk) { chunk } else { len % chunk };
        let plan = |len: u64| {
            let view = View::new([len])?;
            let chunk = Max::new(op.dtype, vec![view; op.inputs.len()]).nan(op.nan);
            Max { constant: op.constant.clone(), ..chunk }.plan(self.kernels().limits())
        };
        let ring = pollster::block_on(Ring::new(self, &[plan(chunk)?, plan(last)?]))?;
        let [chunk, last] = [chunk, last].map(|len| len * size);
        let mut run = MaxOfStreams { op, ring, output, written: 0, chunk, total: len * size, progress };
        run.read_all(sources, last)?;
        run.output.flush().map_err(|error| sink_error(0, run.written, &error))?;
        Ok(run.written)
    }
}

/// What is written, and what each operand is.
fn checked_operands(op: &Max, sources: usize) -> Result<TensorType, Error> {
    let output = op.outputs()?.remove(0);
    let shape = &output.shape;
    let expected = op.inputs.len();
    if sources != expected {
        return Err(Error::WrongCount { what: "sources", given: sources, expected });
    }
    if let Some(n) = op.inputs.iter().position(|input| input.shape() != shape) {
        let (given, expected) = (op.inputs[n].shape().to_vec(), shape.clone());
        return Err(Error::NotStreamed { operand: n, shape: given, expected });
    }
    if let Some(constant) = op.constant.as_ref().filter(|constant| constant.shape().iter().any(|&size| size != 1)) {
        return Err(Error::NotStreamed { operand: expected, shape: constant.shape().to_vec(), expected: vec![1] });
    }
    Ok(output)
}

struct MaxOfStreams<'a, 'o, P> {
    op: &'a Max,
    ring: Ring<'a>,
    output: &'o mut dyn Write,
    written: u64,
    /// Bytes of a chunk, and of the whole.
    chunk: u64,
    total: u64,
    progress: P,
}

impl<P: FnMut(Progress)> MaxOfStreams<'_, '_, P> {
    fn read_all(&mut self, mut sources: Vec<&mut dyn Read>, last: u64) -> Result<(), Error> {
        let mut buffer = vec![0; super::READ_BYTES.min(self.chunk) as usize];
        let mut read = 0;
        while read < self.total {
            let len = self.chunk.min(self.total - read);
            for (n, source) in sources.iter_mut().enumerate() {
                self.read_one(n, *source, read, len, &mut buffer)?;
            }
            pollster::block_on(self.ring.submit((len == last).into()))?;
            read += len;
            if !self.ring.has_room() {
                self.land()?;
            }
        }
        while !self.ring.is_idle() {
            self.land()?;
        }
        Ok(())
    }

    /// Reads one operand's chunk, which begins there.
    fn read_one(
        &mut self,
        operand: usize,
        source: &mut dyn Read,
        begin: u64,
        len: u64,
        buffer: &mut [u8],
    ) -> Result<(), Error> {
        let mut at = 0;
        while at < len {
            let most = buffer.len().min((len - at) as usize);
            let read = read_some(source, &mut buffer[..most], begin + at)?;
            if read == 0 {
                return Err(Error::StreamLength { given: begin + at, expected: self.total });
            }
            check_bools(self.op.dtype, &buffer[..read], begin + at)?;
            self.ring.fill(operand, at as usize, &buffer[..read])?;
            at += read as u64;
        }
        Ok(())
    }

    fn land(&mut self) -> Result<(), Error> {
        let outputs = pollster::block_on(self.ring.land())?;
        let len = self.chunk.min(self.total - self.written);
        let written = self.output.write_all(&outputs[0][..len as usize]);
        written.map_err(|error| sink_error(0, self.written, &error))?;
        self.written += len;
        (self.progress)(Progress { merged_bytes: self.written, total_bytes: self.total });
        Ok(())
    }
}
