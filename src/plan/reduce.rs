//! Reductions: for each block of outputs one dispatch for each window and, where several have found something out about an
//! output, one that merges what they have found.

use std::ops::Range;

use super::device::{EXCHANGED_BYTES, column_member_bytes, stride_u32, to_u32};
use super::fill::fill;
use super::folds::folded;
use super::layout::{Dimension, ReductionShape, Source, gcd, shader_dims};
use super::schedule::{Reduction, Schedule};
use super::windows::{Block, Window, whole, windows};
use super::{Binding, Dispatch, Dispatches, Slot, nan_override, target_part, within};
use crate::Error;
use crate::shader::{
    Access, Epilogue, Kernel, MergeParams, Override, Params, Program, RecordOrigin, ReductionParams, Stores,
};

/// The fewest rows of blocks of columns, far apart, of which four at once pay.
const FEWEST_FAR_ROWS: u64 = 64;

/// What a merge is given of each output.
pub(super) enum Found {
    Records,
    /// The records of columns: of each output `folds` of them, with `columns` outputs side by side.
    Folds {
        columns: u64,
        folds: u64,
    },
    /// The partials of shards.
    Partials,
}

/// The dispatches that reduce these sources to the targets. Records go to scratch 0.
pub(super) fn reduce(reduction: &Reduction, sources: Vec<Source>, targets: &[Binding]) -> Result<Dispatches, Error> {
    if let Some(window) = whole(reduction, &sources)? {
        return reduce_whole(reduction, window, targets);
    }
    let mut dispatches = Dispatches::default();
    for block in windows(reduction, sources)? {
        dispatches.append(reduce_block(reduction, &block, targets)?)?;
    }
    Ok(dispatches)
}

/// The same of all of a tensor, which is in one window.
pub(super) fn reduce_whole(reduction: &Reduction, window: Window, targets: &[Binding]) -> Result<Dispatches, Error> {
    let block = folded(reduction, &window).unwrap_or_else(|| Block::whole(reduction, window));
    reduce_block(reduction, &block, targets)
}

fn reduce_block(reduction: &Reduction, block: &Block, targets: &[Binding]) -> Result<Dispatches, Error> {
    let Range { start, end } = block.outputs;
    let part = |(&target, bytes): (&Binding, u64)| target_part(target, bytes, start, end - start);
    reduction.block(block, targets.iter().zip(reduction.target_bytes()).map(part).collect())
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
    let Some(window) = whole(reduction, sources)? else { return Ok(None) };
    let Schedule { access, team, chunks, .. } = window.schedule;
    if let Access::ShortRows { columns: own, rows, .. } = access {
        let in_order = u64::from(own) == columns && window.shape.reduced.len() == 1;
        return if in_order { reduction.bunches_of_ones(&window, rows.into(), target) } else { Ok(None) };
    }
    let of_packs = columns == 1 && reduction.slice_len.is_multiple_of(reduction.dtype.pack_elements());
    let finds_in_team = access == Access::Rows && team > 1;
    let merges_in_team = chunks > 1 && reduction.merge_team(reduction.out_len, chunks) > 1;
    if !of_packs || !(finds_in_team && chunks == 1 || merges_in_team) {
        return Ok(None);
    }
    reduction.block(&Block::whole(reduction, window), vec![target]).map(Some)
}

/// The same to winners as wide as elements, if these are columns that are stored in packs, and the tensor is in one piece.
pub(super) fn reduce_to_winners(
    reduction: &Reduction,
    sources: &[Source],
    target: Binding,
) -> Result<Option<Dispatches>, Error> {
    let Some(window) = whole(reduction, sources)? else { return Ok(None) };
    let in_packs = window.schedule.chunks == 1 && reduction.stores(&window) != Stores::Results;
    if !in_packs || folded(reduction, &window).is_some() {
        return Ok(None);
    }
    reduction.direct(&window, vec![target]).map(Some)
}

