//! What plans know of a device: its limits, and the tuning, which says what it likes, as numbers.

use crate::error::within;
use crate::shader::{Epilogue, Kernel, LONGEST_WRITTEN_ROW, Operator, Override, Program, TILE_PACKS};
use crate::{AdapterKind, DType, Error, Limits, Tuning};

/// The invocations that lavapipe runs in lockstep on processors with AVX2. They should go through memory together, from end to end: to read
/// parts of rows takes twice as long.
const VECTOR: u64 = 8;

/// A device. A plan makes it once.
pub(super) struct Device {
    pub limits: Limits,
    pub tuning: Tuning,
    /// The kind of adapter that this is tuned like, whichever it is: on GPUs neighbouring invocations are to read what lies side by side. On
    /// lavapipe each goes through memory by itself, and keeps many values in registers; on SwiftShader few, and it pays for each load.
    pub like: AdapterKind,
    /// The most invocations that a dispatch can have.
    pub max_invocations: u64,
}

/// The most bytes of a binding: shaders count its words in 32 bits.
pub(super) const MAX_BINDING_BYTES: u64 = (1 << 32) - 4;

/// The bytes of a pack.
pub(super) const PACK_BYTES: u64 = 16;

/// The most bytes of workgroup memory that a team's merge keeps for each invocation.
pub(super) const MEMBER_BYTES: u64 = 16;

/// The bytes that a team keeps for each invocation that reduces columns together: what it shares of a pack of them (`ColumnPart`
/// in shaders/lib).
pub(super) fn column_member_bytes(operator: Operator, dtype: DType) -> u64 {
    let floats = if dtype.is_float() { 2 } else { 1 };
    match (operator, dtype.bytes()) {
        (Operator::ReduceMax, 8) => PACK_BYTES,
        (Operator::ReduceMax, _) => floats * dtype.lanes() * PACK_BYTES,
        (Operator::ArgMax, 8) => 4 * PACK_BYTES,
        (Operator::ArgMax, 4) => 2 * PACK_BYTES,
        (Operator::ArgMax, _) => dtype.lanes() * PACK_BYTES,
    }
}

/// The most elements of a short row, or rows of a chunk of columns, among which positions can be told apart: of 8 bits 2^24 and of 16
/// bits 2^16, which a rank has room for (shaders/lib/ranks.wgsl), else any number.
pub(super) fn most_ranked(dtype: DType) -> u64 {
    match dtype.bytes() {
        bytes @ (1 | 2) => 1 << (32 - 8 * bytes),
        _ => u64::MAX,
    }
}

/// The writes of an invocation on a device that has fewer invocations than there is to write.
const MAX_WRITES: u64 = 1024;

impl Device {
    /// The device with these limits, if there can be one.
    pub fn new(limits: &Limits) -> Result<Device, Error> {
        limits.check()?;
        let mut max_binding_bytes = limits.max_binding_bytes.min(MAX_BINDING_BYTES);
        if limits.shared_buffers {
            max_binding_bytes -= max_binding_bytes % PACK_BYTES; // inputs are bound in whole packs
        }
        let limits = Limits { max_binding_bytes, ..limits.clone() };
        let row = limits.tuning.unwrap_or(Tuning::of(limits.adapter));
        let most = u64::from(limits.max_group_invocations).min(u64::from(limits.max_group_memory_bytes) / MEMBER_BYTES);
        let most = power_of_two_below(most);
        let (group, max_team) = (row.group.min(most), row.max_team.min(most));
        let groups = u64::from(limits.max_groups);
        let max_invocations = groups.saturating_mul(groups).saturating_mul(group);
        let tuning = Tuning { group, max_team, int64: row.int64 && limits.int64, ..row };
        let like = match (tuning.max_team > 1, tuning.column_packs > 1) {
            (true, _) => AdapterKind::Hardware,
            (false, true) => AdapterKind::Lavapipe,
            (false, false) => AdapterKind::SwiftShader,
        };
        Ok(Device { limits, tuning, like, max_invocations })
    }

    /// The kernel of a program for workgroups of so many invocations, with these overrides. Its packs are pairs of 64-bit integers, if such
    /// are liked and there are packs.
    pub fn kernel(&self, program: Program, dtype: DType, group: u64, more: &[Option<Override>]) -> Kernel {
        let group = Some(Override::Group(group as u32));
        let overrides = [&[group], more].concat().into_iter().flatten().collect();
        let int64 = self.tuning.int64 && program.takes_packs();
        Kernel { program, dtype, overrides, int64, shared_buffers: false }
    }

