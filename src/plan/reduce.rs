//! Reductions: for each block of outputs one dispatch for each window and, where several have found something out about an
//! output, one that merges what they have found.

use std::ops::Range;

use super::device::to_u32;
use super::fill::fill;
use super::folds::folded;
use super::layout::Source;
use super::schedule::{Reduction, Schedule};
use super::windows::{Block, Window, whole_window, windows};
use super::{Binding, Dispatch, Dispatches};
use crate::Error;
use crate::error::within;
use crate::shader::{Access, Epilogue, MergeParams, Override, Params, Program, RecordOrigin, Stores};

/// What a merge is given of each output.
pub(super) enum Found {
    Records,
    /// The records of columns: of each output, of so many elements, `folds` of them, with `columns` outputs side by side.
    Folds {
        columns: u64,
        folds: u64,
        len: u64,
    },
    /// The partials of shards.
    Partials,
}

/// The dispatches that reduce these sources to the targets. Records go to scratch 0.
pub(super) fn reduce(reduction: &Reduction, sources: Vec<Source>, targets: &[Binding]) -> Result<Dispatches, Error> {
    match whole_window(reduction, &sources)? {
        Some(window) => reduce_whole(reduction, window, targets),
        None => reduce_windows(reduction, sources, targets),
    }
}

/// The same of what is not one window.
pub(super) fn reduce_windows(
    reduction: &Reduction,
    sources: Vec<Source>,
    targets: &[Binding],
) -> Result<Dispatches, Error> {
    let mut dispatches = Dispatches::default();
    for block in windows(reduction, sources)? {
        dispatches.append(reduction.block(&block, targets)?)?;
    }
    Ok(dispatches)
}

/// The same of all of a tensor, which is in one window.
pub(super) fn reduce_whole(reduction: &Reduction, window: Window, targets: &[Binding]) -> Result<Dispatches, Error> {
    let block = folded(reduction, &window).unwrap_or_else(|| Block::of_one(reduction, window));
    reduction.block(&block, targets)
}

/// The same to ones and zeros, written by those who find the winners: bunches of short slices, or teams of slices of whole packs that
/// follow one another. Nothing where other invocations work by themselves, or the tensor is cut into windows. `columns` slices of the
/// output stand side by side.
pub(super) fn reduce_to_ones(
    reduction: &Reduction,
    sources: &[Source],
    columns: u64,
    target: Binding,
) -> Result<Option<Dispatches>, Error> {
    let Some(window) = whole_window(reduction, sources)? else { return Ok(None) };
    let Schedule { access, team, chunks, .. } = window.schedule;
    if let Access::ShortRows { block, .. } = access {
        let in_order = block.columns == columns && window.shape.reduced.len() == 1;
        return if in_order { reduction.whole_bunches(&window, target, Stores::Results) } else { Ok(None) };
    }
    let of_packs = columns == 1 && reduction.slice_len.is_multiple_of(reduction.dtype.pack_elements());
    let finds_in_team = access == Access::Rows && team > 1;
    let merges_in_team = chunks > 1 && reduction.merge_team(reduction.out_len, chunks) > 1;
    if !of_packs || !(finds_in_team && chunks == 1 || merges_in_team) {
        return Ok(None);
    }
    reduction.block(&Block::of_one(reduction, window), &[target]).map(Some)
}

/// The same to winners as wide as elements, if these are columns, and the tensor is in one piece.
pub(super) fn reduce_to_winners(
    reduction: &Reduction,
    sources: &[Source],
    target: Binding,
) -> Result<Option<Dispatches>, Error> {
    let Some(window) = whole_window(reduction, sources)? else { return Ok(None) };
    let in_packs = window.schedule.chunks == 1 && reduction.stores(&window.shape, &window.schedule) != Stores::Results;
    let pays = reduction.device.spreads() || in_packs && folded(reduction, &window).is_none();
    if window.schedule.access != Access::Columns || !pays {
        return Ok(None);
    }
    reduce_whole(reduction, window, &[target]).map(Some)
}

