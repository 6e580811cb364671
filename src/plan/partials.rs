//! The partials of shards, put together on a device: one dispatch.

use super::device::Device;
use super::fill::fill;
use super::reduce::Found;
use super::reduce_max::words_of_nothing;
use super::schedule::{MAX_OUTPUTS, Reduction};
use super::{Binding, Dispatches, Plan, Slot, within};
use crate::error::list;
use crate::shader::{Epilogue, Operator};
use crate::shard::{MergeShards, PARTIAL_BYTES};
use crate::{Error, Limits, Operation};

pub(crate) fn merge_shards(op: &MergeShards, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let outputs = op.outputs()?;
    let out_len = outputs[0].len();
    let label = format!("Merge of {} shards of {} {}", op.count(), op.dtype(), list(&outputs[0].shape));
    Plan::of(label, 1, &outputs, device, |targets| dispatches(op, out_len, targets, device))
}

fn dispatches(op: &MergeShards, out_len: u64, targets: &[Binding], device: &Device) -> Result<Dispatches, Error> {
    if let Some(empty) = op.of_nothing() {
        return fill(words_of_nothing(op.dtype(), empty), targets[0], device);
    }
    let reduction = reduction(op, out_len, device);
    within("outputs of partials", out_len, MAX_OUTPUTS)?;
    within("shards", op.count(), reduction.max_records(out_len))?;
    let bytes = op.count() * out_len * PARTIAL_BYTES;
    within("bytes of partials", bytes, device.limits.max_binding_bytes)?;
    let partials = Binding { binding: 1, slot: Slot::Input(0), writes: false, offset_bytes: 0, bytes };
    let dispatch = reduction.merge(out_len, op.count(), Found::Partials, partials, targets.to_vec())?;
    Ok(Dispatches(vec![dispatch]))
}

fn reduction<'a>(op: &MergeShards, out_len: u64, device: &'a Device) -> Reduction<'a> {
    let (operator, epilogue) = match (op.index(), op.has_values()) {
        (None, _) => (Operator::ReduceMax, Epilogue::Value),
        (Some(_), false) => (Operator::ArgMax, Epilogue::Index),
        (Some(_), true) => (Operator::ArgMax, Epilogue::Both),
    };
    Reduction {
        dtype: op.dtype(),
        operator,
        epilogue,
        reduced: &[],
        nan: op.nan(),
        last: op.last_wins(),
        index_words: op.index().map_or(1, |index| index.bytes() / 4),
        slice_len: 1,
        out_len,
        device,
    }
}