impl Reduction<'_> {
    fn block(&self, block: &Block, targets: Vec<Binding>) -> Result<Dispatches, Error> {
        if block.is_direct() {
            return self.direct(&block.windows[0], targets);
        }
        let outputs = block.outputs.end - block.outputs.start;
        let records = block.windows.iter().map(|window| window.schedule.chunks).max().unwrap_or(0);
        let bytes = outputs * block.folds * records * self.record_bytes();
        within("bytes of records", bytes, self.device.limits.max_binding_bytes)?;
        let binding = Binding { binding: 3, slot: Slot::Scratch(0), writes: true, offset_bytes: 0, bytes };
        // Windows join what they find to what others have found: to begin with the least of all, which is zeros.
        let joined = block.epilogue == Epilogue::Record;
        let mut dispatches =
            if joined { fill(self.dtype, [0, 0], binding, self.device)? } else { Dispatches::default() };
        for window in &block.windows {
            let record_origin = if joined { Some(record_origin(window, block.outputs.start, records)?) } else { None };
            dispatches.push(self.window(window, Epilogue::Record, Stores::Results, vec![binding], record_origin)?)?;
        }
        let found = match block.folds {
            1 => Found::Records,
            folds => Found::Folds { columns: block.windows[0].shape.kept[0].size / folds, folds },
        };
        dispatches.push(self.merge(outputs, records * block.folds, found, binding, targets)?)?;
        Ok(dispatches)
    }

    /// The dispatch that reads a window; of several it says where its records belong.
    pub(super) fn window(
        &self,
        window: &Window,
        epilogue: Epilogue,
        stores: Stores,
        targets: Vec<Binding>,
        record_origin: Option<RecordOrigin>,
    ) -> Result<Dispatch, Error> {
        let Schedule { access, team, .. } = window.schedule;
        let mut overrides = self.overrides(access, team, epilogue);
        overrides.extend(self.access_overrides(window));
        overrides.extend(record_origin.map(|_| Override::Accumulate));
        let program = Program::Reduce { operator: self.operator, access, team: team > 1, epilogue, stores };
        let input = window.extent.binding(self.dtype, window.slot);
        let mut bindings = vec![input];
        if program.takes_packs() {
            bindings.push(Binding { binding: 2, ..input });
        }
        bindings.extend(targets);
        Ok(Dispatch {
            kernel: Kernel::new(program, self.dtype, overrides, self.device.tuning.int64),
            grid: self.grid(window, epilogue, stores)?,
            params: Params::Reduction(params(window, epilogue, record_origin)?),
            bindings,
        })
    }

    fn grid(&self, window: &Window, epilogue: Epilogue, stores: Stores) -> Result<[u32; 3], Error> {
        let Window { shape, schedule, .. } = window;
        let Schedule { access, team, chunks, column_packs, share, .. } = *schedule;
        let results = self.unit_results(schedule, epilogue);
        let tasks = shape.outputs() * chunks;
        let group = self.group(access, team, epilogue);
        let block = self.dtype.pack_elements() * column_packs;
        let groups = match access {
            Access::Columns => {
                let blocks = match stores {
                    Stores::Results => shape.column_blocks(block, self.columns_share_words(shape, epilogue)),
                    Stores::Packs => {
                        shape.rows_of_columns() * shape.pack_blocks(self.dtype.pack_elements(), column_packs)
                    }
                    Stores::Seams => shape.rows_of_columns(),
                };
                (chunks * blocks).div_ceil(group / team)
            }
            _ if team > 1 => tasks.div_ceil(group / team),
            Access::Strided if epilogue == Epilogue::Ones => {
                (tasks * self.slice_len).div_ceil(self.dtype.lanes() * share).div_ceil(group)
            }
            _ => tasks.div_ceil(results * share).div_ceil(group),
        };
        self.device.grid(groups, group * block.max(results * share))
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
        let lanes = self.epilogue.lanes(self.dtype);
        let (team, share) = (self.merge_team(outputs, records), self.merge_share(outputs));
        let group = self.group(Access::Strided, team, self.epilogue);
        let program = Program::Merge { operator: self.operator, team: team > 1, epilogue: self.epilogue };
        let [slice_len, parts] = match self.epilogue {
            Epilogue::Ones => [self.slice_len, self.merge_parts(outputs, team)],
            _ => [0, 0],
        };
        let groups = match team {
            1 => outputs.div_ceil(lanes * share).div_ceil(group),
            _ => (outputs * parts.max(1)).div_ceil(group / team),
        };
        let (columns, folds, of_found) = match found {
            Found::Records => (0, 0, None),
            Found::Folds { columns, folds } => (columns, folds, Some(Override::Folded)),
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
        let mut overrides = self.overrides(Access::Strided, team, self.epilogue);
        overrides.extend(of_found);
        Ok(Dispatch {
            kernel: Kernel::new(program, self.dtype, overrides, self.device.tuning.int64),
            params: Params::Merge(params),
            grid: self.device.grid(groups, group * lanes * share)?,
            bindings: [vec![Binding { binding: 1, writes: false, ..binding }], targets].concat(),
        })
    }

    fn group(&self, access: Access, team: u64, epilogue: Epilogue) -> u64 {
        match (access, team) {
            (Access::Columns, 2..) => self.device.group_of_members(column_member_bytes(self.operator, self.dtype)),
            (Access::ShortRows { rows, exchanged: true, .. }, _) => {
                self.device.group_of_members(u64::from(rows) * EXCHANGED_BYTES)
            }
            _ => self.device.team_group(team, epilogue.lanes(self.dtype)),
        }
    }

    fn overrides(&self, access: Access, team: u64, epilogue: Epilogue) -> Vec<Override> {
        let mut overrides = vec![Override::Group(self.group(access, team, epilogue) as u32)];
        overrides.extend((team > 1).then_some(Override::Team(team as u32)));
        overrides.extend(nan_override(self.dtype, self.nan));
        overrides.extend(self.last.then_some(Override::Last));
        let indices = matches!(epilogue, Epilogue::Index | Epilogue::Both);
        overrides.extend(indices.then_some(Override::IndexWords(self.index_words as u32)));
        overrides
    }

    /// Whether stretches of short rows begin and end with words.
    fn bunches_are_words(&self, Window { shape, schedule, .. }: &Window) -> bool {
        let Access::ShortRows { len, columns, .. } = schedule.access else { return false };
        let (lanes, [len, columns]) = (self.dtype.lanes(), [len, columns].map(u64::from));
        let blocks = lanes / gcd(len * columns, lanes); // that fill words
        shape.bunches_are_whole(lanes, columns, blocks * columns)
    }

    /// What follows from a window's shape, and from how it is read.
    fn access_overrides(&self, window: &Window) -> impl Iterator<Item = Override> {
        let Window { shape, schedule, .. } = window;
        let tuning = &self.device.tuning;
        let columns = schedule.access == Access::Columns;
        let row_bytes = shape.run().stride.unsigned_abs().saturating_mul(self.dtype.bytes());
        let pack = self.dtype.pack_elements();
        let whole_packs = match schedule.access {
            Access::Rows => shape.runs_are_whole(schedule.chunk_len, pack),
            Access::Columns => shape.columns_are_whole(pack),
            Access::ShortRows { columns, rows, .. } => shape.bunches_are_whole(pack, columns.into(), rows.into()),
            Access::Strided => true,
        };
        let lanes = self.dtype.lanes();
        let whole_words = self.bunches_are_words(window);
        let few_packs = schedule.access == Access::Rows
            && schedule.team == 1
            && !whole_packs
            && self.takes_few_packs(shape.run().size);
        let wide = columns && schedule.column_packs > 1;
        // Blocks that begin anywhere know no other way.
        let row_by_row = columns && (whole_packs || !wide) && self.compares_row_by_row(shape.reduce_len());
        let far = match wide {
            // Tiles are asked for ahead anyway.
            true => (row_by_row || !whole_packs) && shape.reduce_len() >= FEWEST_FAR_ROWS,
            false => columns && !row_by_row && tuning.column_packs == 1,
        };
        // On GPUs so that neighbours load whole sectors; else where a pack would take five words.
        let within_words = lanes > 1 && !whole_words && matches!(schedule.access, Access::ShortRows { .. });
        let pairs =
            schedule.access != Access::Rows && self.device.spreads() || within_words && self.device.has_wide_loads();
        let overrides = [
            (schedule.chunks > 1).then_some(Override::Split),
            (shape.reduced.len() > 1).then_some(Override::Runs),
            few_runs(shape, schedule.access).map(Override::FewRuns),
            wide.then_some(Override::FourPacks),
            (far && row_bytes >= tuning.far_bytes).then_some(Override::Prefetch),
            (schedule.line < schedule.team).then_some(Override::RunMembers(schedule.line as u32)),
            row_by_row.then_some(Override::RowByRow),
            few_packs.then_some(Override::FewPacks),
            (!whole_packs).then_some(Override::Ragged),
            (!whole_packs && pairs).then_some(Override::Pairs),
            (!whole_packs && whole_words && lanes > 1 && !pairs).then_some(Override::WholeWords),
        ];
        overrides.into_iter().flatten()
    }
}

