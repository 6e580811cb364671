//! What a dispatch has to do, as its shader counts it.

use super::kernel::{Group, store_lanes};
use crate::Error;
use crate::error::ensure;
use crate::plan::device::check_countable;
use crate::plan::schedule::MAX_STEPS;
use crate::plan::{
    Dispatch, Epilogue, HardmaxOnesParams, HardmaxWriteParams, HardmaxWriter, Kernel, MergeParams, Override, Program,
};

/// Counted as by the shader, from numbers that may be anything.
pub(super) struct Work {
    /// Workgroups with something to do.
    pub groups: u64,
    /// The most turns of loops that an invocation takes, nested loops counted together.
    pub turns: u64,
}

/// The most turns of an invocation: far more than are planned, no fewer than lavapipe makes before it ends a loop.
const MAX_TURNS: u64 = 2 * MAX_STEPS;

impl Work {
    /// Whether the dispatch has the workgroups for it, and every invocation ends.
    pub fn check(&self, dispatch: &Dispatch) -> Result<(), Error> {
        let [x, y, z] = dispatch.grid.map(u64::from);
        // Folded into two dimensions, where the last row may be surplus.
        let enough = z == 1 && x * y >= self.groups && x * y < self.groups + y.max(1);
        ensure(enough, || format!("{:?} workgroups given, {} in two dimensions expected", dispatch.grid, self.groups))?;
        ensure(self.turns <= MAX_TURNS, || {
            format!("an invocation takes {} turns of its loops, at most {MAX_TURNS} expected", self.turns)
        })
    }

    /// Units that invocations take in turn, a share each.
    pub fn shared(units: u64, share: u64, turns_of_one: u64, group: &Group) -> Work {
        let groups = units.div_ceil(share).div_ceil(group.invocations);
        Work { groups, turns: share.min(units).saturating_mul(turns_of_one) }
    }

    /// Tasks that teams do, or invocations by themselves, a share of units each.
    pub fn reducing(kernel: &Kernel, tasks: u64, share: u64, turns: u64, group: &Group) -> Work {
        let lanes = store_lanes(kernel);
        match group.team {
            1 => Work::shared(tasks.div_ceil(lanes), share, turns.saturating_mul(lanes), group),
            team => Work { groups: tasks.div_ceil(group.invocations / team), turns },
        }
    }

    pub fn of_merge(kernel: &Kernel, params: &MergeParams, group: &Group) -> Result<Work, Error> {
        let [outputs, records, share] = [params.outputs, params.records, params.share].map(u64::from);
        ensure(outputs > 0 && share > 0, || format!("{outputs} outputs, {share} in turn: more than 0 expected"))?;
        let [columns, folds] = [params.columns, params.folds].map(u64::from);
        let folded = kernel.has(Override::Folded);
        let len = u64::from(params.slice_len);
        ensure(!folded || columns > 0 && (2..=records.min(len)).contains(&folds), || {
            format!(
                "{records} records of {folds} folds of {columns}, of {len} elements: several folds, of a record each, expected"
            )
        })?;
        let turns = records.div_ceil(group.team);
        if !matches!(kernel.program, Program::Merge { epilogue: Epilogue::Ones, .. }) {
            return Ok(Work::reducing(kernel, outputs, share, turns, group));
        }
        let [slice_len, parts] = [params.slice_len, params.parts].map(u64::from);
        ensure(slice_len > 0 && parts > 0, || {
            format!("slices of {slice_len} elements in {parts} parts: more than 0 expected")
        })?;
        let packs = slice_len / kernel.dtype.pack_elements();
        check_countable(outputs.saturating_mul(packs.max(parts)).saturating_add(group.invocations + parts))?;
        let written = packs.div_ceil(parts).div_ceil(group.team);
        Ok(Work::reducing(kernel, outputs * parts, 1, turns + written, group))
    }

    pub fn of_write(
        kernel: &Kernel,
        writer: HardmaxWriter,
        params: &HardmaxWriteParams,
        group: &Group,
    ) -> Result<Work, Error> {
        let [len, columns, slice_len, share, write_len] =
            [params.len, params.columns, params.slice_len, params.share, params.write_len].map(u64::from);
        ensure(len > 0 && columns > 0 && slice_len > 0 && share > 0, || {
            format!("{len} elements of {columns} slices of {slice_len}, {share} in turn: more than 0 expected")
        })?;
        check_countable(len + columns)?;
        let pack = kernel.dtype.pack_elements();
        match writer {
            HardmaxWriter::Seams => Ok(Work::shared(len / columns, 1, 1 + pack, group)),
            HardmaxWriter::PackedColumns { .. } | HardmaxWriter::InnerPacks => {
                ensure(write_len > 0 && write_len.is_multiple_of(pack), || {
                    format!("{write_len} elements of packs side by side: a multiple of {pack} expected")
                })?;
                let lines = len / slice_len.saturating_mul(columns) * (columns / pack).div_ceil(write_len / pack);
                let tasks = lines.saturating_mul(slice_len.div_ceil(share));
                let turns = (write_len / pack).saturating_mul(1 + share.min(slice_len));
                Ok(Work { groups: tasks.div_ceil(group.invocations), turns })
            }
            HardmaxWriter::RaggedColumns { .. } => Ok(Work::shared(len / pack, share, 1, group)),
            HardmaxWriter::ShortRows { len: row } => Ok(Work::shared(len / (pack * u64::from(row)), share, 1, group)),
            HardmaxWriter::Rows => Ok(Work::shared(len / pack, share, 2 + pack.div_ceil(slice_len), group)),
        }
    }

    pub fn of_ones(params: &HardmaxOnesParams, group: &Group) -> Result<Work, Error> {
        let [len, columns, share, end, first] =
            [params.len, params.columns, params.share, params.end, params.first].map(u64::from);
        ensure(len > 0 && columns > 0 && share > 0, || {
            format!("{len} elements of {columns} slices, {share} winners in turn: more than 0 expected")
        })?;
        // Elements from the first row's first column on, and rows from the first slice's beginning on.
        let [column, position] = [params.column, params.position].map(u64::from);
        check_countable((column + len).max(position + (column + len).div_ceil(columns)))?;
        Ok(Work::shared(end.saturating_sub(first), share, 1, group))
    }
}

/// Neighbours that take turns are all there, and of one workgroup.
pub(super) fn check_neighbours(kernel: &Kernel, group: &Group) -> Result<(), Error> {
    let neighbours = kernel.neighbours();
    ensure(neighbours > 0 && group.invocations.is_multiple_of(neighbours), || {
        format!(
            "{neighbours} neighbours take turns, of {} of a workgroup: a divisor of these expected",
            group.invocations
        )
    })
}
