//! Plans: what to dispatch, as plain data.
//!
//! A [`Plan`] is computed from shapes, types and [`Limits`] alone. It holds nothing of wgpu: a host that is not on this
//! crate's wgpu takes a [`PortablePlan`], all that is to be dispatched spelled out, and dispatches it itself.

mod arg_max;
mod bunches;
mod check;
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

use std::fmt;

pub(crate) use arg_max::arg_max;
pub(crate) use hardmax::hardmax;
pub(crate) use max::max;
pub(crate) use partials::merge_shards;
pub use portable::{PortableAccess, PortableBinding, PortableDispatch, PortablePlan, PortableShader, PortableSlot};
pub(crate) use reduce_max::reduce_max;

use device::{Device, PACK_BYTES};
use folds::PARTS_OF_ELEMENTS;
use schedule::{USUAL_PARTS, most_records};

use crate::dtype::padded_bytes;
pub use crate::shader::{
    Access, BroadcastParams, Declaration, Dim, Epilogue, FillParams, HardmaxOnesParams, HardmaxWriteParams,
    HardmaxWriter, Kernel, MaxAccess, MaxShortRows, MergeParams, OperandParams, Operator, Override, Params, Program,
    RecordOrigin, ReductionParams, Role, Stores,
};
use crate::{DType, Error, Limits, NanPolicy, TensorType};

/// One operation's dispatches, in order.
///
/// ```
/// # use wgmax::{DType, Limits, Operation, ReduceMax, View};
/// let plan = ReduceMax::new(DType::F32, View::new([1 << 24])?).plan(&Limits::default())?;
/// assert_eq!(plan.dispatches.len(), 2); // split over workgroups, then finished
/// assert!(plan.scratch_bytes[0] <= (64 << 20) / 64 + (64 << 10));
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plan {
    /// The operation, for people and labels.
    pub label: String,
    /// Bytes that each input needs from its binding's start, in whole words of 4 bytes: an f16 tensor of odd length needs
    /// 2 bytes more than its elements take. 0 where nothing is read.
    pub input_bytes: Vec<u64>,
    /// Bytes that each output needs, in whole words of 4 bytes; 0 where nothing is written.
    pub output_bytes: Vec<u64>,
    /// Bytes that each scratch buffer needs; 0 where it is not used. The caller gives them; what they hold does not
    /// matter, before or after.
    pub scratch_bytes: [u64; 2],
    /// The input that output 0 is written over: the caller's output buffer holds it to begin with, and what is given as
    /// that input is not looked at.
    pub in_place: Option<usize>,
    /// The little-endian bytes of operands that travel with the plan, each a whole number of words.
    pub embedded: Vec<Vec<u8>>,
    /// The dispatches. Each may depend on those before it. None at all where every output is empty.
    pub dispatches: Vec<Dispatch>,
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dispatch {
    /// The shader.
    pub kernel: Kernel,
    /// Its parameters, a uniform buffer at binding 0 of group 0.
    pub params: Params,
    /// Workgroups in each dimension.
    pub grid: [u32; 3],
    /// The storage bindings, all in group 0.
    pub bindings: Vec<Binding>,
}

/// One storage binding of a dispatch.
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
    /// Embedded operand number n of the plan: a buffer of the host's, filled with its bytes once.
    Embedded(usize),
}

impl Plan {
    /// A plan that does nothing yet.
    fn new(label: String, inputs: usize, outputs: &[Binding]) -> Plan {
        Plan {
            label,
            input_bytes: vec![0; inputs],
            output_bytes: outputs.iter().map(|output| output.bytes).collect(),
            scratch_bytes: [0; 2],
            in_place: None,
            embedded: vec![],
            dispatches: vec![],
        }
    }

    /// The plan of an operation with these inputs and outputs. Where outputs have no elements there is nothing to dispatch.
    fn of(
        label: String,
        inputs: usize,
        outputs: &[TensorType],
        device: &Device,
        dispatches: impl FnOnce(&[Binding]) -> Result<Dispatches, Error>,
    ) -> Result<Plan, Error> {
        let targets = output_bindings(outputs);
        let plan = Plan::new(label, inputs, &targets);
        if targets[0].bytes == 0 { Ok(plan) } else { plan.complete(dispatches(&targets)?, device) }
    }

