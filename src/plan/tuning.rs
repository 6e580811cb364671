//! The tuning policy: what a device likes, as numbers.

use crate::{AdapterKind, Limits};

/// How work is cut for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tuning {
    /// Invocations of a workgroup.
    pub group: u64,
    /// The most invocations that share a task.
    pub max_team: u64,
    /// The fewest 16-byte loads, or single elements where they are strided, that are worth another team member.
    pub loads_per_member: u64,
    /// Invocations that keep the device busy: below, long reductions are split.
    pub busy_invocations: u64,
    /// The fewest 16-byte loads, or single elements where they are strided, that an invocation of a split reduction is
    /// worth.
    pub loads_per_split: u64,
    /// The short runs, far apart, that a task of a large reduction takes: more are split.
    pub runs_per_split: u64,
    /// The 16-byte loads up to which an invocation takes one row after another, so that what it reads is one stream.
    pub loads_per_turn: u64,
    /// Packs side by side that an invocation of a column kernel reduces: 1 or 4.
    pub column_packs: u64,
    /// The rows up to which it takes one: so few stay in the cache until the next invocation reads on in them.
    pub cached_rows: u64,
    /// The bytes from one row of columns to the next from which on what rows begin with is asked for ahead, where an
    /// invocation takes one pack of them.
    pub far_bytes: u64,
    /// The most packs, or output units, that an invocation of an element-wise kernel writes.
    pub max_share: u64,
    /// Whether packs are bound as pairs of 64-bit integers, where the device has them.
    pub int64: bool,
    /// The most invocations that a dispatch can have: the device's, whatever the row says.
    pub most_invocations: u64,
}

impl Tuning {
    /// The policy for reductions of so many rows.
    pub fn for_rows(self, rows: u64) -> Tuning {
        let column_packs = if rows <= self.cached_rows { 1 } else { self.column_packs };
        Tuning { column_packs, ..self }
    }

    /// The words, packs or output units that an invocation writes if there are so many in all.
    pub fn share(&self, writes: u64) -> u64 {
        let busy = writes.div_ceil(self.busy_invocations).clamp(1, self.max_share);
        busy.max(self.needed_share(writes))
    }

    /// The tasks that an invocation cannot but take if there are so many in all.
    pub fn needed_share(&self, tasks: u64) -> u64 {
        tasks.div_ceil(self.most_invocations)
    }

    /// The most elements of a binding, in whole steps of what bindings may begin at, that one dispatch can write so many
    /// at a time, with no invocation looping for too long.
    pub fn writable(&self, binding_elements: u64, step: u64, write_len: u64) -> u64 {
        let writable = self.most_invocations.saturating_mul(MOST_WRITES).saturating_mul(write_len);
        (writable.min(binding_elements) / step).max(1) * step
    }
}

/// The most bytes of workgroup memory that a team's merge keeps for each invocation.
pub(super) const MEMBER_BYTES: u64 = 16;

/// The writes of an invocation on a device that has fewer invocations than there is to write.
const MOST_WRITES: u64 = 1024;

/// lavapipe: an invocation walks its own contiguous part, with no barrier. A load of 64 bits is as fast as one of 32.
const CPU: Tuning = Tuning {
    group: 16,
    max_team: 1,
    loads_per_member: 1,
    busy_invocations: 128,
    loads_per_split: 256,
    runs_per_split: 4,
    loads_per_turn: 1024,
    column_packs: 4,
    cached_rows: 24,
    far_bytes: u64::MAX,
    max_share: 256,
    int64: true,
    most_invocations: u64::MAX,
};

/// SwiftShader, which loads each element by itself and keeps few values in registers.
const NARROW_CPU: Tuning =
    Tuning { runs_per_split: u64::MAX, loads_per_turn: 1, column_packs: 1, far_bytes: 8192, int64: false, ..CPU };

/// Hardware: neighbours read neighbouring packs, thousands of them at once.
const GPU: Tuning = Tuning {
    group: 256,
    max_team: 256,
    loads_per_member: 4,
    busy_invocations: 1 << 16,
    loads_per_split: 4,
    runs_per_split: u64::MAX,
    loads_per_turn: 1,
    column_packs: 1,
    cached_rows: 0,
    far_bytes: u64::MAX,
    max_share: 1,
    int64: false,
    most_invocations: u64::MAX,
};

pub(super) fn tuning(limits: &Limits) -> Tuning {
    let row = match limits.adapter {
        AdapterKind::Cpu if limits.subgroup_size < 8 => NARROW_CPU,
        AdapterKind::Cpu => CPU,
        AdapterKind::Gpu => GPU,
    };
    let most = u64::from(limits.max_group_invocations).min(u64::from(limits.max_group_memory_bytes) / MEMBER_BYTES);
    let group = row.group.min(power_of_two_below(most));
    let groups = u64::from(limits.max_groups).max(1);
    Tuning {
        group,
        max_team: row.max_team.min(group),
        most_invocations: groups.saturating_mul(groups).saturating_mul(group),
        int64: row.int64 && limits.int64,
        ..row
    }
}

/// The greatest power of two that is at most `n`, and 1 for 0.
pub(super) fn power_of_two_below(n: u64) -> u64 {
    1 << n.max(1).ilog2()
}
