//! Plans are put together: outputs bound, dispatches taken, what they need summed up.

use super::device::{Device, PACK_BYTES};
use super::folds::PARTS_OF_ELEMENTS;
use super::schedule::{USUAL_PARTS, most_records};
use super::{Binding, Dispatch, Dispatches, Plan, Slot};
use crate::dtype::padded_bytes;
use crate::shader::Role;
use crate::{DType, Error, Limits, TensorType};

impl Plan {
    /// A plan that does nothing yet.
    pub(super) fn new(label: String, inputs: usize, outputs: &[Binding]) -> Plan {
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
    pub(super) fn of(
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
    pub(super) fn complete(mut self, mut dispatches: Dispatches, device: &Device) -> Result<Plan, Error> {
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

/// The whole outputs, at bindings 3 and on.
pub(super) fn output_bindings(outputs: &[TensorType]) -> Vec<Binding> {
    let whole = |(n, output): (usize, &TensorType)| {
        let bytes = padded_bytes(output.dtype, output.len()).unwrap_or(u64::MAX);
        Binding { binding: 3 + n as u32, slot: Slot::Output(n), writes: true, offset_bytes: 0, bytes }
    };
    outputs.iter().enumerate().map(whole).collect()
}
