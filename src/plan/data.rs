//! What a plan is: plain data, and what it says of itself.

use std::fmt;

use crate::Error;
use crate::error::within;
use crate::shader::{Kernel, Override, Params};

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

impl Binding {
    /// So many bytes of a scratch buffer, to be written by what reduces to them.
    pub(super) fn scratch(n: usize, bytes: u64) -> Binding {
        Binding { binding: 3, slot: Slot::Scratch(n), writes: true, offset_bytes: 0, bytes }
    }

    /// Where it ends, in bytes from the slot's start; the greatest number if that is greater still.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.bytes)
    }

    /// The binding of `len` elements of what it holds, the first one at `first`.
    pub(super) fn part(self, element_bytes: u64, first: u64, len: u64) -> Binding {
        let offset_bytes = self.offset_bytes + first * element_bytes;
        Binding { offset_bytes, bytes: (len * element_bytes).next_multiple_of(4), ..self }
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

/// The most dispatches of a plan. Each has parameters, and a bind group.
const MAX_DISPATCHES: u64 = 1 << 12;

/// The dispatches of a plan, or of a part of one: no more than a plan may have.
#[derive(Debug, Default)]
pub(super) struct Dispatches(pub(super) Vec<Dispatch>);

impl Dispatches {
    pub(super) fn push(&mut self, dispatch: Dispatch) -> Result<(), Error> {
        check_count(self.0.len() as u64 + 1)?;
        self.0.push(dispatch);
        Ok(())
    }

    pub(super) fn append(&mut self, more: Dispatches) -> Result<(), Error> {
        check_count((self.0.len() + more.0.len()) as u64)?;
        self.0.extend(more.0);
        Ok(())
    }
}

/// Whoever counts stops where there are too many: of a plan that is refused nobody knows them all.
pub(super) fn check_count(dispatches: u64) -> Result<(), Error> {
    within("dispatches of a plan, as far as they are counted (stream or shard the tensor)", dispatches, MAX_DISPATCHES)
}
