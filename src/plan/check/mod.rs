//! Whether a plan is whole. Those that this crate makes are; one that was put together by hand, or read from a file, may
//! not be.
//!
//! A plan that passes does no harm, whatever its numbers are: it writes nothing but outputs and scratch, there only what its
//! bindings name (wgpu compares each index with the bound range), and it ends, since no invocation takes more turns, and
//! no dispatch has more workgroups, than its numbers ask for.

mod broadcasts;
mod kernel;
mod reductions;
mod work;

use crate::error::{ensure, list, within};
use crate::plan::device::{MAX_BINDING_BYTES, check_countable};
use crate::plan::{Binding, Declaration, Dispatch, Params, Plan, Program, Role, Slot, check_count};
use crate::shader::MAX_DIMS;
use crate::{Error, Limits};
use kernel::{Group, check_kernel};
use work::Work;

impl Plan {
    /// Whether the plan can be dispatched on a device with these limits, and every binding names bytes that are there, of a
    /// slot that its shader may read or write.
    ///
    /// `Kernels::prepare` asks this first. It is not left to wgpu, which accepts a workgroup of
    /// any size where an `override` sets it, and knows nothing of slots.
    ///
    /// # Errors
    /// [`Error::TooLarge`] or [`Error::BindingMisaligned`] for a plan that was made for larger limits,
    /// [`Error::MissingFeature`] for one that was made for [`Limits::int64`] where there is none;
    /// [`Error::InvalidPlan`] for one that contradicts itself; those of [`Limits::check`].
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        limits.check()?;
        check_count(self.dispatches.len() as u64)?;
        self.check_slots()?;
        for (n, dispatch) in self.dispatches.iter().enumerate() {
            self.check_dispatch(dispatch, limits).map_err(|error| match error {
                Error::InvalidPlan { problem } => Error::InvalidPlan { problem: format!("dispatch {n}: {problem}") },
                other => other,
            })?;
        }
        Ok(())
    }

    fn check_slots(&self) -> Result<(), Error> {
        let declared = [&self.input_bytes[..], &self.output_bytes, &self.scratch_bytes].concat();
        ensure(declared.iter().all(|bytes| bytes.is_multiple_of(4)), || {
            format!("its slots have {} bytes, whole words expected", list(&declared))
        })?;
        if let Some(input) = self.in_place {
            let there = input < self.input_bytes.len() && !self.output_bytes.is_empty();
            ensure(there, || format!("output 0 is to be written over input {input}, and one of them is not there"))?;
            ensure(self.input_bytes[input] == 0, || {
                format!("output 0 is to be written over input {input}, also read")
            })?;
        }
        for (n, bytes) in self.embedded.iter().enumerate() {
            ensure(!bytes.is_empty() && bytes.len().is_multiple_of(4), || {
                format!("embedded operand {n} has {} bytes, a multiple of 4 and more than 0 expected", bytes.len())
            })?;
        }
        Ok(())
    }

    fn check_dispatch(&self, dispatch: &Dispatch, limits: &Limits) -> Result<(), Error> {
        let group = check_kernel(&dispatch.kernel, limits)?;
        for groups in dispatch.grid {
            within("workgroups in one dimension", groups.into(), limits.max_groups.into())?;
        }
        work_of(dispatch, &group)?.check(dispatch)?;
        within("storage bindings of a dispatch", dispatch.bindings.len() as u64, limits.max_storage_bindings.into())?;
        self.check_bindings(dispatch, limits)
    }

    /// The bindings are those that the shader declares, each once.
    fn check_bindings(&self, dispatch: &Dispatch, limits: &Limits) -> Result<(), Error> {
        let declared = dispatch.kernel.bindings();
        let numbers: Vec<u32> = dispatch.bindings.iter().map(|own| own.binding).collect();
        let each_once = numbers.len() == declared.len() && declared.iter().all(|own| numbers.contains(&own.binding));
        ensure(each_once, || {
            let expected: Vec<u32> = declared.iter().map(|own| own.binding).collect();
            format!("bindings {} given, {} expected by {}", list(&numbers), list(&expected), dispatch.kernel)
        })?;
        for own in &dispatch.bindings {
            within("bytes of a binding", own.bytes, limits.max_binding_bytes.min(MAX_BINDING_BYTES))?;
            let (offset, alignment) = (own.offset_bytes, limits.binding_alignment_bytes);
            if !offset.is_multiple_of(alignment) {
                return Err(Error::BindingMisaligned { slot: own.slot.to_string(), offset, alignment });
            }
            let declared = declared.iter().find(|declared| declared.binding == own.binding); // there is one for each
            let problem = declared.and_then(|declared| self.binding_problem(own, declared));
            let times = dispatch.bindings.iter().filter(|other| other.slot == own.slot).count();
            let problem = problem.or(match (own.writes, dispatch.kernel.shared_buffers, times) {
                (false, false, _) | (_, _, 0..=1) => None,
                (true, _, _) => Some(format!("{} is written and bound twice", own.slot)),
                (false, true, _) => Some(format!("{} is bound twice by a kernel of shared buffers", own.slot)),
            });
            ensure(problem.is_none(), || format!("binding {}: {}", own.binding, problem.unwrap_or_default()))?;
        }
        Ok(())
    }

    fn binding_problem(&self, own: &Binding, declared: &Declaration) -> Option<String> {
        let given = match own.slot {
            Slot::Input(n) => self.input_bytes.get(n).copied(),
            Slot::Output(n) => self.output_bytes.get(n).copied(),
            Slot::Scratch(n) => self.scratch_bytes.get(n).copied(),
            Slot::Embedded(n) => self.embedded.get(n).map(|bytes| bytes.len() as u64),
        };
        let Some(given) = given else {
            return Some(format!("the plan has no {}", own.slot));
        };
        if !allows(declared.role, own.slot) || own.writes != declared.writes {
            let access = |writes| if writes { "written" } else { "read" };
            let (is, expected) = (access(own.writes), access(declared.writes));
            return Some(format!("{} is {is}, {:?} {expected} there", own.slot, declared.role).to_lowercase());
        }
        if own.bytes < declared.element_bytes || !own.bytes.is_multiple_of(4) {
            let least = declared.element_bytes;
            return Some(format!("{} bytes, a multiple of 4 and at least {least} expected", own.bytes));
        }
        match own.offset_bytes.checked_add(own.bytes) {
            Some(end) if end <= given => None,
            _ => Some(format!("{} bytes from byte {} on, of {given} of {}", own.bytes, own.offset_bytes, own.slot)),
        }
    }
}

