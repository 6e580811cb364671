//! Tensors that come piece by piece: larger than a device, or than memory.

mod chunks;
#[cfg(not(target_arch = "wasm32"))]
mod max;
mod ring;
mod saved;
mod sink;

use std::fmt;
use std::io::Write;
#[cfg(not(target_arch = "wasm32"))]
use std::io::{ErrorKind, Read};

use super::Gpu;
use chunks::Chunks;
use ring::Ring;
pub use saved::SavedStream;
use sink::{Sink, sink_error};

use crate::shard::{Partials, Sharded};
use crate::tensor::check_bools;
use crate::{AnyOperation, Error, Operation, Tensor, TensorType, View};

/// A ReduceMax, ArgMax or Hardmax over a tensor that comes piece by piece, in row-major order.
///
/// Elements are put together to chunks of a size that the caller chooses. While one chunk is filled, those before it are
/// uploaded, computed and read back: three sets of buffers take turns, and are all that the device holds
/// ([`Stream::buffer_bytes`]). The host keeps 16 bytes for each unfinished output, and the finished outputs unless they are
/// [written elsewhere](Stream::outputs_to). Positions have 63 bits.
///
/// If a source fails, the stream goes on after what it has taken, which [`Stream::taken_bytes`] tells. If a device fails,
/// what was merged can be [saved](Stream::save), and gone on with on another one.
///
/// ```no_run
/// # use wgmax::{ArgMax, DType, Gpu, GpuOptions, Stream, View};
/// let gpu = Gpu::new_blocking(&GpuOptions::default())?;
/// // 200 GB of logits: the best of each row.
/// let logits = View::new([800_000, 128_256])?;
/// let mut stream = Stream::new_blocking(&gpu, ArgMax::new(DType::F16, logits).axes([-1]), 4 << 20)?;
/// let mut file = std::fs::File::open("logits.bin").unwrap();
/// stream.read_from_blocking(&mut file)?;
/// let indices = stream.finish_blocking()?[0].to_vec::<i64>()?;
/// # Ok::<(), wgmax::Error>(())
/// ```
pub struct Stream<'a> {
    whole: Sharded,
    chunks: Chunks,
    chunk_bytes: u64,
    /// Chunks that make up the outputs of one outermost index: 1 where each chunk has whole outputs.
    per_block: u64,
    /// None where there are no elements. Its second plan is for the last chunk along the axis that is cut.
    ring: Option<Ring<'a>>,
    /// The chunk that is being filled, and its bytes that are there.
    filling: u64,
    filled: u64,
    /// The chunks merged, and what is known of the outputs that they did not finish.
    merged: u64,
    known: Option<Partials>,
    sinks: Vec<Sink<'a>>,
    progress: Option<Box<dyn FnMut(Progress) + 'a>>,
    /// What went wrong with the device or a writer: nothing goes on after that.
    failed: Option<Error>,
}

/// How far a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes whose maxima are known.
    pub merged_bytes: u64,
    /// Bytes of the whole tensor.
    pub total_bytes: u64,
}

impl<'a> Stream<'a> {
    /// A stream of a contiguous tensor: of the operation's views only the shape counts. A chunk has at most `chunk_bytes`
    /// bytes, and at least an element; a few MiB keep a device busy.
    ///
    /// # Errors
    /// Whatever is wrong with the operation; [`Error::NoReduction`] for a Max; [`Error::TooLarge`] for a tensor whose bytes no
    /// 64-bit number counts, or a chunk that no buffer holds; [`Error::OutOfMemory`], [`Error::DeviceLost`] and [`Error::Gpu`] from the device.
    pub async fn new(gpu: &'a Gpu, op: impl Into<AnyOperation>, chunk_bytes: u64) -> Result<Stream<'a>, Error> {
        let whole = Sharded::new(op)?;
        View::new(whole.shape())?.buffer_bytes(whole.dtype())?; // else no 64-bit number counts its bytes
        let chunks = Chunks::new(&whole, chunk_bytes);
        let first_reduced = whole.reduced().first().copied().unwrap_or(whole.shape().len());
        let blocks = whole.shape()[..first_reduced].iter().fold(1_u64, |all, &size| all.saturating_mul(size));
        let per_block = if chunks.axis < first_reduced { 1 } else { (chunks.count() / blocks.max(1)).max(1) };
        let ring = match chunks.count().checked_sub(1) {
            None => None,
            Some(last) => {
                let plan = |n| chunk_operation(&whole, &chunks.chunk(n), per_block)?.plan(gpu.kernels().limits());
                Some(Ring::new(gpu, &[plan(0)?, plan(last)?]).await?)
            }
        };
        let sink = |kind: &TensorType| Sink { output_bytes: kind.bytes().unwrap_or(0), ..Sink::default() };
        let sinks = whole.operation().outputs()?.iter().map(sink).collect();
        Ok(Stream {
            whole,
            chunks,
            chunk_bytes,
            per_block,
            ring,
            filling: 0,
            filled: 0,
            merged: 0,
            known: None,
            sinks,
            progress: None,
            failed: None,
        })
    }

    /// [`Stream::new`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new_blocking(gpu: &'a Gpu, op: impl Into<AnyOperation>, chunk_bytes: u64) -> Result<Stream<'a>, Error> {
        pollster::block_on(Stream::new(gpu, op, chunk_bytes))
    }