    /// The invocations of a workgroup of such teams, if so many of them make an output unit.
    pub fn team_group(&self, team: u64, lanes: u64) -> u64 {
        if team == 1 { self.tuning.group } else { self.tuning.group.max(team * lanes) }
    }

    /// The invocations of a workgroup that keeps so many bytes for each in workgroup memory.
    pub fn group_of_members(&self, member_bytes: u64) -> u64 {
        self.group_with_room(self.tuning.group, member_bytes)
    }

    /// The same of one twice as large. (Of the largest ones, devices with few registers keep values in memory.)
    pub fn larger_group_of_members(&self, member_bytes: u64) -> u64 {
        let group = self.tuning.group;
        self.group_with_room((2 * group).min(self.tuning.max_team).max(group), member_bytes)
    }

    fn group_with_room(&self, most: u64, member_bytes: u64) -> u64 {
        let room = u64::from(self.limits.max_group_memory_bytes) / member_bytes;
        most.min(power_of_two_below(room))
    }

    /// The most invocations of a dispatch of such workgroups, none where not even one finds room.
    pub fn invocations_of_members(&self, member_bytes: u64) -> u64 {
        let fits = member_bytes <= self.limits.max_group_memory_bytes.into();
        if fits { self.max_invocations / self.tuning.group * self.group_of_members(member_bytes) } else { 0 }
    }

    /// The most members of such a team.
    pub fn most_members(&self, lanes: u64) -> u64 {
        (self.tuning.group.max(self.tuning.max_team) / lanes).max(1)
    }

    /// The packs side by side of which eight invocations see all of a row of so many, where these go through memory from end to end
    /// together; 0 where four will do, or no panel is as wide.
    pub fn packs_of_eighths(&self, row_packs: u64) -> u64 {
        match row_packs.div_ceil(self.neighbours()) {
            _ if self.neighbours() == 1 => 0,
            5..=8 => 8,
            9..=16 => 16,
            _ => 0,
        }
    }

    /// The neighbours that go through memory together.
    pub fn neighbours(&self) -> u64 {
        if self.like == AdapterKind::Lavapipe && self.tuning.group >= VECTOR { VECTOR } else { 1 }
    }

    /// The most packs of a row of columns that an invocation takes one after another. SwiftShader looks up a reduction's parameters for each
    /// invocation, which takes as long as some packs, and waits less often where a vector's invocations load from as many lines.
    pub fn most_panels_in_turn(&self) -> u64 {
        if self.like == AdapterKind::SwiftShader { 16 } else { 1 }
    }

    /// Whether neighbouring invocations are to read what lies side by side, and not each a part of its own: as in teams.
    pub fn spreads(&self) -> bool {
        self.like == AdapterKind::Hardware
    }

    /// Whether a Max's operands that have the same elements in every row are better looked up once, for some columns of many rows, than
    /// read again in every row. Operands repeat after `own_len` elements, of which rows of whole tiles are made, `row_packs` long. Where
    /// `ragged`, these elements are short rows that follow one another, and stretches of them end within packs.
    pub fn takes_columns_of_max(&self, row_packs: u64, own_len: u64, ragged: bool) -> bool {
        const LONGEST_BUNCHED: u64 = 16; // in bunches these go as fast on lavapipe
        const MOST_RAGGED_PACKS: u64 = 4096; // rows farther apart are as slow
        match self.like {
            AdapterKind::Hardware => own_len <= LONGEST_WRITTEN_ROW, // of longer ones they read whole packs side by side
            AdapterKind::Lavapipe if ragged => row_packs <= MOST_RAGGED_PACKS,
            AdapterKind::Lavapipe => row_packs <= VECTOR * TILE_PACKS && own_len > LONGEST_BUNCHED,
            AdapterKind::SwiftShader => true, // a load costs more than the way from row to row
        }
    }

    /// The rows of which an invocation writes columns, having looked up once what operands of a Max have in each of so many tasks: so many
    /// that this costs little. Where neighbours spread, they write four at a time.
    pub fn share_of_columns(&self, tasks: u64) -> u64 {
        match self.spreads() {
            true => (tasks / self.tuning.busy_invocations).clamp(TILE_PACKS, ROWS_OF_COLUMNS) / TILE_PACKS * TILE_PACKS,
            false => self.share(tasks).max(ROWS_OF_COLUMNS),
        }
    }