    /// The plan with these dispatches and their needs counted, if the device has bindings enough for them.
    fn complete(mut self, mut dispatches: Dispatches, device: &Device) -> Result<Plan, Error> {
        if device.limits.shared_buffers {
            dispatches.0.iter_mut().for_each(Dispatch::share_buffers);
        }
        let needed = dispatches.0.iter().map(|dispatch| dispatch.bindings.len() as u64).max().unwrap_or(0);
        let (what, given) = ("max_storage_buffers_per_shader_stage", device.limits.max_storage_bindings.into());
        if needed > given {
            return Err(Error::DeviceTooSmall { what, given, needed });
        }
        self.dispatches = dispatches.0;
        for binding in self.dispatches.iter().flat_map(|dispatch| &dispatch.bindings) {
            let bytes = match binding.slot {
                Slot::Input(n) => &mut self.input_bytes[n],
                Slot::Scratch(n) => &mut self.scratch_bytes[n],
                Slot::Output(_) | Slot::Embedded(_) => continue,
            };
            *bytes = binding.end_bytes().max(*bytes);
        }
        Ok(self)
    }

    /// Scratch that is enough for every plan, for a device of these limits, of operations over a type whose inputs have at most so many
    /// bytes together, and their outputs so many. Smaller tensors may need more than larger ones do, but never more than
    /// this: so that scratch can be made once, for the largest batch.
    ///
    /// ```
    /// # use wgmax::{DType, Hardmax, Limits, Operation, Plan, Slices, View};
    /// let batch = |rows| Hardmax::new(DType::F16, View::new([rows, 32_000]).unwrap(), Slices::Along(-1));
    /// let bytes = |rows: u64| rows * 32_000 * 2;
    /// let most = Plan::most_scratch_bytes(&Limits::default(), DType::F16, bytes(64), bytes(64));
    /// for rows in 1..=64 {
    ///     let scratch = batch(rows).plan(&Limits::default())?.scratch_bytes;
    ///     assert!(scratch[0] <= most[0] && scratch[1] <= most[1]);
    /// }
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    pub fn most_scratch_bytes(limits: &Limits, dtype: DType, input_bytes: u64, output_bytes: u64) -> [u64; 2] {
        // What is seen leaves records and, between two stages, values; each slice of two elements or more a winner, a word; or there are
        // the outputs in the order of memory, in whole packs.
        let on_software = Device::new(limits).is_ok_and(|device| !device.spreads());
        let records = most_records(input_bytes, if on_software { PARTS_OF_ELEMENTS } else { USUAL_PARTS });
        let winners = (output_bytes / dtype.bytes() / 2).saturating_mul(4);
        let left = if winners > output_bytes { winners } else { output_bytes };
        let left = left.saturating_add(PACK_BYTES - 1) / PACK_BYTES * PACK_BYTES;
        [records, if left > records { left } else { records }]
    }

    /// Bytes that the dispatches read and write in all: each binding once, except that one bound twice, as words and as
    /// packs, counts once, and one that is read and written counts twice. Each one that a Hardmax adds to
    /// zeros counts as a word read and a word written.
    pub fn moved_bytes(&self) -> u64 {
        let dispatch_bytes = |dispatch: &Dispatch| -> u64 {
            let continues = dispatch.kernel.has(Override::Accumulate);
            let mut seen: Vec<Binding> = Vec::new();
            for b in &dispatch.bindings {
                if seen.iter().all(|own| own.slot != b.slot) {
                    seen.push(*b);
                }
            }
            let bytes = |b: &Binding| match &dispatch.params {
                Params::HardmaxOnes(params) if b.writes => 8 * u64::from(params.end.saturating_sub(params.first)),
                _ if b.writes && continues => b.bytes.saturating_mul(2),
                _ => b.bytes,
            };
            seen.iter().map(bytes).fold(0, u64::saturating_add)
        };
        self.dispatches.iter().map(dispatch_bytes).fold(0, u64::saturating_add)
    }
}

