//! Bounds that every plan keeps.

use wgmax::plan::{Access, Constant, Operator, Params, Pass, Program, ReductionParams, Slot, Store};
use wgmax::{AdapterKind, ArgMax, ArgMaxOutput, DType, Error, IndexType, Limits, Operation, ReduceMax, View};

/// What a shader can know of a reducing pass.
struct Kernel {
    operator: Operator,
    access: Access,
    store: Store,
    group: u64,
    team: u64,
    /// Elements of a word, or 1.
    lanes: u64,
    pack: u64,
    /// Packs that an invocation of a column kernel takes.
    column_packs: u64,
}

impl Kernel {
    fn new(pass: &Pass) -> Kernel {
        let Program::Reduce { operator, access, team, store } = pass.kernel.program else { panic!("no reduction") };
        let constants = &pass.kernel.constants;
        let group = constants.iter().find_map(|c| if let Constant::Group(n) = c { Some(*n) } else { None });
        let members = constants.iter().find_map(|c| if let Constant::Team(n) = c { Some(*n) } else { None });
        assert_eq!(team, members.is_some());
        let element_bytes = pass.kernel.dtype.bytes();
        Kernel {
            operator,
            access,
            store,
            group: group.unwrap().into(),
            team: members.unwrap_or(1).into(),
            lanes: 4_u64.div_ceil(element_bytes),
            pack: 16 / element_bytes,
            column_packs: if constants.contains(&Constant::Wide) { 4 } else { 1 },
        }
    }

    fn store_lanes(&self) -> u64 {
        if matches!(self.store, Store::Value | Store::Both) { self.lanes } else { 1 }
    }
}

fn reduction(pass: &Pass) -> &ReductionParams {
    let Params::Reduction(params) = &pass.params else { panic!("no reduction") };
    params
}

/// The most loop iterations that one invocation of a pass makes, nested loops counted together, read off the shaders.
fn most_steps(pass: &Pass) -> u64 {
    let k = Kernel::new(pass);
    let p = reduction(pass);
    let (chunk, run) = (u64::from(p.chunk_len), u64::from(p.run_len).max(1));
    let (kept, outer) = (p.kept.len() as u64, p.outer.len() as u64);
    let runs = if chunk.is_multiple_of(run) { chunk / run } else { (chunk + run - 2) / run + 1 };
    let len = run.min(chunk);
    // An ArgMax takes each tile's maximum at once, over the lanes of a word.
    let lane_steps = if k.operator == Operator::ArgMax { k.lanes - 1 } else { 0 };
    let packs = len / k.pack;
    let tiles = packs / (4 * k.team) + packs.div_ceil(k.team).min(3);
    let search = match k.access {
        Access::Rows => runs * (1 + outer + tiles + lane_steps * (tiles + 2)),
        Access::Strided => runs * (1 + outer + len.div_ceil(k.team)),
        // One pack at a time at the end of a row, else all in one loop, row by row or four rows at once.
        Access::Columns if u64::from(p.columns).is_multiple_of(k.pack * k.column_packs) && k.column_packs > 1 => {
            runs * (1 + outer + (4 * lane_steps + 1) * len)
        }
        Access::Columns if u64::from(p.columns).is_multiple_of(k.pack) => {
            let one = runs * (1 + outer + (lane_steps + 1) * (len / 4 + 3));
            let all = if k.column_packs > 1 { runs * (1 + outer + (lane_steps + 1) * (len + 3)) } else { 0 };
            (one * k.column_packs).max(all)
        }
        Access::Columns => k.column_packs * runs * (1 + outer + (lane_steps + 1) * len),
        Access::Finish | Access::FinishPieces => u64::from(p.chunks).div_ceil(k.team),
    };
    let locate = match (k.operator, k.access) {
        (Operator::ReduceMax, _) => k.lanes,
        (Operator::ArgMax, Access::Rows) => 4 + 2 * outer,
        (Operator::ArgMax, Access::Columns) => k.column_packs * k.pack * (4 + outer),
        (Operator::ArgMax, Access::Strided | Access::Finish | Access::FinishPieces) => 0,
    };
    let task = kept + search + locate + 3; // and the words of a partial result
    match k.access {
        Access::Columns => task + k.column_packs * (1 + 2 * k.pack + 3 * k.pack),
        _ if k.team > 1 => task + u64::from(k.team.ilog2()) + k.store_lanes(),
        _ => u64::from(p.share) * (k.store_lanes() * (task + 1) + 1),
    }
}

