//! Reductions of [`wgmax`] over the ranks of an MPI job: each rank finds the maxima of its shard, and one all-reduce of 16
//! bytes for each output merges them.
//!
//! ```no_run
//! # use std::process::ExitCode;
//! # use wgmax::{ArgMax, DType, Tensor, View, shard::Sharded};
//! fn main() -> ExitCode {
//!     wgmax_mpi::run(|ranks| {
//!         let whole = Sharded::new(ArgMax::new(DType::F32, View::new([1, 128_256])?).axes([-1]))?;
//!         let shard = whole.shards(ranks.size())?.swap_remove(ranks.rank()); // a scalar has one shard, whoever asks
//!         let logits = Tensor::new(shard.shape(), &vec![0.0_f32; shard.shape()[1] as usize])?;
//!         let known = ranks.all_reduce(&whole, shard.reference(&logits))?;
//!         println!("rank {} knows the token: {:?}", ranks.rank(), whole.finish(&known)?);
//!         Ok(())
//!     })
//! }
//! ```
//!
//! A rank that fails makes every rank fail with an error that names it, and none waits for ever: see [`Ranks::agree`].

mod device;
mod error;
mod ranks;
mod raw;

pub use device::Device;
pub use error::Error;
pub use mpi;
pub use ranks::{Failure, Ranks, run};