/// What it has to do, with parameters that are the program's, and fit into its uniform buffer.
fn work_of(dispatch: &Dispatch, group: &Group) -> Result<Work, Error> {
    let kernel = &dispatch.kernel;
    match (kernel.program, &dispatch.params) {
        (Program::Fill { .. }, Params::Fill(params)) => {
            ensure(params.share > 0, || "0 packs or words in turn: more than 0 expected".to_string())?;
            check_countable(u64::from(params.share) + u64::from(params.len))?;
            let writes = params.len.saturating_sub(params.first);
            Ok(Work::shared(writes.into(), params.share.into(), 1, group))
        }
        (Program::Reduce { access, epilogue, stores, .. }, Params::Reduction(params))
            if params.kept.len().max(params.outer.len()) <= MAX_DIMS =>
        {
            Work::of_reduction(kernel, access, epilogue, stores, params, group)
        }
        (Program::Merge { .. }, Params::Merge(params)) => Work::of_merge(kernel, params, group),
        (Program::HardmaxWrite(writer), Params::HardmaxWrite(params)) => Work::of_write(kernel, writer, params, group),
        (Program::HardmaxOnes { .. }, Params::HardmaxOnes(params)) => Work::of_ones(params, group),
        (Program::Max { operands, access }, Params::Broadcast(params))
            if params.operands.len() == operands.count as usize
                && params.operands.iter().map(|own| own.strides.len()).fold(params.sizes.len(), usize::max)
                    <= MAX_DIMS =>
        {
            Work::of_broadcast(kernel, access, params, group)
        }
        _ => Err(Error::InvalidPlan { problem: format!("its parameters are such as {kernel} does not take") }),
    }
}

/// Whether a binding of this role may lie there.
const fn allows(role: Role, slot: Slot) -> bool {
    match role {
        Role::Operand => !matches!(slot, Slot::Output(_)),
        Role::Result => matches!(slot, Slot::Output(_)),
        Role::Target => matches!(slot, Slot::Output(_) | Slot::Scratch(_)),
        Role::Scratch => matches!(slot, Slot::Scratch(_)),
        Role::Known => matches!(slot, Slot::Scratch(_) | Slot::Input(_)),
    }
}