/// Bytes of the elements that a view sees, no more than those from its first to its last.
fn seen_bytes(view: &View, dtype: DType) -> u64 {
    if view.is_empty() {
        return 0;
    }
    let reach = |&(size, stride): &(&u64, &i64)| (size - 1) * stride.unsigned_abs();
    let span = 1 + view.shape().iter().zip(view.strides()).map(|pair| reach(&pair)).sum::<u64>();
    span.min(view.len()) * dtype.bytes()
}

/// Everything that holds for every plan.
fn check_bounds(op: &impl Operation, view: &View, dtype: DType, limits: &Limits, case: &str) {
    let plan = match op.plan(limits) {
        Ok(plan) => plan,
        Err(Error::TooLarge { .. }) => return,
        Err(error) => panic!("{case}: {error}"),
    };
    assert_eq!(op.plan(limits).unwrap(), plan, "{case}: another plan the second time");
    let case = format!("{case} {limits:?}\n{plan}");
    let scratch: u64 = plan.scratch_bytes.iter().sum();
    assert!(scratch <= seen_bytes(view, dtype) / 64 + (64 << 10), "{case}");
    let needs = op.inputs().unwrap();
    assert!(plan.input_bytes.iter().zip(&needs).all(|(&bytes, need)| bytes <= need.bytes), "{case}");
    for pass in &plan.passes {
        let [x, y, z] = pass.grid;
        assert!(x >= 1 && y >= 1 && z == 1 && x <= limits.max_groups && y <= limits.max_groups, "{case}");
        let invocations = pass.kernel.constants.iter().find_map(|c| match c {
            Constant::Group(n) => Some(*n),
            _ => None,
        });
        let invocations = invocations.unwrap();
        assert!(invocations >= 1 && invocations <= limits.max_group_invocations.max(1), "{case}");
        assert!(pass.bindings.len() as u64 <= limits.max_storage_bindings.into(), "{case}");
        for b in &pass.bindings {
            assert!(b.bytes > 0 && b.bytes <= limits.max_binding_bytes && b.bytes.is_multiple_of(4), "{case}");
            assert!(b.offset_bytes.is_multiple_of(limits.binding_alignment_bytes), "{case}");
            let slot_bytes = match b.slot {
                Slot::Input(n) => plan.input_bytes[n],
                Slot::Output(n) => plan.output_bytes[n],
                Slot::Scratch(n) => plan.scratch_bytes[n],
                Slot::Constant(n) => plan.constants[n].len() as u64,
            };
            assert!(b.offset_bytes + b.bytes <= slot_bytes, "{case}");
            assert_eq!(b.writes, !matches!(b.slot, Slot::Input(_)) && b.binding >= 3, "{case}");
        }
        let groups = u64::from(x) * u64::from(y);
        let Program::Reduce { .. } = pass.kernel.program else {
            let Params::Fill(fill) = &pass.params else { panic!("{case}") };
            assert!(groups * u64::from(invocations) >= fill.words.into(), "{case}");
            continue;
        };
        let (k, p) = (Kernel::new(pass), reduction(pass));
        assert!(k.team.is_power_of_two() && k.team <= k.group, "{case}");
        let (outputs, chunks) = (u64::from(p.outputs), u64::from(p.chunks));
        if !matches!(k.access, Access::Finish | Access::FinishPieces) {
            assert_eq!(chunks, u64::from(p.reduce_len).div_ceil(p.chunk_len.into()), "{case}");
        }
        let tasks = outputs * if matches!(k.store, Store::Partial | Store::Piece) { chunks } else { 1 };
        let invocations_needed = match k.access {
            Access::Columns => {
                let columns = u64::from(p.columns);
                outputs / columns * chunks * columns.div_ceil(k.pack * k.column_packs)
            }
            _ if k.team > 1 => tasks * k.team,
            _ => tasks.div_ceil(k.store_lanes() * u64::from(p.share)),
        };
        let groups_needed = invocations_needed.div_ceil(k.group);
        assert!(groups >= groups_needed, "{case}");
        assert!(groups * 2 <= 3 * groups_needed.max(2), "half the workgroups are surplus: {case}");
        assert!(most_steps(pass) <= 32_768, "{} steps: {case}", most_steps(pass));
    }
}

