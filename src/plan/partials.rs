//! The partials of shards, put together on a device: one dispatch.

use super::device::Device;
use super::fill::fill;
use super::reduce::Found;
use super::reduce_max::words_of_nothing;
use super::schedule::{MAX_OUTPUTS, Reduction};
use super::{Binding, Dispatches, Plan, Slot};
use crate::error::{list, within};
use crate::shader::Epilogue;
use crate::{DType, EmptyMax, Error, Limits, NanPolicy, TensorType};

/// The bytes of a partial: a key and a place.
pub(crate) const PARTIAL_BYTES: u64 = 16;

/// Partials of shards, one for each output of the whole and shard after shard, and what the whole gives.
pub(crate) struct ShardMerge {
    /// Shards.
    pub count: u64,
    /// The type of the elements.
    pub dtype: DType,
    pub nan: NanPolicy,
    pub has_positions: bool,
    /// Whether the last of equal maxima wins.
    pub last_wins: bool,
    /// What the maximum of nothing is, where the whole has no elements.
    pub of_nothing: Option<EmptyMax>,
    /// The maxima, the positions, or both in this order.
    pub outputs: Vec<TensorType>,
}

pub(crate) fn merge_shards(merge: &ShardMerge, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let outputs = &merge.outputs;
    let out_len = outputs[0].len();
    let label = format!("Merge of {} shards of {} {}", merge.count, merge.dtype, list(&outputs[0].shape));
    Plan::of(label, 1, outputs, device, |targets| dispatches(merge, out_len, targets, device))
}

fn dispatches(merge: &ShardMerge, out_len: u64, targets: &[Binding], device: &Device) -> Result<Dispatches, Error> {
    if let Some(empty) = merge.of_nothing {
        return fill(words_of_nothing(merge.dtype, empty), targets[0], device);
    }
    let reduction = reduction(merge, out_len, device);
    within("outputs of partials", out_len, MAX_OUTPUTS)?;
    within("shards", merge.count, reduction.max_records(out_len))?;
    let bytes = merge.count * out_len * PARTIAL_BYTES;
    within("bytes of partials", bytes, device.limits.max_binding_bytes)?;
    let partials = Binding { binding: 1, slot: Slot::Input(0), writes: false, offset_bytes: 0, bytes };
    let dispatch = reduction.merge(out_len, merge.count, Found::Partials, partials, targets.to_vec())?;
    Ok(Dispatches(vec![dispatch]))
}

fn reduction<'a>(merge: &ShardMerge, out_len: u64, device: &'a Device) -> Reduction<'a> {
    let epilogue = match (merge.has_positions, merge.outputs.len()) {
        (false, _) => Epilogue::Value,
        (true, 1) => Epilogue::Index,
        (true, _) => Epilogue::Both,
    };
    let index = merge.outputs.last().filter(|_| merge.has_positions);
    Reduction {
        last: merge.last_wins,
        index_words: index.map_or(1, |index| index.dtype.bytes() / 4),
        ..Reduction::new(merge.dtype, merge.nan, epilogue, &[], out_len, device)
    }
}
