//! Whether a plan is whole. Those that this crate makes are; one that was put together by hand, or read from a file, may
//! not be.
//!
//! A plan that passes does no harm, whatever its numbers are: it writes nothing but outputs and scratch, there only what its
//! bindings name (wgpu compares each index with the bound range), and it ends, since no invocation takes more turns, and
//! no dispatch has more workgroups, than its numbers ask for.

use super::device::{
    EXCHANGED_BYTES, MAX_BINDING_BYTES, MEMBER_BYTES, check_countable, column_member_bytes, most_ranked,
};
use super::schedule::MAX_STEPS;
use super::{
    Access, Binding, BroadcastParams, Declaration, Dispatch, Epilogue, HardmaxOnesParams, HardmaxWriteParams,
    HardmaxWriter, Kernel, MaxAccess, MaxShortRows, MergeParams, Operator, Override, Params, Plan, Program,
    ReductionParams, Role, Slot, Stores, check_count, within,
};
use crate::error::list;
use crate::shader::{MAX_DIMS, TILE_PACKS, WALK_DIMS};
use crate::{Error, Limits};

impl Plan {
    /// Whether the plan can be dispatched on a device with these limits, and every binding names bytes that are there, of a
    /// slot that its shader may read or write.
    ///
    /// `Kernels::prepare` asks this first. It is not left to wgpu, which accepts a workgroup of
    /// any size where an `override` sets it, and knows nothing of slots.
    ///
    /// # Errors
    /// [`Error::TooLarge`] or [`Error::BindingMisaligned`] for a plan that was made for larger limits,
    /// [`Error::MissingFeature`] for one that was made for [`Limits::int64`] where there is none;
    /// [`Error::InvalidPlan`] for one that contradicts itself; those of [`Limits::check`].
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        limits.check()?;
        check_count(self.dispatches.len() as u64)?;
        self.check_slots()?;
        for (n, dispatch) in self.dispatches.iter().enumerate() {
            self.check_dispatch(dispatch, limits).map_err(|error| match error {
                Error::InvalidPlan { problem } => Error::InvalidPlan { problem: format!("dispatch {n}: {problem}") },
                other => other,
            })?;
        }
        Ok(())
    }

    fn check_slots(&self) -> Result<(), Error> {
        let declared = [&self.input_bytes[..], &self.output_bytes, &self.scratch_bytes].concat();
        ensure(declared.iter().all(|bytes| bytes.is_multiple_of(4)), || {
            format!("its slots have {} bytes, whole words expected", list(&declared))
        })?;
        if let Some(input) = self.in_place {
            let there = input < self.input_bytes.len() && !self.output_bytes.is_empty();
            ensure(there, || format!("output 0 is to be written over input {input}, and one of them is not there"))?;
            ensure(self.input_bytes[input] == 0, || {
                format!("output 0 is to be written over input {input}, also read")
            })?;
        }
        for (n, bytes) in self.embedded.iter().enumerate() {
            ensure(!bytes.is_empty() && bytes.len().is_multiple_of(4), || {
                format!("embedded operand {n} has {} bytes, a multiple of 4 and more than 0 expected", bytes.len())
            })?;
        }
        Ok(())
    }

    fn check_dispatch(&self, dispatch: &Dispatch, limits: &Limits) -> Result<(), Error> {
        let group = check_kernel(&dispatch.kernel, limits)?;
        for groups in dispatch.grid {
            within("workgroups in one dimension", groups.into(), limits.max_groups.into())?;
        }
        check_work(dispatch, &Work::of(dispatch, &group)?)?;
        within("storage bindings of a dispatch", dispatch.bindings.len() as u64, limits.max_storage_bindings.into())?;
        self.check_bindings(dispatch, limits)
    }

    /// The bindings are those that the shader declares, each once.
    fn check_bindings(&self, dispatch: &Dispatch, limits: &Limits) -> Result<(), Error> {
        let declared = dispatch.kernel.bindings();
        let numbers: Vec<u32> = dispatch.bindings.iter().map(|own| own.binding).collect();
        let each_once = numbers.len() == declared.len() && declared.iter().all(|own| numbers.contains(&own.binding));
        ensure(each_once, || {
            let expected: Vec<u32> = declared.iter().map(|own| own.binding).collect();
            format!("bindings {} given, {} expected by {}", list(&numbers), list(&expected), dispatch.kernel)
        })?;
        for own in &dispatch.bindings {
            within("bytes of a binding", own.bytes, limits.max_binding_bytes.min(MAX_BINDING_BYTES))?;
            let (offset, alignment) = (own.offset_bytes, limits.binding_alignment_bytes);
            if !offset.is_multiple_of(alignment) {
                return Err(Error::BindingMisaligned { slot: own.slot.to_string(), offset, alignment });
            }
            let declared = declared.iter().find(|declared| declared.binding == own.binding);
            let problem = match declared.map(|declared| self.binding_problem(own, declared)) {
                Some(problem) => problem,
                None => continue, // there is one for each
            };
            let times = dispatch.bindings.iter().filter(|other| other.slot == own.slot).count();
            let problem = problem.or(match (own.writes, dispatch.kernel.shared_buffers, times) {
                (false, false, _) | (_, _, 0..=1) => None,
                (true, _, _) => Some(format!("{} is written and bound twice", own.slot)),
                (false, true, _) => Some(format!("{} is bound twice by a kernel of shared buffers", own.slot)),
            });
            ensure(problem.is_none(), || format!("binding {}: {}", own.binding, problem.unwrap_or_default()))?;
        }
        Ok(())
    }

    fn binding_problem(&self, own: &Binding, declared: &Declaration) -> Option<String> {
        let given = match own.slot {
            Slot::Input(n) => self.input_bytes.get(n).copied(),
            Slot::Output(n) => self.output_bytes.get(n).copied(),
            Slot::Scratch(n) => self.scratch_bytes.get(n).copied(),
            Slot::Embedded(n) => self.embedded.get(n).map(|bytes| bytes.len() as u64),
        };
        let Some(given) = given else {
            return Some(format!("the plan has no {}", own.slot));
        };
        if !allows(declared.role, own.slot) || own.writes != declared.writes {
            let access = |writes| if writes { "written" } else { "read" };
            let (is, expected) = (access(own.writes), access(declared.writes));
            return Some(format!("{} is {is}, {:?} {expected} there", own.slot, declared.role).to_lowercase());
        }
        if own.bytes < declared.element_bytes || !own.bytes.is_multiple_of(4) {
            let least = declared.element_bytes;
            return Some(format!("{} bytes, a multiple of 4 and at least {least} expected", own.bytes));
        }
        match own.offset_bytes.checked_add(own.bytes) {
            Some(end) if end <= given => None,
            _ => Some(format!("{} bytes from byte {} on, of {given} of {}", own.bytes, own.offset_bytes, own.slot)),
        }
    }
}