    /// Writes the outputs, little-endian and row-major, as they are finished, instead of collecting them: those of the
    /// operation, in its order. What was collected before is written now.
    ///
    /// # Errors
    /// [`Error::WrongCount`] for more or fewer writers than outputs; [`Error::Write`]. The stream ends with it: keep what was saved.
    pub fn outputs_to(mut self, writers: Vec<&'a mut dyn Write>) -> Result<Stream<'a>, Error> {
        let (given, expected) = (writers.len(), self.sinks.len());
        if given != expected {
            return Err(Error::WrongCount { what: "writers", given, expected });
        }
        for (output, (sink, writer)) in self.sinks.iter_mut().zip(writers).enumerate() {
            sink.writer = Some(writer);
            let collected = std::mem::take(&mut sink.collected);
            sink.take(output, &collected)?;
        }
        Ok(self)
    }

    /// Calls this whenever a chunk was merged.
    #[must_use]
    pub fn on_progress(mut self, progress: impl FnMut(Progress) + 'a) -> Stream<'a> {
        self.progress = Some(Box::new(progress));
        self
    }

    /// The bytes of the whole tensor.
    pub fn total_bytes(&self) -> u64 {
        self.bytes_before(self.chunks.count())
    }

    /// The bytes taken so far: a source that failed is to go on behind them.
    pub fn taken_bytes(&self) -> u64 {
        self.bytes_before(self.filling) + self.filled
    }

    /// The bytes whose maxima are known: what would be [saved](Stream::save).
    pub fn merged_bytes(&self) -> u64 {
        self.bytes_before(self.merged)
    }

    /// The bytes of all buffers, on the device and between it and the host: they stay the same.
    pub fn buffer_bytes(&self) -> u64 {
        self.ring.as_ref().map_or(0, Ring::buffer_bytes)
    }

    /// Takes the next bytes, as many or few as there are. It waits for the device when all buffers are in use.
    ///
    /// # Errors
    /// [`Error::StreamLength`] for bytes behind the tensor's last and [`Error::BoolValue`], before any are taken;
    /// [`Error::Write`], [`Error::TooLarge`] if memory does not hold the outputs that are collected, and what the device says, after which
    /// the stream only gives the same error; [`Error::NotDone`] after a call whose future was dropped.
    pub async fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.check()?;
        let (given, expected) = (self.taken_bytes().saturating_add(bytes.len() as u64), self.total_bytes());
        if given > expected {
            return Err(Error::StreamLength { given, expected });
        }
        check_bools(self.whole.dtype(), bytes, self.taken_bytes())?;
        self.failed = Some(dropped());
        let taken = self.take(bytes).await;
        self.failed = taken.clone().err();
        taken
    }

    /// [`Stream::push`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn push_blocking(&mut self, bytes: &[u8]) -> Result<(), Error> {
        pollster::block_on(self.push(bytes))
    }

