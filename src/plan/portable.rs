//! Plans for hosts that are not on this crate's wgpu: everything that has to be dispatched, spelled out.
//!
//! `docs/plan.md` describes the form, and what a host has to keep to.

use std::collections::BTreeMap;

use super::{Kernel, Plan, Slot};
use crate::shader::fnv;

/// A [`Plan`] whose kernels are WGSL text and whose parameters are words: what any WebGPU host can dispatch, in any
/// language.
///
/// It is written of any plan: where a plan was not made by this crate, on this device's limits, ask [`Plan::check`] first.
///
/// With the feature `serde` it is JSON for whoever likes. Its form is stable: within one [`version`](Self::version) fields
/// keep their meaning, and new ones may be added.
///
/// ```
/// # use wgmax::{DType, Limits, Operation, ReduceMax, View};
/// # use wgmax::plan::PortablePlan;
/// let plan = ReduceMax::new(DType::F32, View::new([1 << 24])?).plan(&Limits::default())?;
/// let portable = PortablePlan::from(&plan);
/// assert_eq!((portable.dispatches.len(), portable.shaders.len()), (2, 2));
/// assert!(portable.shaders[0].wgsl.contains("fn main("));
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PortablePlan {
    /// The version of the form, [`PortablePlan::VERSION`].
    pub version: u32,
    /// The operation, for people and labels.
    pub label: String,
    /// Bytes that each input needs from its binding's start; 0 where nothing is read.
    pub input_bytes: Vec<u64>,
    /// Bytes that each output needs; 0 where nothing is written.
    pub output_bytes: Vec<u64>,
    /// Bytes that each scratch buffer needs; 0 where it is not used.
    pub scratch_bytes: Vec<u64>,
    /// The input that output 0 is written over, if there is one: that input is not bound.
    pub in_place: Option<usize>,
    /// The words of the buffers that travel with the plan.
    pub embedded: Vec<Vec<u32>>,
    /// The shaders, each once.
    pub shaders: Vec<PortableShader>,
    /// The dispatches, in order. Each may depend on those before it.
    pub dispatches: Vec<PortableDispatch>,
}

/// A shader: what a compute pipeline is made of, together with the bindings of any dispatch that uses it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PortableShader {
    /// A name for this text with these overrides: two shaders of one key are the same, whichever plan or version of this
    /// crate they come from.
    pub key: String,
    /// The kernel, for people and labels.
    pub label: String,
    /// The complete WGSL text.
    pub wgsl: String,
    /// The entry point.
    pub entry_point: String,
    /// The values of `override` declarations by name; 1 is true. Those not named keep their defaults.
    pub overrides: BTreeMap<String, u32>,
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PortableDispatch {
    /// Its place in [`PortablePlan::shaders`].
    pub shader: usize,
    /// The words of the uniform buffer at binding 0, a multiple of four.
    pub params: Vec<u32>,
    /// Workgroups in each dimension.
    pub grid: [u32; 3],
    /// The storage bindings, all in group 0.
    pub bindings: Vec<PortableBinding>,
}

/// One storage binding of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PortableBinding {
    /// The number in the shader.
    pub binding: u32,
    /// What kind of buffer is bound.
    pub slot: PortableSlot,
    /// Which of them.
    pub index: usize,
    /// How the shader declares it.
    pub access: PortableAccess,
    /// Where it begins, in bytes from the slot's start.
    pub offset_bytes: u64,
    /// Its size in bytes, a multiple of 4.
    pub bytes: u64,
}

/// A kind of buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum PortableSlot {
    /// A tensor of the caller's that is read.
    Input,
    /// A tensor of the caller's that is written.
    Output,
    /// A buffer of the caller's for what dispatches leave for one another.
    Scratch,
    /// A buffer of the host's with the words of one of [`PortablePlan::embedded`].
    Embedded,
}

/// How a shader declares a storage binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum PortableAccess {
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
}

impl PortablePlan {
    /// The version of the form that this crate writes.
    pub const VERSION: u32 = 1;
}

impl From<&Plan> for PortablePlan {
    fn from(plan: &Plan) -> PortablePlan {
        let mut kernels: Vec<&Kernel> = Vec::new();
        let mut shader = |kernel| match kernels.iter().position(|known| *known == kernel) {
            Some(at) => at,
            None => {
                kernels.push(kernel);
                kernels.len() - 1
            }
        };
        let dispatch = |dispatch: &'_ super::Dispatch, shader| PortableDispatch {
            shader,
            params: words(&dispatch.params.to_bytes()),
            grid: dispatch.grid,
            bindings: dispatch.bindings.iter().map(|own| PortableBinding::new(own, &dispatch.kernel)).collect(),
        };
        let dispatches = plan.dispatches.iter().map(|own| dispatch(own, shader(&own.kernel))).collect();
        PortablePlan {
            version: PortablePlan::VERSION,
            label: plan.label.clone(),
            input_bytes: plan.input_bytes.clone(),
            output_bytes: plan.output_bytes.clone(),
            scratch_bytes: plan.scratch_bytes.to_vec(),
            in_place: plan.in_place,
            embedded: plan.embedded.iter().map(|bytes| words(bytes)).collect(),
            dispatches,
            shaders: kernels.into_iter().map(PortableShader::from).collect(),
        }
    }
}

impl From<&Kernel> for PortableShader {
    fn from(kernel: &Kernel) -> PortableShader {
        let wgsl = kernel.wgsl();
        let mut overrides = BTreeMap::new(); // not collected: that would sort, which is a lot of code in a small module
        for (name, value) in kernel.constants() {
            overrides.insert(name.to_string(), value);
        }
        PortableShader {
            key: key(&wgsl, &overrides),
            label: kernel.to_string(),
            wgsl,
            entry_point: Kernel::ENTRY_POINT.into(),
            overrides,
        }
    }
}

impl PortableBinding {
    fn new(own: &super::Binding, kernel: &Kernel) -> PortableBinding {
        let (slot, index) = match own.slot {
            Slot::Input(n) => (PortableSlot::Input, n),
            Slot::Output(n) => (PortableSlot::Output, n),
            Slot::Scratch(n) => (PortableSlot::Scratch, n),
            Slot::Embedded(n) => (PortableSlot::Embedded, n),
        };
        PortableBinding {
            binding: own.binding,
            slot,
            index,
            access: if own.writes || kernel.shared_buffers { PortableAccess::ReadWrite } else { PortableAccess::Read },
            offset_bytes: own.offset_bytes,
            bytes: own.bytes,
        }
    }
}

/// The words of little-endian bytes, with zeros up to a multiple of so many bytes.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

/// A hash of the text and the overrides.
fn key(wgsl: &str, overrides: &BTreeMap<String, u32>) -> String {
    let overrides = overrides.iter().map(|(name, value)| format!("\0{name}={value}")).collect::<String>();
    format!("{:016x}", fnv(wgsl.bytes().chain(overrides.bytes())))
}