pub fn limits_sweep() -> Vec<Limits> {
    let huge = |adapter| Limits {
        subgroup_size: 8,
        int64: true,
        adapter,
        max_binding_bytes: 2 << 30,
        binding_alignment_bytes: 16,
        max_storage_bindings: 64,
        max_group_invocations: 1024,
        max_group_memory_bytes: 48 << 10,
        max_groups: 65_535,
    };
    let least = |adapter| Limits { adapter, max_group_invocations: 1, max_groups: 4096, ..Limits::default() };
    [AdapterKind::Gpu, AdapterKind::Cpu]
        .into_iter()
        .flat_map(|adapter| [Limits { adapter, ..Limits::default() }, huge(adapter), least(adapter)])
        .collect()
}

pub fn view_sweep() -> Vec<View> {
    let strided = |shape: &[u64], strides: &[i64], offset| View::strided(shape, strides, offset).unwrap();
    let mut views: Vec<View> = [
        &[][..],
        &[1],
        &[2],
        &[255],
        &[4096],
        &[65_535],
        &[65_537],
        &[1 << 20],
        &[1 << 24],
        &[(1 << 24) + 1],
        &[1 << 27],
        &[1 << 29],
        &[1, 128_256],
        &[64, 128_256],
        &[4097, 16],
        &[1 << 20, 16],
        &[1 << 23, 4],
        &[(1 << 23) + 1, 3],
        &[16, 1 << 20],
        &[3, 1 << 22],
        &[2, 65_536, 33],
        &[512, 512, 19],
        &[8, 3, 640, 640],
        &[1000, 1000, 17],
        &[2, 0, 5],
        &[7, 7, 7, 7, 7],
        &[70_000, 3],
        &[70_000 * 64, 2],
        &[2, 70_000 * 8, 16],
    ]
    .into_iter()
    .map(|shape| View::new(shape).unwrap())
    .collect();
    views.extend([
        strided(&[1 << 20, 9], &[-9, 1], 9 * ((1 << 20) - 1)),
        strided(&[1 << 20, 7], &[8, 1], 1_000_003),
        strided(&[1 << 12, 1 << 12], &[1, 1 << 12], 5),
        strided(&[1 << 12, 1 << 12], &[1, 1], 0),
        strided(&[1 << 12, 1 << 12], &[0, 1], 0),
        strided(&[1 << 13, 1 << 12], &[1, 0], 0),
        strided(&[1 << 24], &[0], 3),
        strided(&[1 << 30], &[0], 3),
        strided(&[1 << 16, 1 << 14], &[0, 0], 3),
        strided(&[1 << 23], &[7], 0),
        strided(&[1 << 10, 1 << 10, 5], &[5 << 10, -5, 1], 5 << 10),
        strided(&[5, 1 << 22], &[1, 5], 0),
    ]);
    views
}

/// `[]`, each axis, the first half, the last half, all but the first, all.
pub fn axes_sweep(rank: usize) -> Vec<Vec<i64>> {
    let rank = rank as i64;
    let mut sets: Vec<Vec<i64>> = (0..rank).map(|axis| vec![axis]).collect();
    let ranges = [0..0, 0..rank / 2, rank / 2..rank, 1..rank, 0..rank];
    sets.extend(ranges.into_iter().map(|range| range.collect::<Vec<i64>>()));
    sets.sort();
    sets.dedup();
    sets
}

#[test]
fn every_plan_keeps_its_bounds() {
    for view in view_sweep() {
        for axes in axes_sweep(view.rank()) {
            for dtype in DType::ALL {
                for limits in limits_sweep() {
                    let case = format!("{dtype} {view:?} {axes:?}");
                    let op = ReduceMax::new(dtype, view.clone()).axes(axes.clone());
                    check_bounds(&op, &view, dtype, &limits, &case);
                    if view.rank() == 0 || view.is_empty() {
                        continue;
                    }
                    let op = ArgMax::new(dtype, view.clone()).axes(axes.clone());
                    check_bounds(&op, &view, dtype, &limits, &case);
                    let op = op.output(ArgMaxOutput::ValuesAndIndices).index(IndexType::U32);
                    check_bounds(&op, &view, dtype, &limits, &case);
                }
            }
        }
    }
}
