//! Streams that are saved, and gone on with.

use super::Stream;
use crate::gpu::Gpu;
use crate::shard::Partials;
use crate::{AnyOperation, Error};

/// A stream's state, to go on from with the rest of the tensor. As serde data it has a version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SavedStream {
    version: u32,
    /// The operation, normalized: shape and axes, not how they lie or are named.
    operation: AnyOperation,
    chunk_bytes: u64,
    merged_bytes: u64,
    known: Option<Partials>,
    /// Of each output the bytes written elsewhere, and those that were not.
    outputs: Vec<(u64, Vec<u8>)>,
}

/// The version of saved streams.
const VERSION: u32 = 2;

impl SavedStream {
    /// The bytes of the tensor that it knows: the source is to go on behind them.
    pub fn merged_bytes(&self) -> u64 {
        self.merged_bytes
    }

    /// The bytes of each output that were written elsewhere: what lies behind them is to be written again.
    pub fn written_bytes(&self) -> Vec<u64> {
        self.outputs.iter().map(|&(written, _)| written).collect()
    }
}

impl<'a> Stream<'a> {
    /// A stream of the same operation that goes on where another one was saved, on this device or another.
    ///
    /// # Errors
    /// [`Error::StreamState`] if the state is another operation's; else as [`Stream::new`].
    pub async fn resume(gpu: &'a Gpu, op: impl Into<AnyOperation>, saved: SavedStream) -> Result<Stream<'a>, Error> {
        let wrong = |problem: &str| Err(Error::StreamState { problem: problem.into() });
        if saved.version != VERSION {
            return wrong(&format!("version {}, {VERSION} expected", saved.version));
        }
        let mut stream = Stream::new(gpu, op, saved.chunk_bytes).await?;
        let own = stream.whole.normalized();
        if own != saved.operation {
            return wrong(&format!("it is of {:?}, {own:?} expected", saved.operation));
        }
        let no_chunk = format!("no chunk begins behind the {} bytes merged", saved.merged_bytes);
        let Some(n) = stream.chunks.chunk_at(saved.merged_bytes / stream.whole.dtype().bytes()) else {
            return wrong(&no_chunk);
        };
        (stream.merged, stream.filling) = (n, n);
        if stream.merged_bytes() != saved.merged_bytes {
            return wrong(&no_chunk);
        }
        let is_open = n % stream.per_block > 0;
        if is_open != saved.known.is_some() {
            return wrong("partials of unfinished outputs are missing, or there are none");
        }
        if let (Some(known), true) = (saved.known, is_open) {
            let mut block = stream.block(n)?;
            block.merge(&known)?;
            if block != known {
                return wrong("its partials are of other outputs");
            }
            stream.known = Some(block);
        }
        let expected = stream.finished_bytes();
        let given = saved.outputs.iter().map(|(written, bytes)| written.checked_add(bytes.len() as u64));
        if !given.eq(expected.into_iter().map(Some)) {
            return wrong("its outputs are not as long as the bytes merged make them");
        }
        for (sink, (written, collected)) in stream.sinks.iter_mut().zip(saved.outputs) {
            (sink.written, sink.collected) = (written, collected);
        }
        Ok(stream)
    }

    /// [`Stream::resume`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn resume_blocking(gpu: &'a Gpu, op: impl Into<AnyOperation>, saved: SavedStream) -> Result<Stream<'a>, Error> {
        pollster::block_on(Stream::resume(gpu, op, saved))
    }

    /// The state after the [chunks merged](Stream::merged_bytes): also when something failed. [`Stream::flush`] before it
    /// leaves nothing but a chunk that is not full.
    pub fn save(&self) -> SavedStream {
        SavedStream {
            version: VERSION,
            operation: self.whole.normalized(),
            chunk_bytes: self.chunk_bytes,
            merged_bytes: self.merged_bytes(),
            known: self.known.clone(),
            outputs: self.sinks.iter().zip(self.finished_bytes()).map(|(sink, bytes)| sink.first(bytes)).collect(),
        }
    }
}
