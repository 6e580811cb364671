//! What every plan keeps to, whatever it is of and for whatever device. The fuzz targets hold plans to it too.

use wgmax::plan::{
    Access, BroadcastParams, Dispatch, Epilogue, HardmaxWriteParams, HardmaxWriter, MaxAccess, MaxOperands,
    MergeParams, Operator, Override, Params, Program, ReductionParams, Slot, Stores,
};
use wgmax::{Error, InputNeed, Limits, Operation, Plan};

/// The most loop iterations that an invocation may make, nested loops counted together: lavapipe ends loops silently at
/// 65 535.
const MAX_TURNS: u64 = 32_768;

/// The most dispatches of a plan.
const MAX_DISPATCHES: usize = 4096;

/// The most bytes of a binding whose size the shaders can still count in 32 bits.
const MAX_BINDING_BYTES: u64 = (1 << 32) - 4;

/// The plan of an operation, if there is one; panics where it breaks a law.
pub fn lawful_plan(op: &(impl Operation + ?Sized), limits: &Limits) -> Option<Plan> {
    let planned = op.plan(limits);
    check_planned(op, &planned, limits);
    planned.ok()
}

/// Panics where what planning gave breaks a law.
pub fn check_planned(op: &(impl Operation + ?Sized), planned: &Result<Plan, Error>, limits: &Limits) {
    assert_eq!(&op.plan(limits), planned, "another plan the second time");
    match planned {
        Ok(plan) => {
            check_plan(op, plan, limits);
            assert_eq!(plan.check(limits), Ok(()), "{plan}\n{limits:?}");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 4000, "{} bytes of error: {message}", message.len());
            // A refusal that its own numbers contradict is a bound that stands in the wrong place.
            let says_why = match *error {
                Error::TooLarge { given, limit, .. } => given > limit,
                Error::DeviceTooSmall { given, needed, .. } => given < needed,
                _ => true,
            };
            assert!(says_why, "{error}: {limits:?}");
        }
    }
}

/// Panics where a plan of the operation breaks a law.
fn check_plan(op: &(impl Operation + ?Sized), plan: &Plan, limits: &Limits) {
    let case = || format!("{plan}\n{limits:?}");
    let outputs = op.outputs().unwrap();
    let Ok(inputs) = op.inputs() else {
        let read = |dispatch: &Dispatch| dispatch.bindings.iter().any(|b| matches!(b.slot, Slot::Input(_)));
        assert!(!plan.dispatches.iter().any(read), "inputs that no buffer holds are read: {}", case());
        return;
    };
    assert!(plan.dispatches.len() <= MAX_DISPATCHES, "{} dispatches: {}", plan.dispatches.len(), plan.label);
    assert_eq!((plan.input_bytes.len(), plan.output_bytes.len()), (inputs.len(), outputs.len()), "{}", case());
    let unit = if limits.shared_buffers { 16 } else { 4 };
    let enough = |(&bytes, need): (&u64, &InputNeed)| bytes <= need.bytes.next_multiple_of(unit);
    assert!(plan.input_bytes.iter().zip(&inputs).all(enough), "{}", case());
    let is_fill = |dispatch: &Dispatch| matches!(dispatch.kernel.program, Program::Fill { .. });
    let of_type = |dispatch: &Dispatch| match puts_in_order(dispatch) {
        true => dispatch.kernel.dtype.bytes() == outputs[0].dtype.bytes(),
        false => dispatch.kernel.dtype == inputs[0].dtype || is_fill(dispatch),
    };
    assert!(plan.dispatches.iter().all(of_type), "another type: {}", case());
    let sum = |bytes: &[u64]| bytes.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    let (dtype, output_bytes) = (inputs[0].dtype, sum(&plan.output_bytes));
    let most = Plan::most_scratch_bytes(limits, dtype, sum(&plan.input_bytes), output_bytes);
    assert!(plan.scratch_bytes[0] <= most[0] && plan.scratch_bytes[1] <= most[1], "at most {most:?}: {}", case());
    plan.dispatches.iter().for_each(|dispatch| check_dispatch(dispatch, plan, limits, &case));
}

