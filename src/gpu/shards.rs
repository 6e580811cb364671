//! Shards on devices: one shard on one, and all of a tensor's on several at once.

use super::Gpu;
use crate::shard::{Partials, Shard};
#[cfg(not(target_arch = "wasm32"))]
use crate::{AnyOperation, shard::Sharded};
use crate::{Error, Tensor};

impl Gpu {
    /// Finds what a shard's elements, a contiguous tensor, tell about the whole. Natively it blocks: see [`Gpu`].
    ///
    /// # Errors
    /// Those of [`Gpu::run`] and [`Shard::partials`].
    pub async fn run_shard(&self, shard: &Shard, elements: &Tensor) -> Result<Partials, Error> {
        match shard.operation() {
            Some(op) => shard.partials(&self.run(op, &[elements]).await?),
            None => shard.partials(&[]),
        }
    }

    /// [`Gpu::run_shard`], waiting for it.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_shard_blocking(&self, shard: &Shard, elements: &Tensor) -> Result<Partials, Error> {
        pollster::block_on(self.run_shard(shard, elements))
    }

    /// A ReduceMax, ArgMax or Hardmax over a contiguous tensor, on several devices at once: each takes one of
    /// [`Sharded::shards`], in a thread of its own, and what they find is merged. The same device may be named twice.
    ///
    /// # Errors
    /// [`Error::NoReduction`] for a Max, [`Error::NoneGiven`] for no devices, [`Error::TypeMismatch`] and
    /// [`Error::TensorBytes`] for another tensor than the operation's, [`Error::NotDone`] where a device's thread panicked,
    /// and those of [`Gpu::run`]: if several devices fail, the first one's error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_on_many_blocking(
        gpus: &[&Gpu],
        op: impl Into<AnyOperation>,
        input: &Tensor,
    ) -> Result<Vec<Tensor>, Error> {
        let whole = Sharded::new(op)?;
        if gpus.is_empty() {
            return Err(Error::NoneGiven { what: "devices" });
        }
        let shards = whole.shards(gpus.len())?;
        let elements = shards.iter().map(|shard| shard.elements(input)).collect::<Result<Vec<_>, _>>()?;
        let found = std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(gpus.len());
            for ((gpu, shard), elements) in gpus.iter().zip(&shards).zip(&elements) {
                threads.push(scope.spawn(move || gpu.run_shard_blocking(shard, elements)));
            }
            let panicked = |n| Error::NotDone { what: format!("the shard of device {n}"), why: "its thread panicked" };
            let found = threads.into_iter().enumerate();
            found.map(|(n, thread)| thread.join().unwrap_or_else(|_| Err(panicked(n)))).collect::<Vec<_>>()
        });
        let mut known = whole.nothing()?;
        for partials in found {
            known.merge(&partials?)?;
        }
        match whole.operation() {
            AnyOperation::Hardmax(_) => {
                Ok(vec![whole.shard(&vec![0; whole.shape().len()], whole.shape())?.hardmax(&known)?])
            }
            _ => whole.finish(&known),
        }
    }
}
