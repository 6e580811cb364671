//! Schedules: which kernel reduces a window, how many invocations share a task, whether outputs are split into chunks.

mod columns;
mod records;
mod steps;

use super::device::{Device, MAX_ELEMENTS, most_ranked, power_of_two_below};
use super::layout::ReductionShape;
use crate::shader::{Access, Bunches, Epilogue, Operator};
use crate::{DType, NanPolicy};

/// The most loop iterations that an invocation may make, nested loops counted together. lavapipe ends loops silently
/// at 65 535, and a short dispatch keeps clear of the watchdogs of drivers and browsers.
pub(super) const MAX_STEPS: u64 = 32_768;

/// The most outputs of a dispatch: a shader counts the elements of surplus invocations, too.
pub(super) const MAX_OUTPUTS: u64 = 1 << 26;

/// The loads below which what lies apart stays in a cache: 2 MiB.
pub(super) const FEWEST_FAR_LOADS: u64 = 1 << 17;

/// The invocations of other kernels whose work an invocation that takes bunches of short rows does, and no fewer keep a
/// device as busy.
pub(super) const SHORT_ROWS_INVOCATIONS: u64 = 8;

/// The packs of columns that a workgroup of teams takes side by side, if there are so many: two sectors of memory.
pub(super) const FEWEST_PACKS_ACROSS: u64 = 4;

/// The loads from which on it pays to go another way than straight on: packs that begin anywhere, whose kernel takes ten times as long to
/// compile as that of single elements, folds, or a dispatch more.
pub(super) const FEWEST_LOADS: u64 = 1 << 14;

/// The parts of the input of which records, or the values between two stages, usually take one at most.
pub(super) const USUAL_PARTS: u64 = 64;

/// The most bytes of records: one part of so many of the bytes that are seen, and 64 KiB.
pub(super) fn most_records(seen_bytes: u64, parts: u64) -> u64 {
    (seen_bytes / parts).saturating_add(64 << 10)
}

/// A reduction, whatever it reads. It has outputs, and elements to reduce to them.
pub(super) struct Reduction<'a> {
    pub dtype: DType,
    /// What is known of an output in the end.
    pub epilogue: Epilogue,
    /// The reduced dimensions, ascending.
    pub reduced: &'a [usize],
    pub nan: NanPolicy,
    /// Whether the last of equal maxima wins.
    pub last: bool,
    /// Words of an index, where indices are stored.
    pub index_words: u64,
    /// Elements of a slice, where its ones and zeros are written.
    pub slice_len: u64,
    /// Output elements.
    pub out_len: u64,
    pub device: &'a Device,
}

/// How a window is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    pub access: Access,
    /// Invocations that share a task.
    pub team: u64,
    /// Of these, the members that read on from one another in a run; the others are in other runs.
    pub line: u64,
    /// Elements that a task reduces.
    pub chunk_len: u64,
    /// Tasks of an output.
    pub chunks: u64,
    /// Packs side by side that an invocation of a column kernel takes; 1 elsewhere.
    pub column_packs: u64,
    /// Output units that an invocation makes, one after another; of columns panels.
    pub share: u64,
}