/// Whether it puts the outputs in order that an earlier dispatch has left in scratch.
pub fn puts_in_order(dispatch: &Dispatch) -> bool {
    let is_copy = matches!(dispatch.kernel.program, Program::Max { operands: MaxOperands { count: 1, .. }, .. });
    is_copy && dispatch.bindings.iter().all(|b| b.writes || b.slot == Slot::Scratch(1))
}

fn check_dispatch(dispatch: &Dispatch, plan: &Plan, limits: &Limits, case: &impl Fn() -> String) {
    let [x, y, z] = dispatch.grid;
    assert!(x >= 1 && y >= 1 && z == 1 && x <= limits.max_groups && y <= limits.max_groups, "{}", case());
    assert!(
        dispatch.params.to_bytes().len() <= 16 << 10,
        "parameters beyond every device's uniform binding: {}",
        case()
    );
    assert!(dispatch.bindings.len() as u64 <= limits.max_storage_bindings.into(), "{}", case());
    let work = Work::new(dispatch);
    assert!(work.group >= 1 && work.group <= limits.max_group_invocations.max(1).into(), "{}", case());
    assert!(work.team.is_power_of_two() && work.team <= work.group, "{}", case());
    // A team's members leave a key of 64 bits and a position each, which WGSL pads to 16 bytes.
    assert!(work.team == 1 || work.group * 16 <= limits.max_group_memory_bytes.into(), "{}", case());
    // A rank of columns' positions has the element above and the row below, in one word.
    let finds_rows = finds_rows(work.program);
    if let (true, bytes @ 1..4, Params::Reduction(p)) = (finds_rows, dispatch.kernel.dtype.bytes(), &dispatch.params) {
        let rows = u64::from(p.chunk_len.min(p.reduce_len))
            + 2 * u64::from(dispatch.kernel.overrides.contains(&Override::LooseEnds));
        assert!(rows <= 1 << (32 - 8 * bytes), "{}", case());
    }
    if let Program::Reduce { access: Access::ShortRows { block, rows, exchanged, .. }, .. } = work.program {
        let positions = if exchanged && !work.staged { 4 * (rows + 1) } else { 0 };
        let staged = if work.staged { 4 * ((rows * block.len * dispatch.kernel.dtype.bytes() / 4) | 1) } else { 0 };
        let bytes = work.group * (positions + staged);
        assert!(bytes <= limits.max_group_memory_bytes.into(), "{}", case());
    }
    // The teams of a workgroup fill whole units of the output: nobody else would write what is left. One of columns fills a pack.
    let of_columns = matches!(work.program, Program::Reduce { access: Access::Columns, .. });
    let fills_units = work.team == 1 || of_columns || work.group / work.team >= work.store_lanes;
    assert!(fills_units, "units without a writer: {}", case());
    if let (Program::Reduce { .. }, Params::Reduction(p)) = (work.program, &dispatch.params) {
        assert_eq!(p.chunks, p.reduce_len.div_ceil(p.chunk_len), "{}", case());
    }
    let turns = work.turns(&dispatch.params);
    assert!(turns <= MAX_TURNS, "{turns} turns of {}: {}", dispatch.kernel, case());
    let (groups, needed) = (u64::from(x) * u64::from(y), work.invocations(&dispatch.params).div_ceil(work.group));
    assert!(groups >= needed, "{groups} workgroups of {needed}: {}", case());
    assert!(groups * 2 <= 3 * needed.max(2), "{groups} workgroups, {needed} needed: {}", case());
    check_bindings(dispatch, plan, limits, case);
}