impl Reduction<'_> {
    /// The dispatches that reduce a block's windows to its part of the targets.
    fn block(&self, block: &Block, targets: &[Binding]) -> Result<Dispatches, Error> {
        let Range { start, end } = block.outputs;
        let outputs = end - start;
        let part = |(&target, bytes): (&Binding, u64)| target.part(bytes, start, outputs);
        let targets: Vec<Binding> = targets.iter().zip(self.target_bytes()).map(part).collect();
        if block.is_direct() {
            return self.direct(&block.windows[0], targets);
        }
        let records = block.windows.iter().map(|window| window.schedule.chunks).max().unwrap_or(0);
        let bytes = outputs * block.folds * records * self.record_bytes();
        within("bytes of records", bytes, self.device.limits.max_binding_bytes)?;
        let binding = Binding::scratch(0, bytes);
        // What windows join others to is the least of all to begin with, which is zeros.
        let mut dispatches = if block.joins { fill([0, 0], binding, self.device)? } else { Dispatches::default() };
        let own = self.of_records();
        for window in &block.windows {
            let record_origin = if block.joins { Some(record_origin(window, start, records)?) } else { None };
            dispatches.push(own.window(window, Stores::Results, vec![binding], record_origin)?)?;
        }
        let found = match block.folds {
            1 => Found::Records,
            folds => {
                let shape = &block.windows[0].shape;
                let columns = shape.kept[0].size / folds;
                Found::Folds { columns, folds, len: shape.reduce_len() * folds + shape.rest_len / columns }
            }
        };
        dispatches.push(self.merge(outputs, records * block.folds, found, binding, targets)?)?;
        Ok(dispatches)
    }

    /// The dispatches of a window whose outputs are stored as they are found.
    fn direct(&self, window: &Window, targets: Vec<Binding>) -> Result<Dispatches, Error> {
        if let [target] = targets[..]
            && let Some(dispatches) = self.bunches_in_packs(window, target)?
        {
            return Ok(dispatches);
        }
        match (self.stores(&window.shape, &window.schedule), &targets[..]) {
            (Stores::Seams, &[target]) => {
                let whole = Binding { bytes: target.bytes / 16 * 16, ..target };
                let packs = self.window(window, Stores::Packs, vec![whole], None)?;
                let alone =
                    Window { schedule: Schedule { column_packs: 1, share: 1, ..window.schedule }, ..window.clone() };
                let seams = self.window(&alone, Stores::Seams, vec![target], None)?;
                Ok(Dispatches(vec![packs, seams]))
            }
            (stores, _) => Ok(Dispatches(vec![self.window(window, stores, targets, None)?])),
        }
    }

    /// The dispatch that merges records: those of one output are a row.
    pub(super) fn merge(
        &self,
        outputs: u64,
        records: u64,
        found: Found,
        binding: Binding,
        targets: Vec<Binding>,
    ) -> Result<Dispatch, Error> {
        let lanes = self.lanes();
        let (team, share) = (self.merge_team(outputs, records), self.merge_share(outputs));
        let group = self.device.team_group(team, lanes);
        let program = Program::Merge { epilogue: self.epilogue };
        let [slice_len, parts] = match (self.epilogue, &found) {
            (Epilogue::Ones, _) => [self.slice_len, self.merge_parts(outputs, team)],
            (_, &Found::Folds { len, .. }) => [len, 0],
            _ => [0, 0],
        };
        let groups = match team {
            1 => outputs.div_ceil(lanes * share).div_ceil(group),
            _ => (outputs * parts.max(1)).div_ceil(group / team),
        };
        let (columns, folds, of_found) = match found {
            Found::Records => (0, 0, None),
            Found::Folds { columns, folds, .. } => (columns, folds, Some(Override::Folded)),
            Found::Partials => (0, 0, Some(Override::Partials)),
        };
        let params = MergeParams {
            outputs: to_u32(outputs)?,
            records: to_u32(records)?,
            share: to_u32(share)?,
            slice_len: to_u32(slice_len)?,
            parts: to_u32(parts)?,
            columns: to_u32(columns)?,
            folds: to_u32(folds)?,
        };
        let overrides = [&self.overrides(team)[..], &[of_found]].concat();
        Ok(Dispatch {
            kernel: self.device.kernel(program, self.dtype, group, &overrides),
            params: Params::Merge(params),
            grid: self.device.grid(groups, group * lanes * share)?,
            bindings: [vec![Binding { binding: 1, writes: false, ..binding }], targets].concat(),
        })
    }
}

/// Where a window's records belong among those of a block that begins with output `first`.
fn record_origin(window: &Window, first: u64, records: u64) -> Result<RecordOrigin, Error> {
    let column_logical_stride = match (window.schedule.access, window.shape.kept.first()) {
        (Access::Columns, Some(columns)) => to_u32(columns.logical_stride)?,
        _ => 1,
    };
    Ok(RecordOrigin {
        records: to_u32(records)?,
        first_record: to_u32((window.first_output - first) * records)?,
        first_position: window.first_position,
        run_logical_stride: window.shape.run().logical_stride,
        column_logical_stride,
    })
}
