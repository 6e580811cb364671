//! Whether a plan is whole. Those that this crate makes are; one that was put together by hand, or read from a file, may
//! not be.

use super::params::MAX_DIMS;
use super::{Binding, Constant, Params, Pass, Plan, Program, Slot};
use crate::{Error, Limits};

impl Plan {
    /// Whether the plan can be dispatched on a device with these limits, and every binding names bytes that are there.
    ///
    /// [`Kernels::prepare`](crate::Kernels::prepare) asks this first. It is not left to wgpu, which accepts a workgroup of
    /// any size where an `override` sets it, and knows nothing of slots.
    ///
    /// # Errors
    /// [`Error::TooLarge`] or [`Error::BindingMisaligned`] for a plan that was made for larger limits,
    /// [`Error::MissingFeature`] for one that was made for [`Limits::int64`] where there is none;
    /// [`Error::InvalidPlan`] for one that contradicts itself.
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        if let Some(input) = self.in_place {
            let there = input < self.input_bytes.len() && !self.output_bytes.is_empty();
            ensure(there, || format!("output 0 is to be written over input {input}, and one of them is not there"))?;
        }
        for (n, bytes) in self.constants.iter().enumerate() {
            ensure(!bytes.is_empty() && bytes.len().is_multiple_of(4), || {
                format!("constant {n} has {} bytes, a multiple of 4 and more than 0 expected", bytes.len())
            })?;
        }
        self.passes.iter().enumerate().try_for_each(|(n, pass)| self.check_pass(n, pass, limits))
    }

    fn check_pass(&self, n: usize, pass: &Pass, limits: &Limits) -> Result<(), Error> {
        for constant in &pass.kernel.constants {
            check_constant(*constant, limits)?;
        }
        if pass.kernel.int64 && !limits.int64 {
            return Err(Error::MissingFeature { feature: "SHADER_INT64" });
        }
        for groups in pass.grid {
            within("workgroups in one dimension", groups.into(), limits.max_groups.into())?;
        }
        ensure(pass.params_fit(), || format!("pass {n} has parameters that {} does not take", pass.kernel))?;
        within("storage bindings of a pass", pass.bindings.len() as u64, limits.max_storage_bindings.into())?;
        for binding in &pass.bindings {
            within("bytes of a binding", binding.bytes, limits.max_binding_bytes)?;
            let (offset, alignment) = (binding.offset_bytes, limits.binding_alignment_bytes.max(1));
            if offset % alignment != 0 {
                return Err(Error::BindingMisaligned { slot: binding.slot.to_string(), offset, alignment });
            }
            self.check_binding(binding).map_err(|problem| Error::InvalidPlan {
                problem: format!("binding {} of pass {n}: {problem}", binding.binding),
            })?;
        }
        Ok(())
    }

    fn check_binding(&self, own: &Binding) -> Result<(), String> {
        let given = match own.slot {
            Slot::Input(n) => self.input_bytes.get(n).copied(),
            Slot::Output(n) => self.output_bytes.get(n).copied(),
            Slot::Scratch(n) => self.scratch_bytes.get(n).copied(),
            Slot::Constant(n) => self.constants.get(n).map(|bytes| bytes.len() as u64),
        };
        let Some(given) = given else {
            return Err(format!("the plan has no {}", own.slot));
        };
        if own.bytes == 0 || !own.bytes.is_multiple_of(4) {
            return Err(format!("{} bytes, a multiple of 4 and more than 0 expected", own.bytes));
        }
        if own.writes && matches!(own.slot, Slot::Input(_) | Slot::Constant(_)) {
            return Err(format!("{} is written", own.slot));
        }
        match own.offset_bytes.checked_add(own.bytes) {
            Some(end) if end <= given => Ok(()),
            _ => Err(format!("{} bytes from byte {} on, of {given} of {}", own.bytes, own.offset_bytes, own.slot)),
        }
    }
}

impl Pass {
    /// Whether the parameters are those of the program, and fit into its uniform buffer.
    fn params_fit(&self) -> bool {
        match (self.kernel.program, &self.params) {
            (Program::Fill, Params::Fill(_)) => true,
            (Program::HardmaxWriteColumns | Program::HardmaxWriteRows { .. }, Params::HardmaxWrite(_)) => true,
            (
                Program::Reduce { .. } | Program::HardmaxRows { .. } | Program::HardmaxColumns,
                Params::Reduction(params),
            ) => params.kept.len() <= MAX_DIMS && params.outer.len() <= MAX_DIMS,
            (Program::MaxPacks { operands, .. } | Program::MaxElements { operands }, Params::Broadcast(params)) => {
                operands <= u32::BITS // a mask of so many bits tells their forms
                    && params.operands.len() == operands as usize
                    && params.sizes.len() <= MAX_DIMS
                    && params.operands.iter().all(|operand| operand.strides.len() <= MAX_DIMS)
            }
            _ => false,
        }
    }
}

/// What loops count in steps of must be neither 0 nor more than their ends leave room for (`shaders/shared/grid.wgsl`):
/// four teams at the most.
fn check_constant(constant: Constant, limits: &Limits) -> Result<(), Error> {
    const LARGEST_GROUP: u32 = 0x10000 / 4; // no device has larger ones
    let most = limits.max_group_invocations.min(LARGEST_GROUP).into();
    match constant {
        Constant::Group(invocations) => {
            within("invocations of a workgroup", invocations.into(), most)?;
            ensure(invocations > 0, || "a workgroup has no invocations".to_string())
        }
        Constant::Team(invocations) => {
            within("invocations of a team", invocations.into(), most)?;
            let problem = || format!("a team has {invocations} invocations, a power of two expected");
            ensure(invocations.is_power_of_two(), problem)
        }
        _ => Ok(()),
    }
}

fn within(what: &'static str, given: u64, limit: u64) -> Result<(), Error> {
    if given > limit { Err(Error::TooLarge { what, given, limit }) } else { Ok(()) }
}

fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::InvalidPlan { problem: problem() }) }
}