/// A workgroup, in invocations.
struct Group {
    invocations: u64,
    /// Those that share a task.
    team: u64,
    /// Of these, those that share a run.
    line: u64,
}

/// A kernel that there is, with its own overrides, each at most once.
fn check_kernel(kernel: &Kernel, limits: &Limits) -> Result<Group, Error> {
    ensure(kernel.exists(), || format!("there is no {kernel}"))?;
    if kernel.int64 && !limits.int64 {
        return Err(Error::MissingFeature { feature: "SHADER_INT64" });
    }
    let (mut group, mut team, mut line) = (None, None, None);
    for (n, &own) in kernel.overrides.iter().enumerate() {
        let name = own.name();
        ensure(kernel.declares(own), || format!("{kernel} has no override {name}"))?;
        let before = &kernel.overrides[..n];
        ensure(before.iter().all(|other| other.name() != name), || format!("override {name} is given twice"))?;
        match own {
            Override::Group(invocations) => group = Some(check_invocations("a workgroup", invocations)?),
            Override::Team(invocations) => team = Some(check_invocations("a team", invocations)?),
            Override::RunMembers(invocations) => line = Some(check_invocations("a run", invocations)?),
            Override::IndexWords(words) => {
                ensure(matches!(words, 1 | 2), || format!("an index has {words} words, 1 or 2 expected"))?;
            }
            _ => {}
        }
    }
    ensure(group.is_some(), || "override GROUP is missing".to_string())?; // its default is no device's
    let team = team.unwrap_or(1);
    let group = Group { invocations: group.unwrap_or(1), team, line: line.unwrap_or(team) };
    check_group(kernel, &group, limits).map(|()| group)
}

