//! What ReduceMax, ArgMax and Hardmax have in common: which kernel reduces, how many invocations share a task, whether a
//! row is split.

use super::dims::{Problem, Window, places, shader_dims, stride_word, word};
use super::tuning::{Tuning, power_of_two_below, tuning};
use super::{
    Access, Binding, Constant, Kernel, Operator, Params, Pass, Passes, Placement, Program, ReductionParams, Slot,
    Store, check_binding, grid, pieces, target_part,
};
use crate::{DType, Error, Limits, NanPolicy, Parts, View};

/// The most loop iterations that an invocation may make, nested loops counted together. lavapipe ends loops silently
/// at 65 535, and a short dispatch keeps clear of the watchdogs of drivers and browsers.
pub(super) const MAX_STEPS: u64 = 32_768;

/// The most partial results that one invocation of a finishing pass takes, so that those of a whole output unit stay
/// below [`MAX_STEPS`].
const MAX_PARTIALS: u64 = MAX_STEPS / 8;

/// A reduction to be planned, whatever it reads. It has outputs, and elements to reduce to them.
#[derive(Clone)]
pub(super) struct Reduction<'a> {
    pub dtype: DType,
    pub reduced: &'a [usize],
    pub operator: Operator,
    /// What the last pass writes, and where.
    pub store: Store,
    pub targets: Vec<Binding>,
    /// Constants of every pass.
    pub constants: Vec<Constant>,
    /// Words of an index, where the last pass writes indices.
    pub index_words: Option<u32>,
    /// Output elements.
    pub out_len: u64,
}

/// A view of one input.
#[derive(Clone)]
pub(super) struct Source {
    pub slot: Slot,
    pub view: View,
}

/// The parts of an operation's input, which begins with that slot. Those without elements are left out.
pub(super) fn sources(input: &Parts, first_slot: usize) -> Vec<Source> {
    let source = |(n, view): (usize, &View)| Source { slot: Slot::Input(first_slot + n), view: view.clone() };
    let sources = input.views().iter().enumerate().map(source);
    sources.filter(|source| !source.view.is_empty()).collect()
}

/// A reduction with everything decided.
pub(super) struct Setup {
    pub tuning: Tuning,
    pub problem: Problem,
    /// What the first pass reads.
    pub window: Binding,
    pub cut: Cut,
}

pub(super) fn nan_constants(dtype: DType, nan: NanPolicy) -> Vec<Constant> {
    if dtype.is_float() && nan == NanPolicy::Ignore { vec![Constant::NansIgnored] } else { vec![] }
}

/// How a reduction is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub access: Access,
    /// Invocations that share a task.
    pub team: u64,
    /// Elements that a task reduces.
    pub chunk_len: u64,
    /// Tasks of an output.
    pub chunks: u64,
}