    /// Takes slices, one after another: what an iterator of chunks, rows or files gives.
    ///
    /// # Errors
    /// As [`Stream::push`]; the slices before were taken.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn extend_blocking(&mut self, slices: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<(), Error> {
        slices.into_iter().try_for_each(|bytes| self.push_blocking(bytes.as_ref()))
    }

    /// Takes what a source still has, up to the end of the tensor; how many bytes that was.
    ///
    /// # Errors
    /// [`Error::Read`] if the source fails: what it gave before was taken. Else as [`Stream::push`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read_from_blocking(&mut self, source: &mut impl Read) -> Result<u64, Error> {
        let mut buffer = vec![0; READ_BYTES.min(self.chunk_bytes.max(8)) as usize];
        let before = self.taken_bytes();
        loop {
            let left = (self.total_bytes() - self.taken_bytes()).min(buffer.len() as u64) as usize;
            match read_some(source, &mut buffer[..left], self.taken_bytes())? {
                0 => return Ok(self.taken_bytes() - before),
                read => self.push_blocking(&buffer[..read])?,
            }
        }
    }

    /// Waits until all chunks that are full were merged.
    ///
    /// # Errors
    /// As [`Stream::push`].
    pub async fn flush(&mut self) -> Result<(), Error> {
        self.check()?;
        self.failed = Some(dropped());
        let landed = self.land_all().await;
        self.failed = landed.clone().err();
        landed
    }

    /// [`Stream::flush`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn flush_blocking(&mut self) -> Result<(), Error> {
        pollster::block_on(self.flush())
    }

    /// The operation's outputs, once all of the tensor was taken; none where they were [written](Stream::outputs_to). An error ends the
    /// stream: [`Stream::flush`] before it leaves nothing to be computed or written, and what a failure leaves can be saved.
    ///
    /// # Errors
    /// [`Error::StreamLength`] if bytes are missing; [`Error::WrongCount`] if some outputs were written before the stream was
    /// saved, and no writers were given now; else as [`Stream::push`].
    pub async fn finish(mut self) -> Result<Vec<Tensor>, Error> {
        self.check()?;
        let (given, expected) = (self.taken_bytes(), self.total_bytes());
        if given != expected {
            return Err(Error::StreamLength { given, expected });
        }
        self.flush().await?;
        if self.ring.is_none() {
            self.sink_nothing()?;
        }
        let expected = self.sinks.len();
        let mut tensors = Vec::with_capacity(expected);
        for (output, (sink, kind)) in self.sinks.into_iter().zip(self.whole.operation().outputs()?).enumerate() {
            match sink.writer {
                Some(writer) => writer.flush().map_err(|error| sink_error(output, sink.written, &error))?,
                None if sink.written > 0 => return Err(Error::WrongCount { what: "writers", given: 0, expected }),
                None => tensors.push(Tensor::from_bytes(kind.dtype, kind.shape, sink.collected)?),
            }
        }
        Ok(tensors)
    }

    /// [`Stream::finish`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn finish_blocking(self) -> Result<Vec<Tensor>, Error> {
        pollster::block_on(self.finish())
    }

    fn check(&self) -> Result<(), Error> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn bytes_before(&self, chunk: u64) -> u64 {
        self.chunks.elements_before(chunk) * self.whole.dtype().bytes()
    }

    async fn take(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while let (false, Some(ring)) = (bytes.is_empty(), &mut self.ring) {
            let size = self.whole.dtype().bytes();
            let len =
                (self.chunks.elements_before(self.filling + 1) - self.chunks.elements_before(self.filling)) * size;
            let (own, rest) = bytes.split_at(bytes.len().min((len - self.filled) as usize));
            ring.fill(0, self.filled as usize, own)?;
            self.filled += own.len() as u64;
            bytes = rest;
            if self.filled == len {
                ring.submit(self.chunks.is_last_along(self.filling).into()).await?;
                (self.filling, self.filled) = (self.filling + 1, 0);
                if !ring.has_room() {
                    self.land().await?;
                }
            }
        }
        Ok(())
    }

    async fn land_all(&mut self) -> Result<(), Error> {
        while self.ring.as_ref().is_some_and(|ring| !ring.is_idle()) {
            self.land().await?;
        }
        Ok(())
    }

    /// Waits for the oldest chunk, and merges what it tells. Where it fails, what is known stays as it was, or knows more: to merge the
    /// chunk once more changes nothing.
    async fn land(&mut self) -> Result<(), Error> {
        let Some(ring) = &mut self.ring else { return Ok(()) };
        let outputs = ring.land().await?;
        let (begin, shape) = self.chunks.chunk(self.merged);
        if self.per_block == 1 {
            let kinds = self.whole.over(&shape)?.outputs()?;
            for (n, (kind, bytes)) in kinds.iter().zip(outputs).enumerate() {
                self.sinks[n].take(n, &bytes[..kind.bytes().unwrap_or(0) as usize])?;
            }
        } else {
            self.merge(&begin, &shape, outputs)?;
        }
        self.merged += 1;
        let progress = Progress { merged_bytes: self.merged_bytes(), total_bytes: self.total_bytes() };
        if let Some(callback) = &mut self.progress {
            callback(progress);
        }
        Ok(())
    }

    /// Merges a chunk of unfinished outputs, and finishes those of which it was the last: they are known until they were taken.
    fn merge(&mut self, begin: &[u64], shape: &[u64], outputs: Vec<Vec<u8>>) -> Result<(), Error> {
        let shard = self.whole.shard(begin, shape)?;
        let kinds = shard.operation().map_or(Ok(vec![]), Operation::outputs)?;
        let tensors = kinds.into_iter().zip(outputs).map(|(kind, bytes)| kind.tensor(bytes));
        let partials = shard.partials(&tensors.collect::<Result<Vec<_>, _>>()?)?;
        let mut known = match self.known.take() {
            Some(known) => known,
            None => self.block(self.merged)?,
        };
        known.merge(&partials)?;
        let is_last = self.merged % self.per_block + 1 == self.per_block;
        let finished = if is_last { self.finish_block(&known) } else { Ok(()) };
        self.known = Some(known).filter(|_| !is_last || finished.is_err());
        finished
    }

    fn finish_block(&mut self, known: &Partials) -> Result<(), Error> {
        if matches!(self.whole.operation(), AnyOperation::Hardmax(_)) {
            for n in self.merged + 1 - self.per_block..=self.merged {
                let (begin, shape) = self.chunks.chunk(n);
                let ones = self.whole.shard(&begin, &shape)?.hardmax(known)?;
                self.sinks[0].take(0, ones.bytes())?;
            }
            return Ok(());
        }
        self.sink_outputs(known)
    }

    /// The outputs that partials of all their elements make.
    fn sink_outputs(&mut self, known: &Partials) -> Result<(), Error> {
        let finished = self.whole.output_bytes(known.records())?;
        finished.iter().enumerate().try_for_each(|(n, bytes)| self.sinks[n].take(n, bytes))
    }

    /// The partials of the outputs that a chunk belongs to, of which nothing is known.
    fn block(&self, chunk: u64) -> Result<Partials, Error> {
        let (begin, _) = self.chunks.chunk(chunk);
        let outer = self.whole.reduced().first().copied().unwrap_or(begin.len());
        self.whole.nothing_at(&begin[..outer])
    }

    /// How long each output is that far.
    fn finished_bytes(&self) -> Vec<u64> {
        let first = self.merged - self.merged % self.per_block;
        let elements = u128::from(self.chunks.elements_before(first));
        let all = u128::from(self.chunks.elements_before(self.chunks.count()).max(1));
        let bytes = |sink: &Sink| (u128::from(sink.output_bytes) * elements / all) as u64;
        self.sinks.iter().map(bytes).collect()
    }

    /// The outputs of a tensor without elements.
    fn sink_nothing(&mut self) -> Result<(), Error> {
        if matches!(self.whole.operation(), AnyOperation::Hardmax(_)) {
            return Ok(());
        }
        let nothing = self.whole.nothing()?;
        self.sink_outputs(&nothing)
    }
}

