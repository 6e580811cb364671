//! The dispatch that reduces a window: its workgroups, overrides and parameters.

use super::device::{check_countable, column_member_bytes, stride_u32, to_u32};
use super::layout::{Dimension, ReductionShape, gcd, shader_dims};
use super::schedule::{Reduction, Schedule};
use super::windows::Window;
use super::{Binding, Dispatch};
use crate::Error;
use crate::shader::{Access, Epilogue, Override, Params, Program, RecordOrigin, ReductionParams, Stores};

impl Reduction<'_> {
    /// The dispatch that reads a window; of several it says where its records belong.
    pub fn window(
        &self,
        window: &Window,
        stores: Stores,
        targets: Vec<Binding>,
        record_origin: Option<RecordOrigin>,
    ) -> Result<Dispatch, Error> {
        let Schedule { access, team, .. } = window.schedule;
        let joins = record_origin.map(|_| Override::Accumulate);
        let overrides = [&self.overrides(team)[..], &self.access_overrides(window), &[joins]].concat();
        let program = Program::Reduce { access, epilogue: self.epilogue, stores };
        let mut bindings = vec![window.input];
        if program.takes_packs() {
            bindings.push(Binding { binding: 2, ..window.input });
        }
        bindings.extend(targets);
        Ok(Dispatch {
            kernel: self.device.kernel(program, self.dtype, self.group(window), &overrides),
            grid: self.grid(window, stores)?,
            params: Params::Reduction(self.params(window, record_origin)?),
            bindings,
        })
    }

    fn grid(&self, window: &Window, stores: Stores) -> Result<[u32; 3], Error> {
        let Window { shape, schedule, .. } = window;
        let Schedule { access, team, chunks, column_packs, share, .. } = *schedule;
        let tasks = shape.outputs() * chunks;
        let group = self.group(window);
        let panel = self.dtype.pack_elements() * column_packs;
        let counted = if access == Access::Columns { panel * share } else { self.unit_results(schedule) * share };
        let groups = match access {
            Access::Columns => {
                let invocations = match stores {
                    Stores::Results => self.panels_of_columns(shape, column_packs, share),
                    Stores::Packs => self.panels_of_packs(shape, column_packs, share),
                    Stores::Seams => shape.rows_of_columns(),
                };
                (chunks * invocations).div_ceil(group / team)
            }
            _ if team > 1 => tasks.div_ceil(group / team),
            _ => self.units(tasks, schedule).div_ceil(share).div_ceil(group),
        };
        self.device.grid(groups, group * counted)
    }

    /// The invocations of a workgroup.
    fn group(&self, window: &Window) -> u64 {
        let Window { shape, schedule, .. } = window;
        let team = schedule.team;
        let bunch_bytes = self.bunch(schedule.access).map_or(0, |own| own.member_bytes());
        match (schedule.access, team) {
            (Access::Columns, 2..) => {
                let usual = self.device.group_of_members(column_member_bytes(self.operator(), self.dtype));
                usual.max(team * self.packs_across(shape))
            }
            _ if bunch_bytes > 0 => self.device.group_of_members(bunch_bytes),
            _ => self.device.team_group(team, self.lanes()),
        }
    }

    /// What follows from the reduction, and from how it is read.
    pub fn overrides(&self, team: u64) -> [Option<Override>; 4] {
        let indices = matches!(self.epilogue, Epilogue::Index | Epilogue::Both);
        [
            (team > 1).then_some(Override::Team(team as u32)),
            self.nan.ignores(self.dtype).then_some(Override::NansIgnored),
            self.last.then_some(Override::Last),
            indices.then_some(Override::IndexWords(self.index_words as u32)),
        ]
    }

    /// Whether stretches of short rows begin and end with words.
    fn bunches_are_words(&self, Window { shape, schedule, .. }: &Window) -> bool {
        let Access::ShortRows { block, .. } = schedule.access else { return false };
        let lanes = self.dtype.lanes();
        let blocks = lanes / gcd(block.elements(), lanes); // that fill words
        shape.bunches_are_whole(lanes, &block, blocks * block.columns)
    }

    /// What follows from a window's shape, and from how it is read.
    fn access_overrides(&self, window: &Window) -> Vec<Option<Override>> {
        let Window { shape, schedule, .. } = window;
        let columns = schedule.access == Access::Columns;
        let pack = self.dtype.pack_elements();
        let whole_packs = match schedule.access {
            Access::Rows => shape.runs_are_whole(schedule.chunk_len, pack),
            Access::Columns => shape.columns_are_whole(pack),
            Access::ShortRows { .. } => self.bunch(schedule.access).is_some_and(|own| self.are_whole(shape, &own)),
            Access::Strided => true,
        };
        let lanes = self.dtype.lanes();
        let whole_words = self.bunches_are_words(window) || columns && shape.columns_are_whole(lanes);
        let run_len = shape.run().size;
        let few_packs =
            schedule.access == Access::Rows && schedule.team == 1 && !whole_packs && self.takes_few_packs(run_len);
        let whole_runs = schedule.chunks == 1 || schedule.chunk_len.is_multiple_of(run_len);
        let wide = schedule.column_packs > 1;
        let neighbours = if columns { self.neighbours_of_columns(shape, schedule.column_packs) } else { 1 };
        let in_turn = columns && schedule.share > 1;
        // On GPUs so that neighbours load whole sectors; else where a pack is loaded as fast as a word.
        let pairs = match schedule.access {
            Access::Rows => false,
            Access::ShortRows { .. } => self.device.has_wide_loads(),
            Access::Columns | Access::Strided => self.device.spreads(),
        };
        vec![
            (schedule.chunks > 1).then_some(Override::Split),
            (shape.reduced.len() > 1).then_some(Override::Runs),
            few_runs(shape, schedule.access).map(Override::FewRuns),
            wide.then_some(Override::ColumnPacks(schedule.column_packs as u32)),
            Override::of_neighbours(neighbours),
            in_turn.then_some(Override::InTurn),
            shape.has_loose_ends().then_some(Override::LooseEnds),
            (schedule.line < schedule.team).then_some(Override::RunMembers(schedule.line as u32)),
            few_packs.then_some(Override::FewPacks),
            (few_packs && whole_runs && !self.device.has_wide_loads()).then_some(Override::FromWords),
            (!whole_packs).then_some(Override::Ragged),
            (!whole_packs && pairs).then_some(Override::Pairs),
            (!whole_packs && whole_words && lanes > 1 && !pairs).then_some(Override::WholeWords),
        ]
    }

    fn params(&self, window: &Window, record_origin: Option<RecordOrigin>) -> Result<ReductionParams, Error> {
        let Window { shape, schedule, .. } = window;
        let is_columns = schedule.access == Access::Columns;
        let kept: &[Dimension] = if is_columns { shape.kept.get(1..).unwrap_or(&[]) } else { &shape.kept };
        let columns = match (schedule.access, self.epilogue) {
            (Access::Columns, _) => shape.columns(),
            (Access::Strided, Epilogue::Ones) => shape.row_block().map(|block| block.columns),
            _ => None,
        };
        // The shaders' counters run past the ends of reductions by at most a chunk, and addresses by a few packs a member.
        check_countable(shape.reduce_len() + schedule.chunk_len)?;
        check_countable(shape.span + 256 * schedule.team)?;
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
            rest_len: to_u32(shape.rest_len)?,
            kept: shader_dims(kept, record_origin.is_some())?,
            outer: shader_dims(&shape.reduced[1..], record_origin.is_some())?,
            record_origin: record_origin.unwrap_or_default(),
        })
    }
}

/// The runs of a short row that lie in several bunches each, if a kernel knows so many without a loop.
fn few_runs(shape: &ReductionShape, access: Access) -> Option<u32> {
    let Access::ShortRows { block, .. } = access else { return None };
    let runs = shape.reduce_len() / block.len;
    (shape.reduced.len() > 1 && runs <= 3).then_some(runs as u32)
}