impl Reduction<'_> {
    /// The passes that reduce one view, or several that follow one another along the outermost dimension. Partial
    /// results go to scratch 0.
    pub fn passes(&self, sources: &[Source], limits: &Limits) -> Result<Passes, Error> {
        match self.setup(sources, limits).and_then(|setup| self.whole(&setup, limits)) {
            Err(Error::TooLarge { .. }) => pieces::passes(self, sources, limits),
            passes => passes,
        }
    }

    /// Everything decided, if the input is one view that fits a binding.
    pub fn setup(&self, sources: &[Source], limits: &Limits) -> Result<Setup, Error> {
        let [Source { slot, view }] = sources else {
            let given = sources.len() as u64;
            return Err(Error::TooLarge { what: "buffers that one dispatch reads", given, limit: 1 });
        };
        let window = Window::new(self.dtype, view, *slot, limits)?;
        let places = places(view.shape(), self.reduced);
        let problem = self.problem(view, &window, &places)?;
        let tuning = tuning(limits).for_rows(problem.reduce_len());
        let budget = scratch_budget(self.dtype, problem.outputs().saturating_mul(problem.reduce_len()), problem.span);
        let paid = budget.min(limits.max_binding_bytes) / (self.out_len * self.record_words() * 4);
        let cut = self.cut(&problem, paid.min(self.max_records(self.out_len, &tuning)), &tuning)?;
        Ok(Setup { tuning, problem, window: window.binding, cut })
    }

    pub fn problem(&self, view: &View, window: &Window, places: &[u64]) -> Result<Problem, Error> {
        let any_order = self.operator == Operator::ReduceMax;
        let problem = Problem::new(view, self.reduced, any_order, window, places);
        // What follows multiplies both by small numbers.
        word(problem.outputs())?;
        word(problem.reduce_len())?;
        Ok(problem)
    }

    /// One scan, and where it is split one more pass that finishes it.
    pub fn whole(&self, setup: &Setup, limits: &Limits) -> Result<Passes, Error> {
        let Cut { chunks, .. } = setup.cut;
        for target in &self.targets {
            check_binding("bytes of an output", target.bytes, limits)?;
        }
        if chunks == 1 {
            return Ok(Passes(vec![self.scan(setup, self.store, &self.targets, Placement::default(), limits)?]));
        }
        let bytes = self.out_len * chunks * self.record_words() * 4;
        check_binding("bytes of partial results", bytes, limits)?;
        let partials = partials(bytes);
        let scan = self.scan(setup, Store::Partial, &[partials], Placement::default(), limits)?;
        Ok(Passes(vec![scan, self.finish(Access::Finish, chunks, partials, limits)?]))
    }

    /// The pass that reads the input.
    pub fn scan(
        &self,
        setup: &Setup,
        store: Store,
        targets: &[Binding],
        placement: Placement,
        limits: &Limits,
    ) -> Result<Pass, Error> {
        let Setup { tuning, problem, window, cut } = setup;
        let Cut { access, team, .. } = *cut;
        let program = Program::Reduce { operator: self.operator, access, team: team > 1, store };
        let mut constants = self.scan_constants(problem, cut, tuning);
        constants.extend(self.index_constant().filter(|_| matches!(store, Store::Index | Store::Both)));
        let share = word(self.share(problem, cut, store, tuning))?;
        Ok(Pass {
            kernel: Kernel::new(program, self.dtype, constants, tuning),
            grid: self.grid(problem, cut, store, tuning, limits)?,
            params: Params::Reduction(ReductionParams { placement, share, ..self.params(problem, cut, store)? }),
            bindings: [&input_bindings(access, *window), targets].concat(),
        })
    }

    /// The finishing pass: one output's `records` partial results are its row.
    pub fn finish(&self, access: Access, records: u64, partials: Binding, limits: &Limits) -> Result<Pass, Error> {
        let tuning = tuning(limits);
        let preferred = records.next_power_of_two().min(self.max_team(self.store, &tuning));
        let needed = records.div_ceil(MAX_PARTIALS).next_power_of_two();
        let team = preferred.min(self.max_finish_team(self.out_len, &tuning)).max(needed);
        let (lanes, share) = (self.store.lanes(self.dtype), self.finish_share(self.out_len, &tuning));
        let groups = groups(self.out_len, team, lanes * share, tuning.group);
        let params = ReductionParams {
            outputs: word(self.out_len)?,
            chunks: word(records)?,
            share: word(share)?,
            ..Default::default()
        };
        Ok(Pass {
            kernel: self.finish_kernel(access, team, &tuning),
            params: Params::Reduction(params),
            grid: grid(groups, tuning.group * self.dtype.lanes() * share, limits)?,
            bindings: [&[Binding { binding: 1, writes: false, ..partials }], &self.targets[..]].concat(),
        })
    }

    /// The most partial results of each of so many outputs that one finishing pass can take.
    pub fn max_records(&self, out_len: u64, tuning: &Tuning) -> u64 {
        match self.finish_share(out_len, tuning) {
            1 => MAX_PARTIALS * self.max_finish_team(out_len, tuning),
            share => (MAX_PARTIALS / share).max(1),
        }
    }

    /// The most invocations that can share an output of a finishing pass: the teams of a workgroup fill whole units, and
    /// the device has workgroups for every output.
    fn max_finish_team(&self, out_len: u64, tuning: &Tuning) -> u64 {
        power_of_two_below((tuning.group / self.store.lanes(self.dtype)).min(tuning.most_invocations / out_len))
    }

    /// The output units that an invocation of a finishing pass makes: several only where the device has too few.
    fn finish_share(&self, out_len: u64, tuning: &Tuning) -> u64 {
        tuning.needed_share(out_len.div_ceil(self.store.lanes(self.dtype)))
    }

    /// The outputs from `first` on, `len` of them: how much of each target that is.
    pub fn targets(&self, first: u64, len: u64) -> Vec<Binding> {
        let part = |(&target, bytes): (&Binding, u64)| target_part(target, bytes, first, len);
        self.targets.iter().zip(self.target_bytes()).map(part).collect()
    }

    /// The bytes of an element of each target.
    pub fn target_bytes(&self) -> Vec<u64> {
        let index_bytes = u64::from(self.index_words.unwrap_or(0)) * 4;
        match self.store {
            Store::Value | Store::Partial | Store::Piece => vec![self.dtype.bytes()],
            Store::Index => vec![index_bytes],
            Store::Both => vec![self.dtype.bytes(), index_bytes],
        }
    }

    fn finish_kernel(&self, access: Access, team: u64, tuning: &Tuning) -> Kernel {
        let program = Program::Reduce { operator: self.operator, access, team: team > 1, store: self.store };
        let constants = self.constants(team, tuning).chain(self.index_constant()).collect();
        Kernel::new(program, self.dtype, constants, tuning)
    }

    fn constants(&self, team: u64, tuning: &Tuning) -> impl Iterator<Item = Constant> {
        let team = (team > 1).then_some(Constant::Team(team as u32));
        [Constant::Group(tuning.group as u32)].into_iter().chain(team).chain(self.constants.clone())
    }

    /// The constants of a kernel that scans the input.
    pub fn scan_constants(&self, problem: &Problem, cut: &Cut, tuning: &Tuning) -> Vec<Constant> {
        let split = (cut.chunks > 1).then_some(Constant::Split);
        let runs = (problem.reduced.len() > 1).then_some(Constant::Runs);
        let columns = cut.access == Access::Columns;
        let wide = (columns && tuning.column_packs > 1).then_some(Constant::Wide);
        let row_bytes = problem.run().stride.unsigned_abs().saturating_mul(self.dtype.bytes());
        let far = (columns && row_bytes >= tuning.far_bytes).then_some(Constant::Far);
        let pack = self.dtype.pack_elements();
        let whole_packs = match cut.access {
            Access::Rows => problem.runs_are_whole(cut.chunk_len, pack),
            Access::Columns => problem.columns().is_some_and(|columns| columns % pack == 0),
            Access::Strided | Access::Finish | Access::FinishPieces => true,
        };
        let ragged = (!whole_packs).then_some(Constant::Ragged);
        self.constants(cut.team, tuning).chain(split).chain(runs).chain(wide).chain(far).chain(ragged).collect()
    }

    fn index_constant(&self) -> Option<Constant> {
        self.index_words.map(Constant::IndexWords)
    }

    pub fn params(&self, problem: &Problem, cut: &Cut, store: Store) -> Result<ReductionParams, Error> {
        let placed = store == Store::Piece;
        let columns = if cut.access == Access::Columns { problem.columns().unwrap_or(1) } else { 1 };
        let kept = if cut.access == Access::Columns { problem.kept.get(1..).unwrap_or(&[]) } else { &problem.kept };
        // The shaders' counters pass the ends of reductions by at most a chunk, and addresses by a few packs a member.
        word(problem.reduce_len() + cut.chunk_len)?;
        word(problem.span + 256 * cut.team)?;
        word(problem.outputs() * cut.chunks)?;
        Ok(ReductionParams {
            outputs: word(problem.outputs())?,
            reduce_len: word(problem.reduce_len())?,
            chunk_len: word(cut.chunk_len)?,
            chunks: word(cut.chunks)?,
            run_len: word(problem.run().size)?,
            run_stride: stride_word(problem.run().stride)?,
            start: word(problem.start)?,
            columns: word(columns)?,
            share: 1,
            kept: shader_dims(kept, placed)?,
            outer: shader_dims(&problem.reduced[1..], placed)?,
            placement: Placement::default(),
        })
    }

    /// A workgroup's teams are enough to fill an output unit.
    pub fn max_team(&self, store: Store, tuning: &Tuning) -> u64 {
        tuning.max_team.min(tuning.group / store.lanes(self.dtype)).max(1)
    }

    /// The steps of one task of so many elements at most, however they lie in so many dimensions, if a split into chunks
    /// leaves up to twice as many to one as to another: as `steps` counts them for a strided kernel and runs of two.
    pub fn most_steps(len: u64, dims: u64, tuning: &Tuning) -> u64 {
        (3 + dims * tuning.column_packs).saturating_mul(len).saturating_add(1024)
    }

    /// Words of a partial result.
    fn record_words(&self) -> u64 {
        self.dtype.key_words() + u64::from(self.operator == Operator::ArgMax)
    }

    fn grid(
        &self,
        problem: &Problem,
        cut: &Cut,
        store: Store,
        tuning: &Tuning,
        limits: &Limits,
    ) -> Result<[u32; 3], Error> {
        let tasks = problem.outputs() * cut.chunks;
        let turn = store.lanes(self.dtype) * self.share(problem, cut, store, tuning);
        let groups = match (cut.access, problem.columns()) {
            (Access::Columns, Some(columns)) => (tasks / columns
                * columns.div_ceil(self.dtype.pack_elements() * tuning.column_packs))
            .div_ceil(tuning.group),
            _ => groups(tasks, cut.team, turn, tuning.group),
        };
        grid(groups, tuning.group * turn.max(self.dtype.pack_elements() * tuning.column_packs), limits)
    }

    /// Chooses load pattern, team and split: at most `most_chunks` partial results an output.
    pub fn cut(&self, problem: &Problem, most_chunks: u64, tuning: &Tuning) -> Result<Cut, Error> {
        let access = self.access(problem, tuning);
        let work = Work::new(problem, access, self.dtype, tuning.column_packs);
        let team = self.team(problem, access, &work, tuning);
        let mut whole = Cut { access, team, chunk_len: problem.reduce_len(), chunks: 1 };
        let wanted = tuning.busy_invocations / (work.tasks * team).max(1);
        let worth = work.loads / (team * tuning.loads_per_split);
        // A team may be a whole workgroup, whatever the policy prefers, but for what fills an output unit.
        let most_members = (tuning.group / self.store.lanes(self.dtype)).max(1);
        let dispatchable = tuning.most_invocations / (problem.outputs() * team);
        let affordable = most_chunks.min(dispatchable).min(problem.reduce_len()).max(1);
        let near = near_chunks(problem, &work, access, tuning);
        let invocations = |team: u64| problem.outputs().saturating_mul(affordable).saturating_mul(team);
        let mut chunks = wanted.min(worth).max(near).min(affordable).max(1);
        loop {
            let cut = whole.split(problem, chunks);
            if self.steps(problem, &cut, tuning) <= MAX_STEPS {
                return Ok(cut);
            }
            // Too long for one invocation: more chunks while scratch lasts, then more invocations a chunk.
            if chunks < affordable {
                chunks = (chunks * 2).min(affordable);
            } else if whole.access == Access::Columns {
                whole.access = Access::Strided;
            } else if whole.team < most_members && invocations(whole.team * 2) <= tuning.most_invocations {
                whole.team *= 2;
            } else {
                let given = self.steps(problem, &cut, tuning).saturating_mul(chunks * whole.team);
                let limit = MAX_STEPS * chunks * whole.team;
                return Err(Error::TooLarge { what: "steps of one reduction", given, limit });
            }
        }
    }

    fn access(&self, problem: &Problem, tuning: &Tuning) -> Access {
        let pack = self.dtype.pack_elements();
        let has_packs = problem.span >= pack;
        let run = problem.run();
        // Positions of 64-bit types have no column kernel: a pack has but two of them.
        let columns_fit = problem.columns().is_some_and(|columns| {
            let invocations = problem.outputs() / columns * columns.div_ceil(pack * tuning.column_packs);
            let only_row = problem.kept.len() <= 1;
            let step_fits = i32::try_from(run.stride).is_ok(); // the kernel divides it as a signed number
            let invocations_fit = invocations <= tuning.most_invocations; // each takes one place
            problem.rows_are_aligned(pack)
                && step_fits
                && invocations_fit
                && (columns % pack == 0 || only_row && columns >= pack)
        }) && (self.operator == Operator::ReduceMax || self.dtype.bytes() < 8);
        if has_packs && run.stride == 1 && run.size >= 2 * pack {
            Access::Rows
        } else if has_packs && columns_fit {
            Access::Columns
        } else {
            Access::Strided
        }
    }

    /// Output units that an invocation makes, one after another.
    fn share(&self, problem: &Problem, cut: &Cut, store: Store, tuning: &Tuning) -> u64 {
        if cut.access == Access::Columns || cut.team > 1 {
            return 1;
        }
        let units = (problem.outputs() * cut.chunks).div_ceil(store.lanes(self.dtype));
        let most = MAX_STEPS / self.steps(problem, cut, tuning);
        self.wanted_share(problem, cut, store, tuning).max(tuning.needed_share(units)).min(most).max(1)
    }

    /// Short rows are taken in one stream of loads. Rows of less than eight loads gain nothing by it.
    pub fn wanted_share(&self, problem: &Problem, cut: &Cut, store: Store, tuning: &Tuning) -> u64 {
        let task_loads = cut.chunk_len / self.dtype.pack_elements();
        if cut.access != Access::Rows || cut.team > 1 || task_loads < 8 {
            return 1;
        }
        let lanes = store.lanes(self.dtype);
        let units = problem.outputs() * cut.chunks / lanes;
        (tuning.loads_per_turn / (task_loads * lanes)).min(units / tuning.busy_invocations)
    }

    fn team(&self, problem: &Problem, access: Access, work: &Work, tuning: &Tuning) -> u64 {
        let outputs_are_neighbours = problem.columns().is_some_and(|columns| columns > 1);
        let members = match access {
            Access::Rows => work.run_loads / tuning.loads_per_member,
            Access::Strided if !outputs_are_neighbours => work.run_loads / tuning.loads_per_member,
            Access::Strided | Access::Columns | Access::Finish | Access::FinishPieces => 1,
        };
        let dispatchable = tuning.most_invocations / problem.outputs();
        power_of_two_below(members.min(dispatchable)).min(self.max_team(self.store, tuning))
    }

    /// Loop iterations of one invocation, at most.
    pub fn steps(&self, problem: &Problem, cut: &Cut, tuning: &Tuning) -> u64 {
        let run_len = problem.run().size.min(cut.chunk_len);
        let runs = cut.chunk_len.div_ceil(run_len) + 1;
        // As if ArgMax looped over the lanes of a word wherever it compares a tile: more than any kernel does.
        let lane_steps = if self.operator == Operator::ArgMax { self.dtype.lanes() } else { 1 };
        let run_steps = match cut.access {
            Access::Rows => (run_len / (self.dtype.pack_elements() * cut.team * 4) + 4) * lane_steps,
            Access::Columns => (run_len + 4) * lane_steps * tuning.column_packs, // one by one at a row's end
            Access::Strided | Access::Finish | Access::FinishPieces => run_len / cut.team + 1,
        };
        let dims = (problem.kept.len() + problem.reduced.len()) as u64;
        let task = runs * (run_steps + dims * tuning.column_packs) + dims + 128 * tuning.column_packs; // and what finding a position takes
        let store = if cut.chunks > 1 { Store::Partial } else { self.store };
        if cut.team == 1 && cut.access != Access::Columns { task * store.lanes(self.dtype) } else { task }
    }
}