/// Loops count in steps of these, and of four teams at the most: 0 would never end, and more might leap over the end
/// (`shaders/lib/grid.wgsl`). Of powers of two all teams are whole.
fn check_invocations(what: &str, invocations: u32) -> Result<u64, Error> {
    let problem = || format!("{what} has {invocations} invocations, a power of two expected");
    ensure(invocations.is_power_of_two(), problem)?;
    Ok(invocations.into())
}

fn check_group(kernel: &Kernel, group: &Group, limits: &Limits) -> Result<(), Error> {
    const LARGEST_GROUP: u32 = 0x10000 / 4; // no device has larger ones
    let &Group { invocations, team, line } = group;
    let most = limits.max_group_invocations.min(LARGEST_GROUP).into();
    within("invocations of a workgroup", invocations, most)?;
    within("invocations of a team", team, invocations)?;
    within("invocations of a run", line, team)?;
    if let Program::Reduce { access: Access::ShortRows { rows, exchanged: true, .. }, .. } = kernel.program {
        let bytes = invocations * u64::from(rows) * EXCHANGED_BYTES;
        within("bytes of workgroup memory", bytes, limits.max_group_memory_bytes.into())?;
    }
    if team > 1 {
        // What a team of columns writes is units of its own.
        let (member_bytes, results) = match kernel.program {
            Program::Reduce { operator, access: Access::Columns, .. } => {
                (column_member_bytes(operator, kernel.dtype), 1)
            }
            _ => (MEMBER_BYTES, store_lanes(kernel)),
        };
        within("bytes of workgroup memory", invocations * member_bytes, limits.max_group_memory_bytes.into())?;
        // One invocation writes the results that share a unit.
        let teams = invocations / team;
        ensure(teams >= results, || {
            format!("a workgroup has {teams} teams, at least {results} expected, whose results fill a unit")
        })?;
    }
    Ok(())
}

/// Of so many elements positions can be told apart, or else they would be wrong.
fn check_ranked(kernel: &Kernel, params: &ReductionParams) -> Result<(), Error> {
    let ranks = matches!(
        kernel.program,
        Program::Reduce { operator: Operator::ArgMax, access: Access::Columns | Access::ShortRows { .. }, .. }
    );
    let (len, most) = (task_len(kernel, params), most_ranked(kernel.dtype));
    ensure(!ranks || len <= most, || {
        format!("positions among {len} elements of {}: at most {most} expected", kernel.dtype)
    })
}

/// How many results of a reduction share what is written at once.
fn store_lanes(kernel: &Kernel) -> u64 {
    match kernel.program {
        Program::Reduce { stores: Stores::Packs, .. } => 1,
        Program::Reduce { epilogue, .. } | Program::Merge { epilogue, .. } => epilogue.lanes(kernel.dtype),
        _ => 1,
    }
}

/// What a dispatch has to do, as its shader counts it.
struct Work {
    /// Workgroups with something to do.
    groups: u64,
    /// The most turns of loops that an invocation takes, nested loops counted together.
    turns: u64,
}

/// The most turns of an invocation: far more than are planned, no fewer than lavapipe makes before it ends a loop.
const MAX_TURNS: u64 = 2 * MAX_STEPS;

fn check_work(dispatch: &Dispatch, work: &Work) -> Result<(), Error> {
    let [x, y, z] = dispatch.grid.map(u64::from);
    // Folded into two dimensions, where the last row may be surplus.
    let enough = z == 1 && x * y >= work.groups && x * y < work.groups + x.max(y).max(1);
    ensure(enough, || format!("{:?} workgroups given, {} in two dimensions expected", dispatch.grid, work.groups))?;
    ensure(work.turns <= MAX_TURNS, || {
        format!("an invocation takes {} turns of its loops, at most {MAX_TURNS} expected", work.turns)
    })
}