/// The runs of a short row, if a kernel knows so many without a loop.
fn few_runs(shape: &ReductionShape, access: Access) -> Option<u32> {
    let runs = shape.reduce_len() / shape.run().size;
    (matches!(access, Access::ShortRows { .. }) && matches!(runs, 2 | 3)).then_some(runs as u32)
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

fn params(window: &Window, epilogue: Epilogue, record_origin: Option<RecordOrigin>) -> Result<ReductionParams, Error> {
    let Window { shape, schedule, .. } = window;
    let is_columns = schedule.access == Access::Columns;
    let kept: &[Dimension] = if is_columns { shape.kept.get(1..).unwrap_or(&[]) } else { &shape.kept };
    let columns = match (schedule.access, epilogue) {
        (Access::Columns, _) => shape.columns(),
        (Access::Strided, Epilogue::Ones) => shape.block_columns(),
        _ => None,
    };
    // The shaders' counters run past the ends of reductions by at most a chunk, and addresses by a few packs a member.
    to_u32(shape.reduce_len() + schedule.chunk_len)?;
    to_u32(shape.span + 256 * schedule.team)?;
    Ok(ReductionParams {
        outputs: to_u32(shape.outputs())?,
        reduce_len: to_u32(shape.reduce_len())?,
        chunk_len: to_u32(schedule.chunk_len)?,
        chunks: to_u32(schedule.chunks)?,
        run_len: to_u32(shape.run().size)?,
        run_stride: stride_u32(shape.run().stride)?,
        start: to_u32(shape.start)?,
        columns: to_u32(columns.unwrap_or(1))?,
        share: to_u32(schedule.share)?,
        kept: shader_dims(kept, record_origin.is_some())?,
        outer: shader_dims(&shape.reduced[1..], record_origin.is_some())?,
        record_origin: record_origin.unwrap_or_default(),
    })
}