/// The loads below which what lies apart stays in a cache: 2 MiB.
const FEWEST_FAR_LOADS: u64 = 1 << 17;

/// Chunks of a few runs each, where short runs lie far apart: neighbouring tasks then read on from one another, where each
/// would jump through the whole input by itself.
fn near_chunks(problem: &Problem, work: &Work, access: Access, tuning: &Tuning) -> u64 {
    let short = access == Access::Rows && work.run_loads < tuning.loads_per_split;
    let far = work.tasks.saturating_mul(work.loads) >= FEWEST_FAR_LOADS;
    if short && far { problem.reduce_len() / problem.run().size / tuning.runs_per_split } else { 0 }
}

/// What there is to do, in units of a kernel's loads.
struct Work {
    /// Invocations, or teams, that have something to do if nothing is split.
    tasks: u64,
    /// Loads of one task.
    loads: u64,
    /// Loads of one run.
    run_loads: u64,
}

impl Work {
    fn new(problem: &Problem, access: Access, dtype: DType, column_packs: u64) -> Work {
        let outputs = problem.outputs();
        let reduce_len = problem.reduce_len();
        let pack = dtype.pack_elements();
        match access {
            Access::Rows => Work { tasks: outputs, loads: reduce_len / pack, run_loads: problem.run().size / pack },
            Access::Columns => Work { tasks: outputs.div_ceil(pack * column_packs), loads: reduce_len, run_loads: 1 },
            Access::Strided | Access::Finish | Access::FinishPieces => {
                Work { tasks: outputs, loads: reduce_len, run_loads: problem.run().size }
            }
        }
    }
}