fn check_bindings(dispatch: &Dispatch, plan: &Plan, limits: &Limits, case: &impl Fn() -> String) {
    for (n, b) in dispatch.bindings.iter().enumerate() {
        assert!(b.bytes > 0 && b.bytes <= limits.max_binding_bytes && b.bytes.is_multiple_of(4), "{}", case());
        assert!(b.bytes <= MAX_BINDING_BYTES, "{}", case());
        assert!(b.offset_bytes.is_multiple_of(limits.binding_alignment_bytes.max(1)), "{}", case());
        assert!(b.binding != 0, "the parameters are bound there: {}", case());
        let slot_bytes = match b.slot {
            Slot::Input(n) => plan.input_bytes[n],
            Slot::Output(n) => plan.output_bytes[n],
            Slot::Scratch(n) => plan.scratch_bytes[n],
            Slot::Embedded(n) => plan.embedded[n].len() as u64,
        };
        assert!(b.end_bytes() <= slot_bytes, "{}", case());
        assert!(!(b.writes && matches!(b.slot, Slot::Input(_) | Slot::Embedded(_))), "{}", case());
        let whole_packs = !matches!(b.slot, Slot::Input(_)) || b.bytes.is_multiple_of(16);
        assert!(!limits.shared_buffers || dispatch.kernel.shared_buffers && whole_packs, "{}", case());
        for other in &dispatch.bindings[..n] {
            assert!(other.binding != b.binding, "{}", case());
            assert!(other.slot != b.slot || !other.writes && !b.writes, "one dispatch reads and writes: {}", case());
            assert!(other.slot != b.slot || !limits.shared_buffers, "bound twice: {}", case());
        }
    }
}

/// What a dispatch has to do, read off its kernel as the shaders do it.
struct Work {
    program: Program,
    group: u64,
    team: u64,
    /// Of these, the ones that take a run together.
    line: u64,
    /// The neighbours that take turns along rows, or see all of a row of columns.
    neighbours: u64,
    /// Elements of a word, or 1.
    lanes: u64,
    pack: u64,
    /// Packs that an invocation of a column kernel takes.
    column_packs: u64,
    /// Whether it takes several such panels.
    in_turn: bool,
    /// Results that one written unit takes.
    store_lanes: u64,
    stores: Stores,
    /// The parts that a reduction of short rows takes a bunch in, as its text has them.
    bunch_parts: u64,
    /// The rows of columns that are compared at once.
    tile: u64,
    /// Whether rows of columns begin anywhere.
    ragged: bool,
    /// Whether rows are taken pack by pack.
    few_packs: bool,
    /// Whether an invocation takes packs apart from each other.
    spread: bool,
    /// Whether a workgroup's bunches are loaded together.
    staged: bool,
}

impl Work {
    fn new(dispatch: &Dispatch) -> Work {
        let kernel = &dispatch.kernel;
        let find = |get: fn(&Override) -> Option<u32>| kernel.overrides.iter().find_map(get).map(u64::from);
        let group = find(|c| if let Override::Group(n) = c { Some(*n) } else { None });
        let team = find(|c| if let Override::Team(n) = c { Some(*n) } else { None });
        let line = find(|c| if let Override::RunMembers(n) = c { Some(*n) } else { None });
        let neighbours = find(|c| if let Override::Neighbours(n) = c { Some(*n) } else { None });
        let column_packs = find(|c| if let Override::ColumnPacks(n) = c { Some(*n) } else { None });
        let lanes = 4_u64.div_ceil(kernel.dtype.bytes());
        let store_lanes = match kernel.program {
            Program::Reduce { stores: Stores::Packs, .. } => 1, // a pack is a unit of its own
            Program::Reduce { epilogue, .. } | Program::Merge { epilogue, .. } => {
                if matches!(epilogue, Epilogue::Value | Epilogue::Both | Epilogue::Winner) { lanes } else { 1 }
            }
            _ => 1,
        };
        let row_by_row = finds_rows(kernel.program);
        let text = match kernel.program {
            Program::Reduce { access: Access::ShortRows { .. }, .. } => kernel.wgsl(),
            _ => String::new(),
        };
        Work {
            program: kernel.program,
            group: group.expect("every kernel has a workgroup"),
            team: team.unwrap_or(1),
            line: line.or(team).unwrap_or(1),
            neighbours: neighbours.unwrap_or(1),
            lanes,
            pack: 16 / kernel.dtype.bytes(),
            column_packs: column_packs.unwrap_or(1),
            in_turn: kernel.overrides.contains(&Override::InTurn),
            store_lanes,
            stores: if let Program::Reduce { stores, .. } = kernel.program { stores } else { Stores::Results },
            bunch_parts: text.matches("fn store_part_").count() as u64,
            tile: if row_by_row && team.is_none() { 1 } else { 4 },
            ragged: kernel.overrides.contains(&Override::Ragged),
            few_packs: kernel.overrides.contains(&Override::FewPacks),
            spread: kernel.overrides.contains(&Override::Spread),
            staged: matches!(kernel.program, Program::Reduce { access: Access::ShortRows { staged: true, .. }, .. }),
        }
    }