impl<'a> Reduction<'a> {
    /// One whose first maxima win, and whose indices are a word.
    pub fn new(
        dtype: DType,
        nan: NanPolicy,
        epilogue: Epilogue,
        reduced: &'a [usize],
        out_len: u64,
        device: &'a Device,
    ) -> Reduction<'a> {
        Reduction { dtype, epilogue, reduced, nan, last: false, index_words: 1, slice_len: 1, out_len, device }
    }

    /// Whether only values are asked for, or positions too.
    pub fn operator(&self) -> Operator {
        self.epilogue.operator()
    }

    /// The same, leaving records.
    pub fn of_records(&self) -> Reduction<'_> {
        Reduction { epilogue: Epilogue::Record(self.operator()), ..*self }
    }

    /// The results that share one written unit.
    pub fn lanes(&self) -> u64 {
        self.epilogue.lanes(self.dtype)
    }

    /// The bytes of each output that belong to one of what is reduced to.
    pub fn target_bytes(&self) -> Vec<u64> {
        let index_bytes = self.index_words * 4;
        match self.epilogue {
            Epilogue::Value | Epilogue::Winner | Epilogue::Record(_) => vec![self.dtype.bytes()],
            Epilogue::Index => vec![index_bytes],
            Epilogue::Both => vec![self.dtype.bytes(), index_bytes],
            Epilogue::Ones => vec![self.slice_len.saturating_mul(self.dtype.bytes())],
        }
    }

    /// The most members of a team, so that a workgroup's teams fill an output unit.
    fn max_team(&self) -> u64 {
        self.device.tuning.max_team.min(self.device.most_members(self.lanes()))
    }

    /// Chooses load pattern, team and split, with at most `max_chunks` records of an output. There may be none: too much for
    /// one dispatch.
    pub fn schedule(&self, shape: &ReductionShape, max_chunks: u64) -> Option<Schedule> {
        if shape.outputs() > MAX_OUTPUTS || shape.reduce_len() > MAX_ELEMENTS {
            return None;
        }
        let column_packs = self.column_packs(shape);
        // More invocations have something to do.
        let by_elements = || self.schedule_of(Access::Strided, 1, shape, max_chunks);
        match self.access(shape, column_packs) {
            Access::Strided => by_elements(),
            Access::Columns => self.schedule_of(Access::Columns, column_packs, shape, max_chunks).or_else(by_elements),
            access => self.schedule_of(access, 1, shape, max_chunks).or_else(by_elements),
        }
    }

    /// The same of these loads, if that can be.
    fn schedule_of(
        &self,
        access: Access,
        column_packs: u64,
        shape: &ReductionShape,
        max_chunks: u64,
    ) -> Option<Schedule> {
        let schedule = self.split(access, column_packs, shape, max_chunks)?;
        let units = self.units(shape.outputs() * schedule.chunks, &schedule);
        if schedule.access == Access::Columns || schedule.team > 1 {
            return Some(Schedule { share: self.panels_in_turn(shape, &schedule), ..schedule });
        }
        let max_share = (MAX_STEPS - self.rest_steps(shape, &schedule)) / self.steps(shape, &schedule);
        let needed = self.device.needed_share(units);
        let share = self.wanted_share(shape, &schedule).max(needed).min(max_share).max(1);
        let access = self.exchanging(&schedule, units, share);
        (share >= needed).then_some(Schedule { access, share, ..schedule })
    }

    /// Short rows of an ArgMax, so many bunches, whose positions neighbours exchange before they are stored, if there is one bunch
    /// each. On GPUs.
    fn exchanging(&self, schedule: &Schedule, units: u64, share: u64) -> Access {
        let Some(bunch) = self.bunch(schedule.access) else { return schedule.access };
        let exchanging = Bunches { exchanged: true, ..bunch };
        let several = bunch.rows > 1 || bunch.staged && self.index_words > 1; // words that an invocation stores
        let fits = several && units <= self.device.invocations_of_members(exchanging.member_bytes());
        let exchanged = self.device.spreads() && self.epilogue == Epilogue::Index && share == 1 && fits;
        if exchanged { exchanging.access() } else { schedule.access }
    }

    /// The results that an invocation makes at once, or of slices that are written element by element the ones and zeros.
    pub fn unit_results(&self, schedule: &Schedule) -> u64 {
        match schedule.access {
            Access::ShortRows { rows, .. } => rows,
            Access::Strided if self.epilogue == Epilogue::Ones => self.dtype.lanes(),
            _ => schedule.epilogue(self.epilogue).lanes(self.dtype),
        }
    }

    /// The units that invocations make for so many tasks.
    pub fn units(&self, tasks: u64, schedule: &Schedule) -> u64 {
        let by_element = schedule.access == Access::Strided && self.epilogue == Epilogue::Ones;
        let results = if by_element { tasks * self.slice_len } else { tasks };
        results.div_ceil(self.unit_results(schedule))
    }

    fn split(&self, access: Access, column_packs: u64, shape: &ReductionShape, max_chunks: u64) -> Option<Schedule> {
        let counts = self.load_counts(shape, access, column_packs);
        let whole = |team| {
            let line = self.line(access, team, &counts);
            Schedule { access, team, line, chunk_len: shape.reduce_len(), chunks: 1, column_packs, share: 1 }
        };
        // Where it is split anyway, teams need not fill an output unit, but leave records.
        let [team, split_team] = [self, &self.of_records()].map(|own| own.team(shape, access, &counts));
        if split_team != team
            && let Some(schedule) = self.split_in_teams(shape, max_chunks, &counts, whole(split_team))
            && schedule.chunks > 1
        {
            return Some(schedule);
        }
        self.split_in_teams(shape, max_chunks, &counts, whole(team))
    }

    /// Splits until no invocation takes too many steps, and no chunk has rows that cannot be told apart.
    fn split_in_teams(
        &self,
        shape: &ReductionShape,
        max_chunks: u64,
        counts: &LoadCounts,
        mut whole: Schedule,
    ) -> Option<Schedule> {
        let Schedule { access, team, .. } = whole;
        // A team may be a whole workgroup, whatever the policy prefers, but for what fills an output unit.
        let max_members = self.device.most_members(self.lanes());
        let for_each_output = self.device.max_invocations / shape.outputs();
        let in_packs = access == Access::Columns && team > 1;
        let members = if in_packs { self.of_records().column_members(shape) } else { for_each_output };
        let dispatchable = members / team; // chunks, which leave records
        let short = matches!(access, Access::ShortRows { .. }); // there are enough of them
        let affordable = if short { 1 } else { max_chunks.min(dispatchable).min(shape.reduce_len()).max(1) };
        let mut chunks =
            self.wanted_chunks(counts, team).max(self.near_chunks(shape, counts, access)).min(affordable).max(1);
        loop {
            let schedule = whole.split(shape, chunks);
            let steps = self.steps(shape, &schedule) + self.rest_steps(shape, &schedule);
            if steps <= MAX_STEPS && self.tells_rows_apart(shape, &schedule) {
                return Some(schedule);
            }
            // Too long: more chunks while scratch lasts, then more invocations a chunk.
            if chunks < affordable {
                chunks = (chunks * 2).min(affordable);
            } else if matches!(access, Access::Rows | Access::Strided)
                && whole.team < max_members
                && whole.team * 2 <= for_each_output / chunks
            {
                whole.team *= 2;
                whole.line *= 2;
            } else {
                return None;
            }
        }
    }

    /// Whether positions can be told apart among all rows of a chunk.
    fn tells_rows_apart(&self, shape: &ReductionShape, schedule: &Schedule) -> bool {
        let ranks = self.operator() == Operator::ArgMax && schedule.access == Access::Columns;
        let at_ends = if shape.has_loose_ends() { 2 } else { 0 };
        !ranks || schedule.chunk_len + at_ends <= most_ranked(self.dtype)
    }

    fn load_counts(&self, shape: &ReductionShape, access: Access, column_packs: u64) -> LoadCounts {
        let (outputs, reduce_len, pack) = (shape.outputs(), shape.reduce_len(), self.dtype.pack_elements());
        let run = shape.run().size;
        match access {
            Access::Rows => LoadCounts { tasks: outputs, loads: reduce_len / pack, run_loads: run / pack },
            Access::Columns => {
                LoadCounts { tasks: outputs.div_ceil(pack * column_packs), loads: reduce_len, run_loads: 1 }
            }
            Access::Strided | Access::ShortRows { .. } => {
                LoadCounts { tasks: outputs, loads: reduce_len, run_loads: run }
            }
        }
    }

    fn access(&self, shape: &ReductionShape, column_packs: u64) -> Access {
        let pack = self.dtype.pack_elements();
        let has_packs = shape.span >= pack;
        let run = shape.run();
        if has_packs
            && !self.epilogue.is_record()
            && let Some(bunches) = self.bunches(shape)
        {
            return bunches.access();
        }
        let columns_fit = shape.columns().is_some_and(|columns| {
            let step_fits = i32::try_from(run.stride).is_ok(); // the kernel divides it as a signed number
            let panels = self.panels_of_columns(shape, column_packs, 1);
            let invocations_fit = panels <= self.device.max_invocations; // one each
            let (fewest, fewest_loads) = match shape.columns_are_whole(pack) {
                true => (pack, 0),
                false => (self.fewest_ragged_columns(), FEWEST_LOADS),
            };
            columns >= fewest && self.loads(shape) >= fewest_loads && step_fits && invocations_fit
        });
        let few_packs = self.takes_few_packs(run.size);
        let slides = columns_fit && self.slides(shape, column_packs);
        if has_packs && run.stride == 1 && (run.size >= 2 * pack || few_packs) && !slides {
            Access::Rows
        } else if has_packs && columns_fit {
            Access::Columns
        } else {
            Access::Strided
        }
    }

    /// The packs that all elements fill.
    pub fn loads(&self, shape: &ReductionShape) -> u64 {
        shape.outputs().saturating_mul(shape.reduce_len()) / self.dtype.pack_elements()
    }

    /// Whether an invocation takes runs of so many elements pack by pack where they begin anywhere.
    pub fn takes_few_packs(&self, run_len: u64) -> bool {
        let (pack, few) = (self.dtype.pack_elements(), self.device.tuning.few_packs);
        let most = if self.operator() == Operator::ReduceMax && self.device.spreads() { few.min(1) } else { few };
        run_len > pack && run_len / pack <= most
    }

    fn team(&self, shape: &ReductionShape, access: Access, counts: &LoadCounts) -> u64 {
        let tuning = &self.device.tuning;
        let outputs_are_neighbours = shape.columns().is_some_and(|columns| columns > 1);
        let members = match access {
            Access::Rows => counts.loads / tuning.loads_per_member,
            Access::Strided if !outputs_are_neighbours => counts.run_loads / tuning.loads_per_member,
            Access::Columns => return self.column_team(shape, counts),
            Access::Strided | Access::ShortRows { .. } => 1,
        };
        // More than a workgroup usually has only where nothing need be split then.
        let usual = (tuning.group / self.lanes()).max(1);
        let busy = (tuning.busy_invocations / counts.tasks / 2 + 1).next_power_of_two();
        let most = self.max_team();
        let most = if busy > most { most.min(usual) } else { most.min(usual.max(busy)) };
        let dispatchable = self.device.max_invocations / shape.outputs();
        power_of_two_below(members.min(dispatchable)).min(most)
    }

    /// The chunks of each output that keep the device busy, if they are worth it.
    fn wanted_chunks(&self, counts: &LoadCounts, team: u64) -> u64 {
        let tuning = &self.device.tuning;
        let wanted = tuning.busy_invocations / (counts.tasks * team).max(1);
        wanted.min(counts.loads / (team * tuning.loads_per_split))
    }

    /// As many as take a run in one turn of four loads each.
    fn line(&self, access: Access, team: u64, counts: &LoadCounts) -> u64 {
        match access {
            Access::Rows => counts.run_loads.div_ceil(4).next_power_of_two().min(team),
            _ => team,
        }
    }

    /// Chunks of a few runs each, where short runs lie far apart: neighbouring tasks then read on from one another, where
    /// each would jump through the whole input by itself.
    fn near_chunks(&self, shape: &ReductionShape, counts: &LoadCounts, access: Access) -> u64 {
        let tuning = &self.device.tuning;
        let short = access == Access::Rows && counts.run_loads < tuning.loads_per_split;
        let far = counts.tasks.saturating_mul(counts.loads) >= FEWEST_FAR_LOADS;
        if short && far { shape.reduce_len() / shape.run().size / tuning.runs_per_split } else { 0 }
    }

    /// The units that an invocation by itself should make: of rows those that are one stream of loads.
    fn wanted_share(&self, shape: &ReductionShape, schedule: &Schedule) -> u64 {
        let tuning = &self.device.tuning;
        if let Access::ShortRows { rows, staged, .. } = schedule.access {
            if staged {
                return 1;
            }
            let bunches = shape.outputs() / rows;
            return tuning.max_share.min(bunches / tuning.busy_invocations);
        }
        if schedule.access != Access::Rows {
            return 1;
        }
        let task_loads = schedule.chunk_len / self.dtype.pack_elements();
        let lanes = schedule.epilogue(self.epilogue).lanes(self.dtype);
        let units = shape.outputs() * schedule.chunks / lanes;
        (tuning.loads_per_turn / (task_loads * lanes)).min(units / tuning.busy_invocations)
    }
}

impl Schedule {
    /// What a task stores, where `epilogue` is what is known of an output that is not split.
    pub fn epilogue(&self, epilogue: Epilogue) -> Epilogue {
        if self.chunks > 1 { Epilogue::Record(epilogue.operator()) } else { epilogue }
    }

    /// The schedule with about so many chunks an output: whole runs, or whole packs of a run.
    fn split(self, shape: &ReductionShape, chunks: u64) -> Schedule {
        let reduce_len = shape.reduce_len();
        if chunks <= 1 {
            return self;
        }
        let run_len = shape.run().size;
        let ideal = reduce_len.div_ceil(chunks);
        let chunk_len = if ideal >= run_len {
            ideal.next_multiple_of(run_len)
        } else {
            ideal.next_multiple_of(16).min(run_len) // 16 elements are a whole number of packs of every type
        };
        Schedule { chunk_len, chunks: reduce_len.div_ceil(chunk_len), ..self }
    }
}

/// What there is to do, in units of a kernel's loads.
struct LoadCounts {
    /// Invocations, or teams, that have something to do if nothing is split.
    tasks: u64,
    /// Loads of one task.
    loads: u64,
    /// Loads of one run.
    run_loads: u64,
}