impl Cut {
    /// The cut with about so many chunks an output: whole runs, or whole packs of a run.
    pub fn split(self, problem: &Problem, chunks: u64) -> Cut {
        let reduce_len = problem.reduce_len();
        if chunks <= 1 {
            return self;
        }
        let run_len = problem.run().size;
        let ideal = reduce_len.div_ceil(chunks);
        let chunk_len = if ideal >= run_len {
            ideal.next_multiple_of(run_len)
        } else {
            ideal.next_multiple_of(16).min(run_len) // 16 elements are a whole number of packs of every type
        };
        Cut { chunk_len, chunks: reduce_len.div_ceil(chunk_len), ..self }
    }
}

/// Scratch is at most a 64th of the input that is seen, and 64 KiB.
pub(super) fn scratch_budget(dtype: DType, seen: u64, span: u64) -> u64 {
    seen.min(span).saturating_mul(dtype.bytes()) / 64 + (64 << 10)
}

/// The bytes of partial results in scratch 0, to be written.
pub(super) fn partials(bytes: u64) -> Binding {
    Binding { binding: 3, slot: Slot::Scratch(0), writes: true, offset_bytes: 0, bytes }
}

pub(super) fn groups(tasks: u64, team: u64, store_lanes: u64, group: u64) -> u64 {
    if team == 1 { tasks.div_ceil(store_lanes).div_ceil(group) } else { tasks.div_ceil(group / team) }
}

pub(super) fn input_bindings(access: Access, window: Binding) -> Vec<Binding> {
    match access {
        Access::Rows | Access::Columns => vec![window, Binding { binding: 2, ..window }],
        Access::Strided | Access::Finish | Access::FinishPieces => vec![window],
    }
}