impl Dispatch {
    /// The same where one buffer may hold everything: an input, or what is left to reduce, is bound once, in whole packs.
    fn share_buffers(&mut self) {
        self.kernel.shared_buffers = true;
        let declared = self.kernel.bindings();
        self.bindings.retain(|own| declared.iter().any(|declaration| declaration.binding == own.binding));
        let is_operand = |own: &Binding| declared.iter().any(|o| o.binding == own.binding && o.role == Role::Operand);
        let read = self.bindings.iter_mut().filter(|own| match own.slot {
            Slot::Input(_) => true,
            Slot::Scratch(_) => is_operand(own),
            Slot::Output(_) | Slot::Embedded(_) => false,
        });
        read.for_each(|own| own.bytes = own.bytes.next_multiple_of(PACK_BYTES));
    }
}

impl Binding {
    /// So many bytes of a scratch buffer, to be written by what reduces to them.
    fn scratch(n: usize, bytes: u64) -> Binding {
        Binding { binding: 3, slot: Slot::Scratch(n), writes: true, offset_bytes: 0, bytes }
    }

    /// Where it ends, in bytes from the slot's start; the greatest number if that is greater still.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.bytes)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Input(n) => write!(f, "input {n}"),
            Slot::Output(n) => write!(f, "output {n}"),
            Slot::Scratch(n) => write!(f, "scratch {n}"),
            Slot::Embedded(n) => write!(f, "embedded {n}"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} dispatches, scratch {:?} bytes", self.label, self.dispatches.len(), self.scratch_bytes)?;
        for dispatch in &self.dispatches {
            write!(f, "\n  {} {:?}", dispatch.kernel, dispatch.grid)?;
            for b in &dispatch.bindings {
                let access = if b.writes { "writes" } else { "reads" };
                write!(f, "\n    {access} {} bytes {}..{}", b.slot, b.offset_bytes, b.end_bytes())?;
            }
        }
        Ok(())
    }
}

/// The whole outputs, at bindings 3 and on.
fn output_bindings(outputs: &[TensorType]) -> Vec<Binding> {
    let whole = |(n, output): (usize, &TensorType)| {
        let bytes = padded_bytes(output.dtype, output.len()).unwrap_or(u64::MAX);
        Binding { binding: 3 + n as u32, slot: Slot::Output(n), writes: true, offset_bytes: 0, bytes }
    };
    outputs.iter().enumerate().map(whole).collect()
}

fn nan_override(dtype: DType, nan: NanPolicy) -> Option<Override> {
    (dtype.is_float() && nan == NanPolicy::Ignore).then_some(Override::NansIgnored)
}

/// Some elements of what a binding holds.
fn target_part(target: Binding, element_bytes: u64, first: u64, len: u64) -> Binding {
    let offset_bytes = target.offset_bytes + first * element_bytes;
    Binding { offset_bytes, bytes: (len * element_bytes).next_multiple_of(4), ..target }
}

/// The most dispatches of a plan. Each has parameters, and a bind group.
const MAX_DISPATCHES: u64 = 1 << 12;

/// The dispatches of a plan, or of a part of one: no more than a plan may have.
#[derive(Debug, Default)]
struct Dispatches(Vec<Dispatch>);

impl Dispatches {
    fn push(&mut self, dispatch: Dispatch) -> Result<(), Error> {
        check_count(self.0.len() as u64 + 1)?;
        self.0.push(dispatch);
        Ok(())
    }

    fn append(&mut self, more: Dispatches) -> Result<(), Error> {
        check_count((self.0.len() + more.0.len()) as u64)?;
        self.0.extend(more.0);
        Ok(())
    }
}

/// Whoever counts stops where there are too many: of a plan that is refused nobody knows them all.
fn check_count(dispatches: u64) -> Result<(), Error> {
    within("dispatches of a plan, as far as they are counted (stream or shard the tensor)", dispatches, MAX_DISPATCHES)
}

pub(crate) fn within(what: &'static str, given: u64, limit: u64) -> Result<(), Error> {
    if given > limit { Err(Error::TooLarge { what, given, limit }) } else { Ok(()) }
}

/// An error, unless this holds of a plan that was given.
fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::InvalidPlan { problem: problem() }) }
}