    /// The invocations that have something to do.
    fn invocations(&self, params: &Params) -> u64 {
        match (self.program, params) {
            (Program::Fill { .. }, Params::Fill(p)) => (p.len - p.first).div_ceil(p.share).into(),
            (Program::Reduce { access, epilogue, .. }, Params::Reduction(p)) => {
                self.reduce_invocations(access, epilogue, p)
            }
            (Program::Merge { epilogue: Epilogue::Ones, .. }, Params::Merge(p)) => {
                self.task_invocations(u64::from(p.outputs) * u64::from(p.parts), 1)
            }
            (Program::Merge { .. }, Params::Merge(p)) => self.task_invocations(p.outputs.into(), p.share),
            (Program::HardmaxWrite(writer), Params::HardmaxWrite(p)) => self.write_invocations(writer, p),
            (Program::HardmaxOnes { .. }, Params::HardmaxOnes(p)) => (p.end - p.first).div_ceil(p.share).into(),
            (Program::Max { access, .. }, Params::Broadcast(p)) => self.max_invocations(access, p),
            _ => panic!("another program's parameters"),
        }
    }

    fn write_invocations(&self, writer: HardmaxWriter, p: &HardmaxWriteParams) -> u64 {
        match writer {
            HardmaxWriter::Seams => (p.len / p.columns).into(),
            HardmaxWriter::PackedColumns { .. } | HardmaxWriter::InnerPacks => {
                let blocks = p.len / p.columns / p.slice_len;
                let packs = u64::from(p.columns) / self.pack;
                u64::from(blocks * p.slice_len.div_ceil(p.share)) * packs.div_ceil(u64::from(p.write_len) / self.pack)
            }
            HardmaxWriter::RaggedColumns { .. } | HardmaxWriter::Rows => {
                (u64::from(p.len) / self.pack).div_ceil(p.share.into())
            }
            HardmaxWriter::ShortRows { len } => (u64::from(p.len / len) / self.pack).div_ceil(p.share.into()),
        }
    }

