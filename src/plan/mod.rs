//! Plans: what to dispatch, as plain data.
//!
//! A [`Plan`] is computed from shapes, types and [`Limits`] alone. It holds nothing of wgpu: a host that
//! is not on this crate's wgpu can take each pass's [`wgsl`](Kernel::wgsl), [`constants`](Kernel::constants),
//! [`parameter bytes`](Params::to_bytes), grid and bindings, and dispatch them itself.

mod dims;
mod hardmax;
mod kernel;
mod max;
mod params;
mod reduction;
mod tuning;

use std::fmt;

pub(crate) use hardmax::hardmax;
pub use kernel::{Access, Constant, Kernel, Operator, Program, Store};
pub(crate) use max::max;
pub use params::{Dim, FillParams, Params, ReductionParams};
pub(crate) use reduction::{arg_max, reduce_max};

use crate::{Error, Limits};

/// One operation's dispatches, in order.
///
/// ```
/// # use wgmax::{DType, Limits, Operation, ReduceMax, View};
/// let plan = ReduceMax::new(DType::F32, View::new([1 << 24])?).plan(&Limits::default())?;
/// assert_eq!(plan.passes.len(), 2); // split over workgroups, then finished
/// assert!(plan.scratch_bytes[0] <= (64 << 20) / 64 + (64 << 10));
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plan {
    /// The operation, for people and labels.
    pub label: String,
    /// Bytes that each input needs from its binding's start; 0 where nothing is read.
    pub input_bytes: Vec<u64>,
    /// Bytes that each output needs; 0 where nothing is written.
    pub output_bytes: Vec<u64>,
    /// Bytes that each scratch buffer needs; 0 where it is not used. The caller gives them; what they hold does not
    /// matter, before or after.
    pub scratch_bytes: [u64; 2],
    /// The dispatches. Each may depend on those before it. None at all where every output is empty.
    pub passes: Vec<Pass>,
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pass {
    /// The shader.
    pub kernel: Kernel,
    /// Its parameters, a uniform buffer at binding 0 of group 0.
    pub params: Params,
    /// Workgroups in each dimension.
    pub grid: [u32; 3],
    /// The storage bindings, all in group 0.
    pub bindings: Vec<Binding>,
}

/// One storage binding of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Binding {
    /// The number in the shader.
    pub binding: u32,
    /// What is bound.
    pub slot: Slot,
    /// Whether it is written.
    pub writes: bool,
    /// Where it begins, in bytes from the slot's start; a multiple of the device's storage alignment.
    pub offset_bytes: u64,
    /// Its size in bytes, a multiple of 4.
    pub bytes: u64,
}

/// A buffer that the caller gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Slot {
    /// Input number n.
    Input(usize),
    /// Output number n.
    Output(usize),
    /// Scratch buffer number n.
    Scratch(usize),
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Input(n) => write!(f, "input {n}"),
            Slot::Output(n) => write!(f, "output {n}"),
            Slot::Scratch(n) => write!(f, "scratch {n}"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} passes, scratch {:?} bytes", self.label, self.passes.len(), self.scratch_bytes)?;
        for pass in &self.passes {
            write!(f, "\n  {} {:?}", pass.kernel, pass.grid)?;
            for b in &pass.bindings {
                let access = if b.writes { "writes" } else { "reads" };
                write!(f, "\n    {access} {} bytes {}..{}", b.slot, b.offset_bytes, b.offset_bytes + b.bytes)?;
            }
        }
        Ok(())
    }
}

/// The workgroups for `groups` of them, folded into two dimensions where one does not hold them. The last row may then
/// have surplus groups.
fn grid(groups: u64, limits: &Limits) -> Result<[u32; 3], Error> {
    let most = u64::from(limits.max_groups);
    let rows = groups.div_ceil(most.max(1)).max(1);
    if rows > most {
        return Err(Error::TooLarge { what: "workgroups", given: groups, limit: most * most });
    }
    Ok([groups.div_ceil(rows) as u32, rows as u32, 1])
}
