//! Schedules of columns: where packs of them pay, how many an invocation takes side by side, and who takes turns with whom.

use super::{FEWEST_FAR_LOADS, FEWEST_PACKS_ACROSS, LoadCounts, MAX_STEPS, Reduction, Schedule};
use crate::plan::device::{column_member_bytes, power_of_two_below};
use crate::plan::layout::ReductionShape;
use crate::shader::{Access, Epilogue, Kernel, Stores};

/// The most elements of a panel of columns: lavapipe takes seconds to compile what is done with more.
const LARGEST_PANEL: u64 = 64;

/// The fewest packs of columns along which windows slide: of fewer, too many elements of packs are no one's.
const FEWEST_SLID_PACKS: u64 = 4;

/// The fewest packs of a row whose seams are stored apart, and on GPUs, which wait longer for another dispatch: of a seam's two rows each is
/// reduced as if all of the pack were its.
const FEWEST_SEAM_PACKS: u64 = 4;
const FEWEST_SEAM_PACKS_ON_GPUS: u64 = 64;

/// The rows to reduce up to which it does not matter how few seams there are.
const MOST_SEAM_ROWS: u64 = 64;

impl Reduction<'_> {
    /// Whether rows of columns share words of the output: one invocation writes what lies in both.
    pub(super) fn columns_share_words(&self, shape: &ReductionShape) -> bool {
        let in_packs = Kernel::stores_packs(self.dtype, self.epilogue, false) && self.stores_whole_packs(shape);
        self.lanes() > 1 && !shape.columns_are_whole(self.dtype.pack_elements()) && !in_packs
    }

    /// The rows of columns in which a pack may lie, where these share words: it is reduced in each. Else one.
    pub(super) fn rows_of_pack(&self, shape: &ReductionShape) -> u64 {
        let columns = shape.columns().unwrap_or(1);
        if self.columns_share_words(shape) { (self.dtype.pack_elements() - 1).div_ceil(columns) + 1 } else { 1 }
    }

    /// Whether rows of the output are whole packs, wherever those of columns begin.
    pub fn stores_whole_packs(&self, shape: &ReductionShape) -> bool {
        shape.columns().is_some_and(|columns| columns.is_multiple_of(self.dtype.pack_elements()))
    }

    /// Whether one row of columns follows another in memory, and each has panels of its own.
    fn rows_follow_one_another(&self, shape: &ReductionShape) -> bool {
        shape.columns().is_some_and(|columns| shape.run().stride == columns as i64) && !self.columns_share_words(shape)
    }

    /// Whether short runs slide along the outputs, an element at a time: then columns, but for narrow ones, have hardly more packs to load
    /// than rows, and fold none by itself. On software, where what is reduced need not be split for it.
    pub(super) fn slides(&self, shape: &ReductionShape, column_packs: u64) -> bool {
        let (run, pack) = (shape.run(), self.dtype.pack_elements());
        let (access, chunk_len) = (Access::Columns, shape.reduce_len());
        let whole = Schedule { access, team: 1, line: 1, chunk_len, chunks: 1, column_packs, share: 1 };
        run.stride == 1
            && shape.columns() >= Some(FEWEST_SLID_PACKS * pack)
            && run.size <= self.device.longest_slide() * pack
            && self.steps(shape, &whole) <= MAX_STEPS
            && self.tells_rows_apart(shape, &whole)
    }

    /// The fewest columns of which packs are faster than single elements where rows begin anywhere: of fewer, too much of a pack is
    /// no one's. On GPUs only packs have teams, and where rows share words of the output, packs that lie in two rows are reduced twice.
    pub(super) fn fewest_ragged_columns(&self) -> u64 {
        let pack = self.dtype.pack_elements();
        let shared = self.lanes() > 1;
        if self.device.spreads() && shared { pack } else { (pack / 2).max(2) }
    }

    /// What a dispatch stores of columns. Where rows end within packs of the output, those packs are seams: one dispatch stores the packs that
    /// lie in one row as such, and another the seams.
    ///
    /// ```text
    ///  rows of columns |a a a a a a|b b b b b b|c c c c c c|
    ///  packs of four   |       |    *  |       |   *   |  *       * seams: the last ends with the outputs
    /// ```
    pub fn stores(&self, shape: &ReductionShape, schedule: &Schedule) -> Stores {
        let by_one = (schedule.team, schedule.chunks) == (1, 1);
        if schedule.access != Access::Columns
            || !Kernel::stores_packs(self.dtype, self.epilogue, schedule.column_packs > 1)
        {
            Stores::Results
        } else if self.stores_whole_packs(shape) {
            Stores::Packs
        } else if by_one && self.fewest_seam_columns(shape).is_some_and(|fewest| shape.columns() >= Some(fewest)) {
            Stores::Seams
        } else {
            Stores::Results
        }
    }

    /// The fewest columns whose seams another dispatch stores, if that pays.
    fn fewest_seam_columns(&self, shape: &ReductionShape) -> Option<u64> {
        let pack = self.dtype.pack_elements();
        let shares_words = self.lanes() > 1;
        let large = self.loads(shape) >= FEWEST_FAR_LOADS;
        // Few seams of many rows: too few invocations reduce them, each both of its rows.
        let waited_for = shape.reduce_len() > MOST_SEAM_ROWS.max(shape.rows_of_columns().saturating_mul(8));
        match (self.device.spreads(), self.epilogue) {
            _ if !large || waited_for => None,
            (false, _) if shares_words => Some(pack * 3 / 2), // what else there is is slow
            (false, _) => Some(FEWEST_SEAM_PACKS * pack),
            // Values are stored in words at little cost there, and so are the positions of many rows.
            (true, Epilogue::Index | Epilogue::Winner) if shape.reduce_len() <= pack => {
                Some(FEWEST_SEAM_PACKS_ON_GPUS * pack)
            }
            (true, _) => None,
        }
    }

    /// Packs side by side that an invocation of a column kernel takes, of which a row has as many. Where they begin anywhere the
    /// kernel takes seconds to compile.
    pub(super) fn column_packs(&self, shape: &ReductionShape) -> u64 {
        let (pack, packs) = (self.dtype.pack_elements(), self.device.tuning.column_packs);
        let fewest = if self.stores_whole_packs(shape) { packs } else { packs + 1 };
        let large = shape.columns_are_whole(pack) || self.loads(shape) >= FEWEST_FAR_LOADS;
        let pay = packs > 1 && large && shape.columns() >= Some(fewest * pack);
        if pay { packs.max(self.packs_of_all(shape)) } else { 1 }
    }

    /// The packs of panels of which a vector's invocations see all of a row, where one row follows another; 0 where there are none.
    fn packs_of_all(&self, shape: &ReductionShape) -> u64 {
        let (columns, pack) = (shape.columns().unwrap_or(1), self.dtype.pack_elements());
        let packs = self.device.packs_of_eighths(columns.div_ceil(pack));
        if self.rows_follow_one_another(shape) && packs * pack <= LARGEST_PANEL { packs } else { 0 }
    }

    /// The neighbours that see all of a row of columns, some of them nothing, so that those of a vector go through rows that follow one
    /// another from end to end.
    pub fn neighbours_of_columns(&self, shape: &ReductionShape, column_packs: u64) -> u64 {
        let (columns, panel) = (shape.columns().unwrap_or(1), column_packs * self.dtype.pack_elements());
        let panels = columns.div_ceil(panel);
        let neighbours = panels.next_power_of_two();
        let idle = neighbours - panels;
        let as_they_are = neighbours * panel == columns || column_packs == 1;
        let pays = column_packs > 4 || 4 * idle <= neighbours; // else more of them see nothing than that is worth
        let some = neighbours <= self.device.neighbours() && self.rows_follow_one_another(shape);
        if some && pays && !as_they_are { neighbours } else { 1 }
    }

    /// The panels of a row that an invocation takes one after another, each invocation about as many, where they are enough to keep the
    /// device busy.
    pub(super) fn panels_in_turn(&self, shape: &ReductionShape, schedule: &Schedule) -> u64 {
        let one_each = schedule.team > 1 || schedule.column_packs > 1;
        if one_each || self.device.most_panels_in_turn() == 1 {
            return 1;
        }
        let as_one =
            schedule.chunks == 1 && self.columns_share_words(shape) && self.stores(shape, schedule) == Stores::Results;
        let columns = if as_one { shape.outputs() } else { shape.columns().unwrap_or(1) };
        let row = (columns / self.dtype.pack_elements()).max(1);
        let all = self.panels_of_columns(shape, 1, 1) * schedule.chunks;
        let longest = MAX_STEPS / self.steps(shape, schedule);
        let most = self.device.most_panels_in_turn().min(all / self.device.tuning.busy_invocations).min(longest).max(1);
        row.div_ceil(row.div_ceil(most))
    }

    /// The panels of so many packs that rows of columns are cut into, so many in turn: one for each of a row's neighbours. What does not
    /// fill a panel is one by itself.
    pub fn panels_of_columns(&self, shape: &ReductionShape, column_packs: u64, share: u64) -> u64 {
        match self.neighbours_of_columns(shape, column_packs) {
            1 => {
                // Each row by itself, or all as if they were one.
                let columns = if self.columns_share_words(shape) { None } else { shape.columns() };
                let (columns, panel) = (columns.unwrap_or(shape.outputs()), column_packs * self.dtype.pack_elements());
                let rest = u64::from(!columns.is_multiple_of(panel));
                shape.outputs() / columns * ((columns / panel).div_ceil(share) + rest)
            }
            neighbours => shape.rows_of_columns() * neighbours,
        }
    }

    /// The same of the packs that lie in one row each.
    pub fn panels_of_packs(&self, shape: &ReductionShape, column_packs: u64, share: u64) -> u64 {
        let panels = match self.neighbours_of_columns(shape, column_packs) {
            1 => (shape.columns().unwrap_or(1) / self.dtype.pack_elements()).div_ceil(column_packs * share),
            neighbours => neighbours,
        };
        shape.rows_of_columns() * panels
    }

    /// As many invocations one below the other as keep the device busy, and have whole tiles; packs side by side fill sectors.
    pub(super) fn column_team(&self, shape: &ReductionShape, counts: &LoadCounts) -> u64 {
        let (tuning, pack) = (&self.device.tuning, self.dtype.pack_elements());
        let columns = shape.columns().unwrap_or(1);
        let lies_in_more_rows = self.columns_share_words(shape) && columns < pack; // than the two that a team looks at
        if lies_in_more_rows || tuning.max_team == 1 || tuning.column_packs > 1 {
            return 1;
        }
        let member_bytes = column_member_bytes(self.operator(), self.dtype);
        let across = self.packs_across(shape);
        let usual = self.device.group_of_members(member_bytes) / across;
        let larger = self.device.larger_group_of_members(member_bytes) / across;
        let dispatchable = self.column_members(shape);
        let wanted = (tuning.busy_invocations / counts.tasks).next_power_of_two();
        let worth = shape.reduce_len() / tuning.loads_per_member;
        let team = |most: u64| power_of_two_below(wanted.min(worth).min(most).min(dispatchable).min(tuning.max_team));
        // More than a workgroup usually has only where nothing need be split then.
        let whole = self.wanted_chunks(counts, team(larger)) <= 1;
        let split = self.wanted_chunks(counts, team(usual)) > 1;
        if split && whole { team(larger) } else { team(usual) }
    }

    /// The packs side by side that the teams of a workgroup take.
    pub fn packs_across(&self, shape: &ReductionShape) -> u64 {
        let columns = shape.columns().unwrap_or(1);
        columns.div_ceil(self.dtype.pack_elements()).next_power_of_two().min(FEWEST_PACKS_ACROSS)
    }

    /// The most members that every team of columns can have in one dispatch.
    pub(super) fn column_members(&self, shape: &ReductionShape) -> u64 {
        let members = self.device.invocations_of_members(column_member_bytes(self.operator(), self.dtype));
        members / self.panels_of_columns(shape, 1, 1)
    }
}