impl Work {
    /// Of parameters that are the program's, and fit into its uniform buffer.
    fn of(dispatch: &Dispatch, group: &Group) -> Result<Work, Error> {
        let kernel = &dispatch.kernel;
        match (kernel.program, &dispatch.params) {
            (Program::Fill { .. }, Params::Fill(params)) => {
                ensure(params.share > 0, || "0 packs or words in turn: more than 0 expected".to_string())?;
                check_neighbours(kernel, group)?;
                check_countable(kernel.neighbours() * u64::from(params.share) + u64::from(params.len))?;
                let writes = params.len.saturating_sub(params.first);
                Ok(Work::shared(writes.into(), params.share.into(), 1, group))
            }
            (Program::Reduce { access, epilogue, stores, .. }, Params::Reduction(params))
                if params.kept.len().max(params.outer.len()) <= MAX_DIMS =>
            {
                Work::of_reduction(kernel, access, epilogue, stores, params, group)
            }
            (Program::Merge { .. }, Params::Merge(params)) => Work::of_merge(kernel, params, group),
            (Program::HardmaxWrite(writer), Params::HardmaxWrite(params)) => {
                Work::of_write(kernel, writer, params, group)
            }
            (Program::HardmaxOnes, Params::HardmaxOnes(params)) => Work::of_ones(params, group),
            (Program::Max { operands, access }, Params::Broadcast(params))
                if params.operands.len() == operands as usize
                    && params.operands.iter().map(|own| own.strides.len()).fold(params.sizes.len(), usize::max)
                        <= MAX_DIMS =>
            {
                Work::of_broadcast(kernel, access, params, group)
            }
            _ => Err(Error::InvalidPlan { problem: format!("its parameters are such as {kernel} does not take") }),
        }
    }

    /// Units that invocations take in turn, a share each.
    fn shared(units: u64, share: u64, turns_of_one: u64, group: &Group) -> Work {
        let groups = units.div_ceil(share).div_ceil(group.invocations);
        Work { groups, turns: share.min(units).saturating_mul(turns_of_one) }
    }

    /// Tasks that teams do, or invocations by themselves, a share of units each.
    fn reducing(kernel: &Kernel, tasks: u64, share: u64, turns: u64, group: &Group) -> Work {
        let lanes = store_lanes(kernel);
        match group.team {
            1 => Work::shared(tasks.div_ceil(lanes), share, turns.saturating_mul(lanes), group),
            team => Work { groups: tasks.div_ceil(group.invocations / team), turns },
        }
    }

    fn of_reduction(
        kernel: &Kernel,
        access: Access,
        epilogue: Epilogue,
        stores: Stores,
        params: &ReductionParams,
        group: &Group,
    ) -> Result<Work, Error> {
        let [outputs, chunks, share, columns] =
            [params.outputs, params.chunks, params.share, params.columns].map(u64::from);
        ensure(outputs > 0 && share > 0 && columns > 0, || {
            format!("{outputs} outputs in {columns} columns, {share} in turn: more than 0 expected")
        })?;
        let turns = chunk_turns(kernel, params, access, group)?;
        check_ranked(kernel, params)?;
        if access == Access::Columns {
            return Work::of_columns(kernel, stores, params, turns, group);
        }
        if epilogue == Epilogue::Ones {
            check_countable(outputs.saturating_mul(params.reduce_len.into()))?;
        }
        if let (Access::ShortRows { rows, exchanged, .. }, Some(bunch)) = (access, kernel.bunches()) {
            ensure(share == 1 || !exchanged, || {
                format!("a share of {share} bunches whose positions are exchanged: 1 expected")
            })?;
            // Bunches in turn and then, row by row, what does not fill one.
            let (rows, parts) = (u64::from(rows), bunch.parts());
            let runs = u64::from(params.reduce_len / params.run_len);
            let part_turns = 2 + 2 * params.kept.len() as u64 + runs.saturating_mul(1 + params.outer.len() as u64);
            let bunches = Work::shared(outputs.div_ceil(rows), share, parts.saturating_mul(part_turns), group);
            if epilogue == Epilogue::Ones || stores == Stores::Packs {
                ensure(outputs.is_multiple_of(rows), || format!("{outputs} rows: whole bunches of {rows} expected"))?;
                return Ok(bunches);
            }
            return Ok(Work { turns: bunches.turns.saturating_add(rows.saturating_mul(turns)), ..bunches });
        }
        if epilogue == Epilogue::Ones && group.team == 1 {
            let (elements, lanes) = (outputs * u64::from(params.reduce_len), kernel.dtype.lanes());
            return Ok(Work::shared(elements.div_ceil(lanes), share, turns.saturating_mul(lanes), group));
        }
        let tasks = if epilogue == Epilogue::Record { outputs.saturating_mul(chunks) } else { outputs };
        let written = if epilogue == Epilogue::Ones { u64::from(params.reduce_len) } else { 0 };
        let turns = turns.saturating_add(written / kernel.dtype.pack_elements() / group.team + 1);
        Ok(Work::reducing(kernel, tasks, share, turns, group))
    }