    /// The neighbours that take turns along rows of a Max of so many packs: a row is begun and, where it ends within a pack, ended for
    /// more.
    pub fn neighbours_of_max(&self, row_packs: u64, ragged: bool) -> u64 {
        let fewest = VECTOR * TILE_PACKS * if ragged { 16 } else { 4 };
        if row_packs >= fewest { self.neighbours() } else { 1 }
    }

    /// The longest runs that slide along their outputs and are columns, in packs. On GPUs it was not timed.
    pub fn longest_slide(&self) -> u64 {
        match self.like {
            AdapterKind::Hardware => 0,
            AdapterKind::Lavapipe => 16,
            AdapterKind::SwiftShader => 4,
        }
    }

    /// The longest short rows, or blocks of them, whose bunches begin anywhere: of longer ones packs of a run are as fast, and the text that
    /// puts each pack together from words takes SwiftShader seconds to compile. On GPUs no others were timed.
    pub fn longest_ragged_short_row(&self, dtype: DType) -> u64 {
        const BYTES: u64 = 96;
        match self.like {
            AdapterKind::Hardware => 8,
            AdapterKind::Lavapipe => (BYTES / dtype.bytes()).min(32),
            AdapterKind::SwiftShader => (BYTES / dtype.bytes()).min(16),
        }
    }

    /// The longest short slices that lie in one piece whose ones and zeros are written by those who find the winners: of longer ones this
    /// takes more values than some devices keep in registers.
    pub fn longest_fused_slice(&self) -> u64 {
        if self.like == AdapterKind::SwiftShader { 4 } else { u64::MAX }
    }

    /// The longest short slices that are written in bunches once their winners are known. On GPUs neighbours write whole packs of one slice
    /// after another side by side.
    pub fn longest_written_slice(&self) -> u64 {
        if self.spreads() { 4 } else { LONGEST_WRITTEN_ROW }
    }

    /// The most elements of a bunch whose positions are compared one by one: of more the text would take compilers ten seconds and more,
    /// and gigabytes. Winners that are written at once, too, are all known to one invocation, which LLVM alone makes short work of.
    pub fn most_positions(&self, epilogue: Epilogue) -> u64 {
        match (epilogue, self.like) {
            (_, AdapterKind::Lavapipe) => 2048,
            (Epilogue::Ones, _) => 560,
            _ => 1024,
        }
    }

    /// The most words, of keys, of bunches of larger blocks than usual: more take longer than a few seconds to compile, above all where each
    /// element has a position.
    pub fn most_bunch_words(&self, operator: Operator) -> u64 {
        match (operator, self.like) {
            (Operator::ReduceMax, AdapterKind::Lavapipe) => 2048,
            (Operator::ReduceMax, _) => 1280,
            (Operator::ArgMax, AdapterKind::Lavapipe) => 1024,
            (Operator::ArgMax, _) => 512,
        }
    }

    /// Whether there are bindings for what a reduction reads as packs, which it reads as words, too, and for what it writes.
    pub fn binds_packs(&self) -> bool {
        self.limits.max_storage_bindings >= if self.limits.shared_buffers { 2 } else { 3 }
    }

    /// Whether a pack is loaded as fast as a word: on GPUs, and where 64 bits are loaded as fast as 32.
    pub fn has_wide_loads(&self) -> bool {
        self.spreads() || self.tuning.int64
    }

    /// The words, packs or output units that an invocation writes if there are so many in all.
    pub fn share(&self, writes: u64) -> u64 {
        let busy = writes.div_ceil(self.tuning.busy_invocations).clamp(1, self.tuning.max_share);
        busy.max(self.needed_share(writes))
    }

    /// The units that an invocation writes element by element: to find the operands' elements takes most of its time, and of the next ones
    /// little more.
    pub fn share_of_elements(&self, units: u64) -> u64 {
        const UNITS_ON_GPUS: u64 = 4;
        let share = self.share(units);
        if self.spreads() { share.max((units / self.tuning.busy_invocations).min(UNITS_ON_GPUS)) } else { share }
    }

    /// The packs below one another that an invocation writes, having looked up their columns once: so many that this costs little, as
    /// long as there are invocations enough to write.
    pub fn share_of_rows(&self, packs: u64) -> u64 {
        const ROWS: u64 = 32;
        let rows = if self.spreads() { (2 * packs / self.tuning.busy_invocations).min(ROWS) } else { 1 };
        self.share(packs).max(rows)
    }

    /// The packs side by side that an invocation writes where it has few rows of each, since to find them costs as much as to write
    /// some; not where neighbours are to write what lies side by side.
    pub fn packs_of_few_rows(&self, rows: u64) -> u64 {
        if self.spreads() { 1 } else { (32 / rows.max(1)).clamp(1, 8) }
    }

