//! Reductions in pieces: of tensors larger than a device, than memory, or than a machine.
//!
//! A [`Sharded`] reduction knows the whole tensor's shape. Each [`Shard`] of it, any box of its indices, is an operation of
//! its own, and what that finds becomes [`Partials`]: 16 bytes for each output. Partials are merged in any order and
//! grouping, on any machine, and then give the answer of the whole, bit for bit.
//!
//! ```
//! # use wgmax::{ArgMax, DType, Operation, Tensor, View, shard::Sharded};
//! // The next token of four ranks, of which each has some of the vocabulary's logits.
//! let whole = Sharded::new(ArgMax::new(DType::F32, View::new([1, 8])?).axes([-1]))?;
//! let mut known = whole.nothing()?;
//! for (rank, logits) in [[1.0_f32, 7.0], [3.0, 7.0], [f32::NEG_INFINITY, 0.0], [5.0, 6.0]].iter().enumerate() {
//!     let shard = whole.shard(&[0, 2 * rank as u64], &[1, 2])?;
//!     // On a device: gpu.run_shard(&shard, &logits).
//!     known.merge(&shard.reference(&Tensor::new([1, 2], logits)?)?)?;
//! }
//! assert_eq!(whole.finish(&known)?[0].to_vec::<i64>()?, [1]);
//! # Ok::<(), wgmax::Error>(())
//! ```

mod merge_shards;
mod partial;
mod sharded;

pub use merge_shards::MergeShards;
pub use partial::{Partial, Partials, merge};
pub use sharded::{Shard, Sharded};
