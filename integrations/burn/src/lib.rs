//! wgmax's operators on the tensors of [burn](https://burn.dev): argmax, maxima over any dimensions and hardmax, on
//! burn's own buffers and queue. Nothing is copied, nothing is waited for, and results are tensors like any other.
//!
//! ```no_run
//! use burn::tensor::{Device, Tensor};
//! use wgmax_burn::Maxima;
//!
//! let device = wgmax_burn::open(Device::wgpu_options())?; // instead of `Device::default()`
//! let logits = Tensor::<2>::zeros([64, 128_256], &device);
//! let tokens = logits.clone().wgmax_argmax(-1); // [64, 1], as burn's own argmax
//! let one_hot = logits.wgmax_hardmax(-1); // [64, 128256]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod host;
mod maxima;
mod ops;
mod recent;

pub use host::{attach, open};
pub use maxima::Maxima;
pub use ops::{Maximum, MaximumOps};