    /// The tasks that an invocation cannot but take if there are so many in all.
    pub fn needed_share(&self, tasks: u64) -> u64 {
        tasks.div_ceil(self.max_invocations)
    }

    /// The most elements of a binding, in whole steps of what bindings may begin at, that one dispatch can write so many
    /// at a time, with no invocation looping for too long.
    pub fn writable(&self, element_bytes: u64, write_len: u64) -> Result<u64, Error> {
        let step = self.binding_step(&[element_bytes]);
        let writable = self.max_invocations.saturating_mul(MAX_WRITES).saturating_mul(write_len);
        Ok((writable.min(self.binding_elements(element_bytes)?) / step).max(1) * step)
    }

    /// The workgroups for `groups` of them, folded into two dimensions where one does not hold them. The last row may
    /// then have surplus groups; `group_elements` are those that a shader counts for one group.
    pub fn grid(&self, groups: u64, group_elements: u64) -> Result<[u32; 3], Error> {
        let most = u64::from(self.limits.max_groups);
        let rows = groups.div_ceil(most).max(1);
        within("workgroups", groups, most * most)?;
        let columns = groups.div_ceil(rows);
        check_countable(columns.saturating_mul(rows).saturating_mul(group_elements))?;
        Ok([columns as u32, rows as u32, 1])
    }

    /// Elements of these sizes at whose multiples a binding may begin, and whole packs too.
    pub fn binding_step(&self, element_bytes: &[u64]) -> u64 {
        let step = |&bytes: &u64| (self.limits.binding_alignment_bytes.max(16) / bytes).max(1);
        element_bytes.iter().map(step).max().unwrap_or(1)
    }

    /// The most elements of this size for which a binding has room, so that the next binding may begin behind them.
    pub fn binding_elements(&self, element_bytes: u64) -> Result<u64, Error> {
        let step = self.binding_step(&[element_bytes]);
        match (self.limits.max_binding_bytes / element_bytes).min(MAX_ELEMENTS) / step * step {
            0 => Err(self.binding_too_small(step.saturating_mul(element_bytes))),
            elements => Ok(elements),
        }
    }

    /// The most elements that a window is sure to hold: it begins up to an alignment, or a pack, before the first.
    pub fn window_elements(&self, dtype: DType) -> Result<u64, Error> {
        let slack = self.limits.binding_alignment_bytes.max(16).saturating_add(16);
        // What lies before the first counts among the elements, too.
        let most = self.limits.max_binding_bytes.min(MAX_ELEMENTS.saturating_mul(dtype.bytes()));
        match most.saturating_sub(slack) / dtype.bytes() {
            0 => Err(self.binding_too_small(slack.saturating_add(8))),
            elements => Ok(elements),
        }
    }

    /// Whether a binding can hold so much.
    pub fn binds(&self, bytes: u64) -> bool {
        bytes <= self.limits.max_binding_bytes
    }

    fn binding_too_small(&self, needed: u64) -> Error {
        let given = self.limits.max_binding_bytes;
        Error::DeviceTooSmall { what: "max_storage_buffer_binding_size", given, needed }
    }
}

/// The greatest power of two that is at most `n`, and 1 for 0.
pub(super) fn power_of_two_below(n: u64) -> u64 {
    1 << n.max(1).ilog2()
}

/// The rows of which to look up what operands of a Max have in every one costs little.
pub(super) const ROWS_OF_COLUMNS: u64 = 16;

/// The fewest output packs for which a dispatch of their own pays, when a few elements behind them need another.
pub(super) const FEWEST_PACKS: u64 = 1024;

/// The most elements of a window, whose addresses and counters have 32 bits and run past the ends by some packs.
pub(super) const MAX_ELEMENTS: u64 = 1 << 31;

/// Whether counters of 32 bits reach it.
pub(super) fn check_countable(n: u64) -> Result<(), Error> {
    within("elements that one dispatch counts", n, u32::MAX.into())
}

pub(super) fn to_u32(n: u64) -> Result<u32, Error> {
    check_countable(n).map(|()| n as u32)
}

/// A stride in 32 bits. Addresses are added up modulo 2^32 and lie below it, so a stride may wrap.
pub(super) fn stride_u32(stride: i64) -> Result<i32, Error> {
    within("elements that a stride crosses", stride.unsigned_abs(), u32::MAX.into())?;
    Ok(stride as i32)
}
