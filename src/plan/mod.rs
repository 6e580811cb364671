//! Plans: what to dispatch, as plain data.
//!
//! A [`Plan`] is computed from shapes, types and [`Limits`](crate::Limits) alone. It holds nothing of wgpu: a host that is not on this
//! crate's wgpu takes a [`PortablePlan`], all that is to be dispatched spelled out, and dispatches it itself.

mod arg_max;
mod assembly;
mod boxes;
mod bunches;
mod check;
mod data;
mod device;
mod dispatch;
mod fill;
mod folds;
mod hardmax;
mod layout;
mod max;
mod memory_order;
mod output_box;
mod partials;
mod portable;
mod reads;
mod reduce;
mod reduce_max;
mod schedule;
mod stages;
mod windows;

pub(crate) use arg_max::arg_max;
pub use data::{Binding, Dispatch, Plan, Slot};
use data::{Dispatches, check_count};
pub(crate) use hardmax::hardmax;
pub(crate) use max::max;
pub(crate) use partials::{PARTIAL_BYTES, ShardMerge, merge_shards};
pub use portable::{PortableAccess, PortableBinding, PortableDispatch, PortablePlan, PortableShader, PortableSlot};
pub(crate) use reduce_max::reduce_max;

pub use crate::shader::{
    Access, BroadcastParams, Declaration, Dim, Epilogue, FillParams, HardmaxOnesParams, HardmaxWriteParams,
    HardmaxWriter, Kernel, MaxAccess, MaxOperands, MergeParams, OperandParams, Operator, Override, Params, Program,
    RecordOrigin, ReductionParams, Role, RowBlock, Stores,
};