/// Bytes that are read at once.
#[cfg(not(target_arch = "wasm32"))]
const READ_BYTES: u64 = 1 << 20;

/// So many bytes of what a source still has, none at its end. `at` says where in the tensor that is.
#[cfg(not(target_arch = "wasm32"))]
fn read_some(source: &mut dyn Read, bytes: &mut [u8], at: u64) -> Result<usize, Error> {
    loop {
        match source.read(bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read.map_err(|error| Error::Read { at, message: error.to_string() }),
        }
    }
}

/// What is done with a chunk: the operation where the chunk has whole outputs, else a shard's.
fn chunk_operation(whole: &Sharded, chunk: &(Vec<u64>, Vec<u64>), per_block: u64) -> Result<AnyOperation, Error> {
    let (begin, shape) = chunk;
    match whole.shard(begin, shape)?.operation() {
        Some(op) if per_block > 1 => Ok(op.clone()),
        _ => whole.over(shape),
    }
}

/// Whoever drops a future before it is done leaves chunks that nobody knows of: they may be on their way.
fn dropped() -> Error {
    Error::NotDone { what: "an earlier call of this stream".into(), why: "it was dropped before" }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, taken, total) = (self.whole.operation(), self.taken_bytes(), self.total_bytes());
        write!(f, "Stream {{ {op:?}, {taken} of {total} bytes taken, {} merged }}", self.merged_bytes())
    }
}
