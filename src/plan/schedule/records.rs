//! Records: how many an output may have, and who merges them.

use super::{MAX_STEPS, Reduction, USUAL_PARTS, most_records};
use crate::plan::device::power_of_two_below;
use crate::shader::{Epilogue, Operator};

/// The most records that one invocation of a merge takes, so that those of a whole output unit stay below [`MAX_STEPS`].
const MAX_RECORDS: u64 = MAX_STEPS / 8;

/// The packs that an invocation writes of a Hardmax's slice, if others can write the rest.
const MAX_WRITES_OF_PART: u64 = 1024;

impl Reduction<'_> {
    /// Bytes of a record: a key and, of a position, 64 bits.
    pub fn record_bytes(&self) -> u64 {
        4 * (self.dtype.key_words() + if self.operator() == Operator::ArgMax { 2 } else { 0 })
    }

    /// The records that each of so many outputs may have.
    pub fn max_chunks(&self, outputs: u64, seen: u64) -> u64 {
        let paid = self.scratch_budget(seen, USUAL_PARTS) / outputs.saturating_mul(self.record_bytes());
        paid.clamp(1, self.max_records(outputs))
    }

    /// The most bytes of records, where these may be one part of so many of the input that is seen.
    pub fn scratch_budget(&self, seen: u64, parts: u64) -> u64 {
        most_records(seen.saturating_mul(self.dtype.bytes()), parts).min(self.device.limits.max_binding_bytes)
    }

    /// The most records of each of so many outputs that one merge can take.
    pub fn max_records(&self, outputs: u64) -> u64 {
        match self.merge_share(outputs) {
            1 => MAX_RECORDS * self.max_merge_team(outputs),
            share => (MAX_RECORDS / share).max(1),
        }
    }

    /// The invocations that share an output of a merge.
    pub fn merge_team(&self, outputs: u64, records: u64) -> u64 {
        let most = self.max_team();
        let preferred = match self.epilogue {
            Epilogue::Ones => most.min(self.device.tuning.group), // they write, too
            _ => records.next_power_of_two().min(most),
        };
        let needed = records.div_ceil(MAX_RECORDS).next_power_of_two();
        preferred.min(self.max_merge_team(outputs)).max(needed)
    }

    /// The most invocations that can share an output of a merge: the teams of a workgroup fill whole units, and the device
    /// has workgroups for every output.
    fn max_merge_team(&self, outputs: u64) -> u64 {
        let members = self.device.most_members(self.lanes());
        power_of_two_below(members.min(self.device.max_invocations / outputs))
    }

    /// The teams that write a Hardmax's slice, a part each: few enough that what they merge before pays.
    pub fn merge_parts(&self, outputs: u64, team: u64) -> u64 {
        let packs = self.slice_len / self.dtype.pack_elements();
        let wanted = self.device.tuning.busy_invocations / (outputs * team).max(1);
        let dispatchable = self.device.max_invocations / (outputs * team).max(1);
        wanted.min(packs / team).max(packs / team / MAX_WRITES_OF_PART).min(dispatchable).max(1)
    }

    /// The output units that an invocation of a merge makes: several only where the device has too few.
    pub fn merge_share(&self, outputs: u64) -> u64 {
        self.device.needed_share(outputs.div_ceil(self.lanes()))
    }
}
