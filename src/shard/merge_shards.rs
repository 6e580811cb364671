//! Partials put together on a device.

use super::Sharded;
use super::partial::{Partial, Partials, Wins};
use crate::error::within;
use crate::op::check_inputs;
use crate::plan::{self, PARTIAL_BYTES, Plan, ShardMerge};
use crate::{AnyOperation, DType, Error, InputNeed, Limits, Operation, Tensor, TensorType};

/// Puts together the partials of shards on a device, and gives the outputs of the whole: an operation like others, planned
/// and recorded.
///
/// | | |
/// |---|---|
/// | input | [`Partial`]s, shard by shard, each with one for every output of the whole, row-major: u64 `[shards, outputs, 2]`, at most one binding |
/// | outputs | those of [`Sharded::finish`] |
/// | a ReduceMax of a whole without elements | what [`ReduceMax::empty`](crate::ReduceMax::empty) says |
/// | a Hardmax of slices without elements | no winners: positions that mean nothing |
/// | any other output of which nothing is known | on a device the type's least value (a NaN, if NaNs are ignored) and an index of all ones; from the reference [`Error::PartialsIncomplete`] |
///
/// Partials that come from no element of the whole give a meaningless answer, and do no other harm.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MergeShards {
    whole: Sharded,
    count: u64,
}

impl Sharded {
    /// The operation that puts together the partials of so many shards on a device.
    ///
    /// # Errors
    /// [`Error::NoneGiven`] for none.
    pub fn merge_shards(&self, count: u64) -> Result<MergeShards, Error> {
        match count {
            0 => Err(Error::NoneGiven { what: "shards" }),
            _ => Ok(MergeShards { whole: self.clone(), count }),
        }
    }
}

impl MergeShards {
    /// What is planned: one merge of all partials.
    fn merge(&self) -> Result<ShardMerge, Error> {
        let (rule, outputs) = (self.whole.rule(), self.whole.output_types()?);
        let of_nothing = match self.whole.operation() {
            AnyOperation::ReduceMax(op) if self.whole.shape().contains(&0) => Some(op.empty),
            _ => None,
        };
        Ok(ShardMerge {
            count: self.count,
            dtype: self.whole.dtype(),
            has_positions: rule.position.is_some(),
            nan: rule.nan,
            last_wins: rule.position == Some(Wins::Last),
            of_nothing,
            outputs,
        })
    }
}

impl crate::operation::sealed::Sealed for MergeShards {}

impl Operation for MergeShards {
    fn name(&self) -> &'static str {
        "MergeShards"
    }

    fn inputs(&self) -> Result<Vec<InputNeed>, Error> {
        let partials = self.count.saturating_mul(self.outputs()?[0].len());
        let bytes = partials.saturating_mul(PARTIAL_BYTES);
        within("bytes of partials", bytes, i64::MAX as u64)?;
        Ok(vec![InputNeed { dtype: DType::U64, elements: bytes / 8, bytes }])
    }

    fn outputs(&self) -> Result<Vec<TensorType>, Error> {
        self.whole.output_types()
    }

    fn plan(&self, limits: &Limits) -> Result<Plan, Error> {
        plan::merge_shards(&self.merge()?, limits)
    }

    fn reference(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
        let needs = self.inputs()?;
        check_inputs(&needs, inputs)?;
        let mut known = self.whole.nothing()?;
        let outputs = known.records().len();
        let partials = inputs[0].bytes()[..needs[0].bytes as usize].chunks_exact(size_of::<Partial>());
        for (n, partial) in partials.map(bytemuck::pod_read_unaligned).enumerate() {
            let own = &mut known.records_mut()[n % outputs];
            *own = own.merge(partial);
        }
        self.whole.finish(&known)
    }
}

impl Partials {
    /// The partials as a tensor, for [`MergeShards`] and for whoever sends tensors: u64 `[outputs, 2]`.
    ///
    /// # Errors
    /// None that can happen: the shape follows from the partials.
    pub fn to_tensor(&self) -> Result<Tensor, Error> {
        let bytes: &[u8] = bytemuck::cast_slice(self.records());
        Tensor::from_bytes(DType::U64, [self.records().len() as u64, 2], bytes.to_vec())
    }
}