    fn of_columns(
        kernel: &Kernel,
        stores: Stores,
        params: &ReductionParams,
        turns: u64,
        group: &Group,
    ) -> Result<Work, Error> {
        let [outputs, chunks, columns] = [params.outputs, params.chunks, params.columns].map(u64::from);
        let pack = kernel.dtype.pack_elements();
        let (ragged, wide) = (kernel.has(Override::Ragged), kernel.column_packs());
        let packs_of_rows = stores == Stores::Packs && (!ragged || group.team > 1);
        ensure(!packs_of_rows || columns.is_multiple_of(pack), || {
            format!("{columns} columns stored in packs: a multiple of {pack} expected")
        })?;
        if group.team > 1 {
            return Work::of_column_teams(kernel, params, turns, group);
        }
        if stores == Stores::Seams || stores == Stores::Packs && ragged {
            return Work::of_packs_and_seams(kernel, stores, params, turns, group);
        }
        // Blocks that reach behind a row are moved back into it.
        ensure(wide == 1 || columns >= wide * pack, || {
            format!("{columns} columns in blocks of {wide} packs: {} at least expected", wide * pack)
        })?;
        // Rows that share words of the output are cut into packs as if they were one: a pack has columns of several.
        let as_one = ragged && store_lanes(kernel) > 1;
        let (own, rows) = if as_one { (outputs, (pack - 1).div_ceil(columns) + 1) } else { (columns, 1) };
        ensure(!as_one || kernel.neighbours() == 1, || "neighbours that see all of a row, of rows in one".to_string())?;
        let blocks = outputs / own * blocks_of_row(kernel, own.div_ceil(pack), group)?;
        Ok(Work::shared(blocks.saturating_mul(chunks), 1, turns.saturating_mul(wide * rows), group))
    }

    /// Packs that lie in one row of columns, or those in which rows end.
    fn of_packs_and_seams(
        kernel: &Kernel,
        stores: Stores,
        params: &ReductionParams,
        turns: u64,
        group: &Group,
    ) -> Result<Work, Error> {
        let (pack, wide) = (kernel.dtype.pack_elements(), kernel.column_packs());
        let [outputs, columns] = [params.outputs, params.columns].map(u64::from);
        let has_seams = !columns.is_multiple_of(pack); // a row of five packs may have but four that lie in it
        let fewest = if wide > 1 && has_seams { (wide + 1) * pack } else { wide * pack };
        ensure(columns >= fewest && outputs.is_multiple_of(columns) && params.chunks == 1, || {
            format!(
                "{outputs} outputs in rows of {columns} in {} chunks: whole rows of at least {fewest} in one expected",
                params.chunks
            )
        })?;
        check_countable(outputs + columns + wide * pack)?;
        let rows = outputs / columns;
        let (tasks, turns) = match stores {
            Stores::Seams => (rows, turns.saturating_mul(2)),
            _ => (rows * blocks_of_row(kernel, columns / pack, group)?, turns.saturating_mul(wide)),
        };
        Ok(Work::shared(tasks, 1, turns.saturating_add(pack), group))
    }

