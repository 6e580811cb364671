#![cfg_attr(feature = "gpu", doc = include_str!("../docs/crate.md"))]
#![cfg_attr(
    not(feature = "gpu"),
    doc = "The maximum operators, planned and answered without a GPU: feature `gpu` is off."
)]
//!
//! # Where to find what
//!
//! - Operations: [`ReduceMax`], [`ArgMax`], [`Hardmax`] and [`Max`] over [`View`]s or [`Parts`]; [`AnyOperation`] is any of
//!   them. What they have in common is [`Operation`].
//! - Nodes of ONNX, OpenVINO and oneDNN: [`dialect`].
//! - What is dispatched: [`Plan`], for a device of these [`Limits`], cut by a [`Tuning`]; for other hosts [`plan::PortablePlan`].
//! - A tuning that was measured on a device: [`Calibration`], and the [`calibration`] that finds it.
//! - Reductions in pieces, over devices, ranks and time: [`shard`].
//! - On the host: [`Tensor`] of any [`DType`], and [`Error`].
#![cfg_attr(
    feature = "gpu",
    doc = "- On a device: [`Kernels`], [`Prepared`] and [`Bound`]; [`Gpu`] for those who have none; [`Stream`] for tensors larger than memory."
)]
#![cfg_attr(feature = "safetensors", doc = "- Tensors of safetensors files: [`checkpoint`].")]

mod adapter;
mod axes;
pub mod calibration;
#[cfg(feature = "safetensors")]
pub mod checkpoint;
pub mod dialect;
mod dtype;
mod element;
mod error;
#[cfg(feature = "gpu")]
mod gpu;
mod limits;
#[cfg(feature = "onnx")]
pub mod onnx;
mod op;
mod operation;
mod parts;
pub mod plan;
mod reference;
mod shader;
pub mod shard;
mod tensor;
mod tuning;
mod view;

pub use adapter::AdapterKind;
pub use axes::Axes;
pub use calibration::Calibration;
pub use dtype::DType;
pub use element::Element;
pub use error::Error;
#[cfg(feature = "gpu")]
pub use gpu::{Bound, Gpu, GpuOptions, Kernels, Prepared, Progress, SavedStream, Slots, Stream};
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use gpu::{CalibrationOptions, CalibrationProgress};
pub use limits::Limits;
pub use op::{ArgMax, ArgMaxOutput, EmptyMax, Hardmax, IndexType, InputNeed, Max, NanPolicy, ReduceMax, Slices};
pub use operation::{AnyOperation, Operation};
pub use parts::Parts;
pub use plan::Plan;
pub use tensor::{Tensor, TensorType};
pub use tuning::{Tuning, TuningField, TuningRange};
pub use view::View;

pub use half;
#[cfg(feature = "gpu")]
pub use wgpu;

/// The code in README.md, for the documentation tests.
#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The recipes of docs/cookbook.md, for the documentation tests.
#[cfg(all(doctest, feature = "gpu", feature = "safetensors"))]
#[doc = include_str!("../docs/cookbook.md")]
pub struct Cookbook;