    fn max_invocations(&self, access: MaxAccess, p: &BroadcastParams) -> u64 {
        match access {
            MaxAccess::Packs { .. } if self.spread => {
                let row_len = u64::from(p.row_len);
                u64::from(p.len).div_ceil(row_len) * (row_len / self.pack).div_ceil(4)
            }
            MaxAccess::Packs { .. } => {
                let (row_len, share) = (u64::from(p.row_len).max(self.pack), u64::from(p.share) * self.neighbours);
                let (rows, row_packs) = (u64::from(p.len).div_ceil(row_len), row_len / self.pack);
                let together =
                    if share < row_packs { rows * row_packs.div_ceil(share) } else { rows.div_ceil(share / row_packs) };
                together * self.neighbours
            }
            MaxAccess::Columns => {
                let tile = if self.spread { self.pack } else { 4 * self.pack };
                let [tiles, row_tiles] = [p.len, p.row_len].map(|len| u64::from(len) / tile);
                row_tiles * tiles.div_ceil(row_tiles).div_ceil(p.share.into())
            }
            MaxAccess::ShortRows { len } => (u64::from(p.len / len) / self.pack).div_ceil(p.share.into()),
            MaxAccess::Elements => {
                let units = u64::from(p.begin + p.len).div_ceil(self.lanes) - u64::from(p.first);
                units.div_ceil(p.share.into())
            }
        }
    }

    fn reduce_invocations(&self, access: Access, epilogue: Epilogue, p: &ReductionParams) -> u64 {
        let (outputs, chunks) = (u64::from(p.outputs), u64::from(p.chunks));
        let tasks = outputs * if let Epilogue::Record(_) = epilogue { chunks } else { 1 };
        match access {
            Access::Columns if self.stores == Stores::Seams => outputs / u64::from(p.columns),
            Access::Columns if self.neighbours > 1 => outputs / u64::from(p.columns) * chunks * self.neighbours,
            Access::Columns if self.stores == Stores::Packs && self.team == 1 => {
                let rows = outputs / u64::from(p.columns);
                rows * (u64::from(p.columns) / self.pack).div_ceil(self.column_packs * self.in_turn(p))
            }
            Access::Columns => {
                let columns = if self.columns_share_words() { outputs } else { p.columns.into() };
                let panel = self.pack * self.column_packs;
                let row = (columns / panel).div_ceil(self.in_turn(p)) + u64::from(!columns.is_multiple_of(panel));
                outputs / columns * chunks * row * self.team
            }
            Access::ShortRows { rows, .. } => outputs.div_ceil(rows * u64::from(p.share)),
            // By themselves invocations write units of a Hardmax.
            _ if epilogue == Epilogue::Ones && self.team == 1 => {
                (tasks * u64::from(p.reduce_len)).div_ceil(self.lanes * u64::from(p.share))
            }
            _ => self.task_invocations(tasks, p.share),
        }
    }

    /// The panels that an invocation of a column kernel takes, one after another.
    fn in_turn(&self, p: &ReductionParams) -> u64 {
        if self.in_turn { p.share.into() } else { 1 }
    }

    /// Whether rows of columns share words of the output: then packs are of all outputs, and some lie in two rows, as seams do.
    fn columns_share_words(&self) -> bool {
        self.ragged && self.store_lanes > 1 || self.stores == Stores::Seams
    }

    fn task_invocations(&self, tasks: u64, share: u32) -> u64 {
        match self.team {
            1 => tasks.div_ceil(self.store_lanes * u64::from(share)),
            team => tasks * team,
        }
    }

    /// The most loop iterations that one invocation makes, nested loops counted together.
    fn turns(&self, params: &Params) -> u64 {
        match (self.program, params) {
            (Program::Fill { .. }, Params::Fill(p)) => p.share.into(),
            (Program::Reduce { access, epilogue, .. }, Params::Reduction(p)) => {
                let turns = self.reduce_turns(epilogue.operator(), access, p);
                match (epilogue, self.team) {
                    (Epilogue::Ones, 1) => turns * self.lanes, // an element of a unit after another
                    (Epilogue::Ones, team) => turns + u64::from(p.reduce_len) / self.pack / team + 1,
                    _ => turns,
                }
            }
            (Program::Merge { .. }, Params::Merge(p)) => self.merge_turns(p),
            (Program::HardmaxWrite(writer), Params::HardmaxWrite(p)) => self.write_turns(writer, p),
            (Program::HardmaxOnes { .. }, Params::HardmaxOnes(p)) => p.share.into(),
            (Program::Max { operands, access }, Params::Broadcast(p)) => {
                self.max_turns(operands.count.into(), access, p)
            }
            _ => panic!("another program's parameters"),
        }
    }