    /// Teams reduce a pack of columns each; no two write to the same unit. Where rows share units, a pack lies in two at most.
    fn of_column_teams(kernel: &Kernel, params: &ReductionParams, turns: u64, group: &Group) -> Result<Work, Error> {
        let [outputs, chunks, columns] = [params.outputs, params.chunks, params.columns].map(u64::from);
        let pack = kernel.dtype.pack_elements();
        ensure(kernel.column_packs() == 1, || "a team with COLUMN_PACKS: one pack each expected".to_string())?;
        let shares_units = kernel.has(Override::Ragged) && store_lanes(kernel) > 1;
        ensure(!shares_units || columns >= pack, || {
            format!("a team of {columns} columns that share units of the output: a pack of {pack} at least expected")
        })?;
        let (row, rows) = if shares_units { (outputs, 2) } else { (columns, 1) };
        let packs = (outputs / row).saturating_mul(row.div_ceil(pack));
        let groups = packs.saturating_mul(chunks).div_ceil(group.invocations / group.team);
        Ok(Work { groups, turns: turns.saturating_mul(rows).saturating_add(pack) })
    }

    fn of_merge(kernel: &Kernel, params: &MergeParams, group: &Group) -> Result<Work, Error> {
        let [outputs, records, share] = [params.outputs, params.records, params.share].map(u64::from);
        ensure(outputs > 0 && share > 0, || format!("{outputs} outputs, {share} in turn: more than 0 expected"))?;
        let [columns, folds] = [params.columns, params.folds].map(u64::from);
        let folded = kernel.has(Override::Folded);
        ensure(!folded || columns > 0 && folds.is_power_of_two() && (2..=records).contains(&folds), || {
            format!(
                "{records} records of {folds} folds of {columns}: a power of two of them, and a record of each expected"
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

    fn of_write(
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
        let (pack, wide) = (kernel.dtype.pack_elements(), kernel.column_packs());
        match writer {
            HardmaxWriter::Columns { seams: true, .. } => Ok(Work::shared(len / columns, 1, 1 + pack, group)),
            HardmaxWriter::Columns { seams: false, .. } => {
                ensure(write_len > 0 && write_len.is_multiple_of(pack * wide), || {
                    format!("{write_len} elements of packs side by side: a multiple of {} expected", pack * wide)
                })?;
                ensure(wide == 1 || columns >= wide * pack, || {
                    format!("{columns} columns in blocks of {wide} packs: {} at least expected", wide * pack)
                })?;
                let lines = len / slice_len.saturating_mul(columns) * (columns / pack).div_ceil(write_len / pack);
                let tasks = lines.saturating_mul(slice_len.div_ceil(share));
                let turns = (write_len / pack).saturating_mul(1 + share.min(slice_len));
                Ok(Work { groups: tasks.div_ceil(group.invocations), turns })
            }
            HardmaxWriter::RaggedColumns => Ok(Work::shared(len / pack, share, 1, group)),
            HardmaxWriter::ShortRows { len: row } => Ok(Work::shared(len / (pack * u64::from(row)), share, 1, group)),
            HardmaxWriter::Rows => Ok(Work::shared(len / pack, share, 2 * pack.div_ceil(slice_len), group)),
        }
    }

    fn of_ones(params: &HardmaxOnesParams, group: &Group) -> Result<Work, Error> {
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

    fn of_broadcast(
        kernel: &Kernel,
        access: MaxAccess,
        params: &BroadcastParams,
        group: &Group,
    ) -> Result<Work, Error> {
        let [len, share, row_len, first, begin] =
            [params.len, params.share, params.row_len, params.first, params.begin].map(u64::from);
        ensure(len > 0 && share > 0 && row_len > 0, || {
            format!("{len} elements in rows of {row_len}, {share} in turn: more than 0 expected")
        })?;
        check_countable(begin + len)?;
        check_countable(len + row_len - 1)?; // as the shaders count rows
        let around = params.sizes.iter().fold(1, |rows: u64, &size| rows.saturating_mul(size.into()));
        let own = if let MaxAccess::Columns { .. } = access { 1 } else { row_len }; // elements that lie within `sizes`
        ensure(around.saturating_mul(own) == len, || {
            format!("{len} elements in {around} rows of {own}: as many expected")
        })?;
        match access {
            MaxAccess::Packs { .. } => return Work::of_packs(kernel, params, group),
            MaxAccess::Columns { .. } => return Work::of_tiles(kernel, params, group),
            _ => {}
        }
        let (pack, lanes, dims) = (kernel.dtype.pack_elements(), kernel.dtype.lanes(), params.sizes.len() as u64);
        // The elements that are written at once, those of a stretch, and the turns that it takes to begin one.
        let (write_len, stretch, begun) = match access {
            MaxAccess::ShortRows(MaxShortRows { len: row, .. }) => {
                let rows = params.sizes.first().map_or(0, |&size| u64::from(size)).max(pack - 1);
                (pack * u64::from(row), u64::from(row) * rows, 2 * (dims + 1)) // where it ends, the next one, too
            }
            _ => (lanes, params.walk_len(), dims + 1 + 4 * lanes), // a walk's ends lie within units
        };
        let units = match access {
            MaxAccess::Elements => (begin + len).div_ceil(lanes).saturating_sub(first),
            _ => len / write_len,
        };
        let own = share.min(units);
        let stretches = own.saturating_mul(write_len) / stretch + 2;
        Ok(Work { turns: own.saturating_add(stretches * begun), ..Work::shared(units, share, 1, group) })
    }

    /// Tiles below one another of rows of whole tiles.
    fn of_tiles(kernel: &Kernel, params: &BroadcastParams, group: &Group) -> Result<Work, Error> {
        let tile = TILE_PACKS * kernel.dtype.pack_elements();
        let [len, share, row_len] = [params.len, params.share, params.row_len].map(u64::from);
        ensure(row_len >= tile && row_len.is_multiple_of(tile) && params.walk_len() >= len, || {
            format!(
                "rows of {row_len} elements in {} dimensions: whole tiles of {tile}, in {WALK_DIMS} at most, expected",
                params.sizes.len()
            )
        })?;
        check_countable(len + row_len.saturating_mul(share + 1))?;
        let tasks = (row_len / tile).saturating_mul((len / tile).div_ceil(row_len / tile).div_ceil(share));
        let turns = share + tile + params.sizes.len() as u64;
        Ok(Work { groups: tasks.div_ceil(group.invocations), turns })
    }

    /// Some rows of packs, or a part of one.
    fn of_packs(kernel: &Kernel, params: &BroadcastParams, group: &Group) -> Result<Work, Error> {
        let (pack, dims) = (kernel.dtype.pack_elements(), params.sizes.len() as u64);
        let [len, share, row_len] = [params.len, params.share, params.row_len].map(u64::from);
        let row_len = row_len.max(pack);
        check_countable(len + row_len - 1)?;
        let (rows, row_packs) = (len.div_ceil(row_len), row_len / pack);
        let neighbours = if kernel.has(Override::Spread) { 1 } else { kernel.neighbours() };
        let (share, own_rows) = match kernel.has(Override::Spread) {
            true => (TILE_PACKS, 1),
            false => (share, (share * neighbours / row_packs).max(1)),
        };
        check_neighbours(kernel, group)?;
        check_countable(neighbours * share + len / pack)?;
        ensure(neighbours == 1 || row_packs >= TILE_PACKS, || {
            format!("neighbours take tiles of rows of {row_packs} packs: {TILE_PACKS} at least expected")
        })?;
        let together = rows.div_ceil(own_rows).saturating_mul(row_packs.div_ceil(share * neighbours));
        let begun = 2 * dims + 2; // a pack at a row's end takes the next row, too
        let turns = own_rows.min(rows).saturating_mul(begun + share.min(row_packs));
        Ok(Work { groups: together.saturating_mul(neighbours).div_ceil(group.invocations), turns })
    }
}

/// The elements that a task reduces: a chunk of them, or all.
fn task_len(kernel: &Kernel, params: &ReductionParams) -> u64 {
    let most = if kernel.has(Override::Split) { params.chunk_len } else { u32::MAX };
    params.reduce_len.min(most).into()
}

/// The turns that one task takes.
fn chunk_turns(kernel: &Kernel, params: &ReductionParams, access: Access, group: &Group) -> Result<u64, Error> {
    let [reduce_len, chunk_len, chunks, run_len] =
        [params.reduce_len, params.chunk_len, params.chunks, params.run_len].map(u64::from);
    let has = |own| kernel.has(own);
    let len = task_len(kernel, params);
    ensure(len > 0 && run_len > 0 && chunks > 0, || {
        format!("{reduce_len} elements in {chunks} chunks of {chunk_len}, in runs of {run_len}: more than 0 expected")
    })?;
    // A chunk that begins behind the last element would never end, and one that is alone has all of them.
    let needed = if has(Override::Split) { reduce_len.div_ceil(chunk_len) } else { 1 };
    ensure(chunks == needed, || format!("{chunks} chunks of {chunk_len} of {reduce_len} elements: {needed} expected"))?;
    if let Access::ShortRows { len, turn, .. } = access {
        let expected = if turn > 1 { turn } else { len }; // what is one dimension
        ensure(chunks == 1 && run_len == u64::from(expected), || {
            format!("{chunks} chunks of short rows in runs of {run_len}: one, in runs of {expected}, expected")
        })?;
    }
    check_whole_runs(kernel, params)?;
    // What is counted ends within the next chunk, and within the next run.
    let next = |own, len| if has(own) { len } else { 0 };
    check_countable(reduce_len + next(Override::Split, chunk_len).max(next(Override::Runs, run_len)))?;
    let (runs, run_len) = if has(Override::Runs) { (len.div_ceil(run_len) + 1, run_len.min(len)) } else { (1, len) };
    let run_turns = match access {
        Access::Rows if has(Override::FewPacks) => run_len / kernel.dtype.pack_elements() + 3,
        Access::Rows => run_len / (kernel.dtype.pack_elements() * group.line * 4) + 1,
        Access::Columns => run_len / group.team + 4,
        Access::Strided | Access::ShortRows { .. } => run_len / group.team + 1,
    };
    let dims = (params.kept.len() + params.outer.len()) as u64;
    let runs = runs.div_ceil(group.team / group.line);
    Ok(runs.saturating_mul(run_turns + params.outer.len() as u64).saturating_add(dims))
}

/// Packs that begin with words are told apart from what is beside a run by its first word and its last.
fn check_whole_runs(kernel: &Kernel, params: &ReductionParams) -> Result<(), Error> {
    let ReductionParams { reduce_len, chunk_len, chunks, .. } = *params;
    let [split, has_runs] = [Override::Split, Override::Runs].map(|own| kernel.has(own));
    let run_len = if has_runs { params.run_len } else { reduce_len };
    let whole = reduce_len.is_multiple_of(run_len) && (!split || chunk_len.is_multiple_of(run_len));
    let long = u64::from(run_len) > kernel.dtype.pack_elements();
    ensure(!kernel.has(Override::FromWords) || whole && long, || {
        format!(
            "{chunks} chunks of {chunk_len} elements, in packs from words: whole runs of {run_len}, of more than a pack, expected"
        )
    })
}

/// The blocks that a row of so many packs of columns is cut into: one for each of a row's neighbours, where these see all of it.
fn blocks_of_row(kernel: &Kernel, packs: u64, group: &Group) -> Result<u64, Error> {
    check_neighbours(kernel, group)?;
    let (blocks, neighbours) = (packs.div_ceil(kernel.column_packs()), kernel.neighbours());
    ensure(neighbours == 1 || blocks <= neighbours, || {
        format!("{neighbours} neighbours see {blocks} blocks of a row: no more expected")
    })?;
    Ok(if neighbours == 1 { blocks } else { neighbours })
}

/// Neighbours that take turns are all there, and of one workgroup.
fn check_neighbours(kernel: &Kernel, group: &Group) -> Result<(), Error> {
    let neighbours = kernel.neighbours();
    ensure(neighbours > 0 && group.invocations.is_multiple_of(neighbours), || {
        format!(
            "{neighbours} neighbours take turns, of {} of a workgroup: a divisor of these expected",
            group.invocations
        )
    })
}

fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::InvalidPlan { problem: problem() }) }
}

/// Whether a binding of this role may lie there.
const fn allows(role: Role, slot: Slot) -> bool {
    match role {
        Role::Operand => !matches!(slot, Slot::Output(_)),
        Role::Result => matches!(slot, Slot::Output(_)),
        Role::Target => matches!(slot, Slot::Output(_) | Slot::Scratch(_)),
        Role::Scratch => matches!(slot, Slot::Scratch(_)),
        Role::Known => matches!(slot, Slot::Scratch(_) | Slot::Input(_)),
    }
}