    fn write_turns(&self, writer: HardmaxWriter, p: &HardmaxWriteParams) -> u64 {
        match writer {
            HardmaxWriter::Seams => self.pack,
            HardmaxWriter::PackedColumns { .. } | HardmaxWriter::InnerPacks => {
                u64::from(p.write_len) / self.pack * (1 + u64::from(p.share))
            }
            HardmaxWriter::RaggedColumns { .. } | HardmaxWriter::ShortRows { .. } => p.share.into(),
            HardmaxWriter::Rows => {
                u64::from(p.share) * (3 + self.pack / u64::from(p.slice_len)) // each at once, out of its slices
            }
        }
    }

    fn max_turns(&self, operands: u64, access: MaxAccess, p: &BroadcastParams) -> u64 {
        match access {
            MaxAccess::Packs { .. } => self.packs_turns(operands, p),
            MaxAccess::ShortRows { len } => {
                let stretches = u64::from(p.share) / (u64::from(p.sizes[0]) / self.pack).max(1) + 2;
                let bunch = u64::from(len) * self.lanes;
                let (begun, ended) = (1 + Work::row_turns(operands, p), if self.ragged { 2 } else { 1 });
                u64::from(p.share) * bunch + stretches * (ended * begun + bunch * (ended - 1))
            }
            MaxAccess::Columns => u64::from(p.share) + 4 * self.pack + Work::row_turns(operands, p),
            MaxAccess::Elements => self.elements_turns(operands, p),
        }
    }

    fn reduce_turns(&self, operator: Operator, access: Access, p: &ReductionParams) -> u64 {
        let task = self.task_turns(operator, access, p);
        match access {
            Access::Columns => {
                let rows = self.rows_of_pack(p);
                let merging = rows * u64::from(self.team.ilog2()) * (1 + self.lanes);
                task + merging + self.column_packs * (1 + 2 * self.pack + 3 * self.pack)
            }
            // Bunch after bunch, and then row by row what does not fill one.
            Access::ShortRows { block, rows, .. } => {
                let staged = if self.staged { 4 * (rows * block.len).div_ceil(self.pack) } else { 0 };
                let runs = u64::from(p.reduce_len / p.run_len);
                let part = 2 * p.kept.len() as u64 + runs * (1 + p.outer.len() as u64) + self.lanes;
                staged + u64::from(p.share) * self.bunch_parts * (2 + part) + rows * (task + 3)
            }
            _ => self.unit_turns(task, p.share),
        }
    }

    /// The rows of columns in which a pack may lie.
    fn rows_of_pack(&self, p: &ReductionParams) -> u64 {
        if self.columns_share_words() { (self.pack - 1).div_ceil(p.columns.into()) + 1 } else { 1 }
    }

    fn merge_turns(&self, p: &MergeParams) -> u64 {
        if p.parts > 0 {
            let written = u64::from(p.slice_len) / self.pack / u64::from(p.parts) / self.team + 2;
            return u64::from(p.records).div_ceil(4 * self.team) + u64::from(self.team.ilog2()) + 3 + written;
        }
        self.unit_turns(u64::from(p.records).div_ceil(4 * self.team) + self.lanes + 3, p.share)
    }

    /// Of what a team, or an invocation by itself, makes of tasks.
    fn unit_turns(&self, task: u64, share: u32) -> u64 {
        match self.team {
            1 => u64::from(share) * (self.store_lanes * (task + 1) + 1),
            team => task + u64::from(team.ilog2()) + self.store_lanes,
        }
    }

    /// Of one task: finding its elements, reducing them, finding the winner among them.
    fn task_turns(&self, operator: Operator, access: Access, p: &ReductionParams) -> u64 {
        let (chunk, run) = (u64::from(p.chunk_len), u64::from(p.run_len).max(1));
        let (kept, outer) = (p.kept.len() as u64, p.outer.len() as u64);
        let runs = if chunk.is_multiple_of(run) { chunk / run } else { (chunk + run - 2) / run + 1 };
        let len = run.min(chunk);
        // As if an ArgMax of columns looped over the lanes of a word, where it looks for winners.
        let lane_turns = if operator == Operator::ArgMax && self.tile > 1 { self.lanes - 1 } else { 0 };
        let rows = if access == Access::Columns { self.rows_of_pack(p) } else { 1 };
        let search = match access {
            Access::Rows => {
                let own = runs.div_ceil(self.team / self.line);
                let packs = if self.few_packs { len / self.pack + 3 } else { len / self.pack / (4 * self.line) + 1 };
                own * (1 + outer + packs) // tiles of four, or one by one
            }
            Access::Strided | Access::ShortRows { .. } => runs * (1 + outer + len.div_ceil(4 * self.team)),
            Access::Columns if self.team > 1 => {
                let own = len.div_ceil(self.team).next_multiple_of(4);
                rows * runs * (1 + outer + (lane_turns + 1) * (own / 4 + 1))
            }
            // One pack at a time where they are not whole or not four, else all in one loop; four rows at once.
            Access::Columns
                if !self.ragged
                    && u64::from(p.columns).is_multiple_of(self.pack * self.column_packs)
                    && self.column_packs > 1 =>
            {
                runs * (1 + outer + (4 * lane_turns + 1) * len)
            }
            Access::Columns if !self.ragged => {
                let one = runs * (1 + outer + (lane_turns + 1) * (len / self.tile + 3));
                let all = if self.column_packs > 1 { runs * (1 + outer + (lane_turns + 1) * (len + 3)) } else { 0 };
                (one * self.column_packs).max(all)
            }
            Access::Columns => self.column_packs * rows * runs * (1 + outer + (lane_turns + 1) * (len / self.tile + 3)),
        };
        let locate = match (operator, access) {
            (Operator::ReduceMax, _) => self.lanes,
            (Operator::ArgMax, Access::Rows) => 4 + 2 * outer,
            (Operator::ArgMax, Access::Columns) => self.column_packs * rows * self.pack * (4 + outer),
            (Operator::ArgMax, Access::Strided | Access::ShortRows { .. }) => 0,
        };
        self.in_turn(p) * (rows * kept + search + locate + 3) // and the words of a partial result
    }

    /// Finding the addresses of the operands in one row.
    fn row_turns(operands: u64, p: &BroadcastParams) -> u64 {
        operands + p.sizes.len() as u64 * (1 + operands)
    }

    fn packs_turns(&self, operands: u64, p: &BroadcastParams) -> u64 {
        let share = u64::from(p.share);
        let rows = (share * self.neighbours / (u64::from(p.row_len) / self.pack).max(1)).max(1);
        (share + rows) * self.lanes + rows * (1 + 2 * Work::row_turns(operands, p)) // a row's end needs the next row
    }

    fn elements_turns(&self, operands: u64, p: &BroadcastParams) -> u64 {
        let share = u64::from(p.share);
        let walk: u64 = p.sizes.iter().take(3).map(|&size| u64::from(size)).product();
        let walks = share * self.lanes / walk + 2;
        // A walk may begin and end within a unit, in which something may be kept. Where a branch is not taken, lavapipe walks
        // through its loops once all the same.
        let ends = 2 * (self.lanes + self.lanes);
        share + walks * (1 + Work::row_turns(operands, p) + ends) + self.lanes
    }
}

/// Whether it looks for positions in columns, row by row.
fn finds_rows(program: Program) -> bool {
    let Program::Reduce { access: Access::Columns, epilogue, .. } = program else { return false };
    epilogue.operator() == Operator::ArgMax
}
