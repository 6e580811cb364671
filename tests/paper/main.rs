//! Plans executed on paper, down to the shaders' own text, with no GPU: every word that an answer came of is known, so
//! that it can be held against the definition. Each output takes the elements that belong to it and no others; each word
//! is written by one invocation, and once, but for zeros written before; every binding is aligned and in range, and so is
//! every access.
//!
//! Bindings of a few hundred bytes give small tensors the structure that large ones have with a device's.

#[path = "../common/mod.rs"]
mod common;
mod crossed;
#[path = "../common/crossing/mod.rs"]
mod crossing;
#[path = "../common/paper/mod.rs"]
mod paper;
mod traffic;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use common::kernels::storing_results;
use common::laws::lawful_plan;
use common::{Data, VIEW_LEN, axes_sets, first_difference, tensor, tensors, views};
use paper::{Groups, Origin, Paper, Word, slot_number};
use wgmax::plan::{Access, Dispatch, Epilogue, HardmaxWriter, MaxAccess, MaxOperands, Plan, Program, Slot, Stores};
use wgmax::{
    AdapterKind, ArgMax, ArgMaxOutput, DType, Error, Hardmax, IndexType, Limits, Max, NanPolicy, Operation, ReduceMax,
    Slices, Tensor, View,
};

/// The addresses of a view's elements, row-major.
fn addresses(view: &View) -> Vec<u64> {
    let mut addresses = vec![view.offset()];
    for (&size, &stride) in view.shape().iter().zip(view.strides()) {
        let along = |at: u64| (0..size as i64).map(move |i| at.wrapping_add_signed(i * stride));
        addresses = addresses.into_iter().flat_map(along).collect();
    }
    addresses
}

/// The word that an element lies in; of one of 64 bits the first, since the second may decide a comparison by itself.
fn word(slot: Slot, dtype: DType, address: u64) -> Word {
    (slot_number(slot), address * dtype.bytes() / 4)
}

/// Where an output's words came from that have an element, of which [`word`] counts the first.
fn origins_at(origins: &[Origin], dtype: DType, word: u64) -> &[Origin] {
    &origins[word as usize..][..(dtype.bytes() as usize / 4).max(1)]
}

/// The words that these numbers came of, as [`word`] counts them.
fn sources(paper: &Paper, dtype: DType, of: impl IntoIterator<Item = Origin>) -> BTreeSet<Word> {
    let words = paper.origins.words(of).into_iter();
    words.map(|(slot, word)| (slot, if dtype.bytes() == 8 { word & !1 } else { word })).collect()
}

/// The same without those beside the ones that are expected, up to two words, where packs of elements of less than a word are
/// shifted out of words: as far as one can tell by words, they come along.
fn sources_but(
    paper: &Paper,
    dtype: DType,
    of: impl IntoIterator<Item = Origin>,
    expected: &BTreeSet<Word>,
) -> BTreeSet<Word> {
    let beside = |(slot, word): &Word| {
        let [low, high] = [word.saturating_sub(2), word.saturating_add(2)];
        expected.range((*slot, low)..=(*slot, high)).next().is_some()
    };
    let mut found = sources(paper, dtype, of);
    if paper.shifts && dtype.bytes() < 4 {
        found.retain(|word| expected.contains(word) || !beside(word));
    }
    found
}

/// Of each output element, the words of the input that it is to come of.
type Parts = Vec<BTreeSet<Word>>;

/// Of a reduction: the elements of its slice.
fn reduced_parts(dtype: DType, view: &View, reduced: &[i64]) -> Parts {
    let kept: Vec<usize> = (0..view.rank()).filter(|&d| !reduced.contains(&(d as i64))).collect();
    let order: Vec<usize> = kept.iter().copied().chain(reduced.iter().map(|&d| d as usize)).collect();
    let outputs: u64 = kept.iter().map(|&d| view.shape()[d]).product();
    let all = addresses(&view.permute(&order).unwrap());
    let slice = all.len() / outputs.max(1) as usize;
    let part = |slice: &[u64]| slice.iter().map(|&at| word(Slot::Input(0), dtype, at)).collect();
    if slice == 0 { vec![BTreeSet::new(); outputs as usize] } else { all.chunks(slice).map(part).collect() }
}

/// Runs a plan, and holds the answer against the reference.
fn run(op: &impl Operation, inputs: &[&Tensor], limits: &Limits, case: &str) -> Option<Paper> {
    let plan = lawful_plan(op, limits)?;
    let mut paper = Paper::new(&plan, Groups::All);
    for (n, input) in inputs.iter().enumerate() {
        let slot = if plan.in_place == Some(n) { Slot::Output(0) } else { Slot::Input(n) };
        paper.fill(slot, input.bytes());
    }
    paper.run(&plan, limits);
    let bytes = (0..plan.output_bytes.len()).map(|n| paper.read(Slot::Output(n)).0).collect();
    let expected = op.reference(inputs).unwrap();
    if let Some(difference) = first_difference(&expected, &tensors(op, bytes)) {
        panic!("{case}: {difference}\n{plan}");
    }
    Some(paper)
}

/// Every word of an output of type `dtype` came of the words that its elements are to come of, and of no others.
fn check_parts(paper: &mut Paper, input: DType, output: usize, dtype: DType, parts: &Parts, case: &str) {
    let (_, origins) = paper.read(Slot::Output(output));
    let element_words = (dtype.bytes() / 4).max(1) as usize;
    let lanes = 4_u64.div_ceil(dtype.bytes()) as usize;
    for (n, (origins, parts)) in origins.chunks(element_words).zip(parts.chunks(lanes)).enumerate() {
        let expected: BTreeSet<Word> = parts.iter().flatten().copied().collect();
        let found = sources_but(paper, input, origins.iter().copied(), &expected);
        assert!(found == expected, "{case}: unit {n} of output {output} came of {found:?}, expected {expected:?}");
    }
}

/// A program and its type.
type Kind = (Program, DType);

/// What a case ran, or nothing where the limits do not allow it.
type Seen = Option<Vec<Kind>>;

/// The dispatches' programs, without what depends on packs and the number of operands.
fn kinds(op: &impl Operation, limits: &Limits) -> Vec<Kind> {
    let kind = |dispatch: &Dispatch| {
        let mut program = storing_results(dispatch.kernel.program);
        match &mut program {
            Program::Max { operands, access: MaxAccess::Packs { pairs } } => {
                (*operands, *pairs) = (MaxOperands::new(0), false);
            }
            Program::Max { operands, access: MaxAccess::Columns | MaxAccess::Elements } => {
                *operands = MaxOperands::new(0);
            }
            _ => {}
        }
        (program, dispatch.kernel.dtype)
    };
    op.plan(limits).unwrap().dispatches.iter().map(kind).collect()
}

fn check_reduce_max(dtype: DType, view: &View, axes: &[i64], limits: &Limits, input: &Tensor, case: &str) -> Seen {
    let op = ReduceMax::new(dtype, view.clone()).axes(axes);
    let mut paper = run(&op, &[input], limits, case)?;
    check_parts(&mut paper, dtype, 0, dtype, &reduced_parts(dtype, view, axes), case);
    Some(kinds(&op, limits))
}

fn check_arg_max(dtype: DType, view: &View, axes: &[i64], limits: &Limits, input: &Tensor, case: &str) -> Seen {
    let op = ArgMax::new(dtype, view.clone()).axes(axes).output(ArgMaxOutput::ValuesAndIndices).index(IndexType::I32);
    let mut paper = run(&op, &[input], limits, case)?;
    let parts = reduced_parts(dtype, view, axes);
    check_parts(&mut paper, dtype, 0, dtype, &parts, case);
    // The position in a slice of one element need not depend on it.
    if parts.iter().any(|part| part.len() > 1) {
        check_parts(&mut paper, dtype, 1, DType::I32, &parts, case);
    }
    let op = op.output(ArgMaxOutput::Indices).index(IndexType::I64).select_last(true);
    run(&op, &[input], limits, case)?;
    Some(kinds(&op, limits))
}

/// The words of a Hardmax that come of all slices in them: those of packs, where these are made at once.
fn words_at_once(plan: &Plan) -> u64 {
    let of_rows = |program| matches!(program, Program::HardmaxWrite(HardmaxWriter::Rows));
    if plan.dispatches.iter().any(|own| of_rows(own.kernel.program)) { 4 } else { 1 }
}

/// A slice's ones and zeros come of all of the slice, and of no other than those that share words with it, or what is written at once.
fn check_hardmax(dtype: DType, view: &View, slices: Slices, limits: &Limits, input: &Tensor, case: &str) -> Seen {
    let op = Hardmax::new(dtype, view.clone(), slices);
    let mut paper = run(&op, &[input], limits, case)?;
    let reduced: Vec<i64> = match slices {
        Slices::Along(axis) => vec![axis],
        Slices::From(axis) => (axis..view.rank() as i64).collect(),
    };
    let at_once = words_at_once(&op.plan(limits).unwrap());
    let parts = reduced_parts(dtype, view, &reduced);
    let written = reduced_parts(dtype, &View::new(view.shape()).unwrap(), &reduced);
    let mut sharing: BTreeMap<u64, BTreeSet<Word>> = BTreeMap::new();
    for (part, written) in parts.iter().zip(&written) {
        written.iter().for_each(|&(_, word)| sharing.entry(word / at_once).or_default().extend(part));
    }
    let (_, origins) = paper.read(Slot::Output(0));
    for (n, (part, written)) in parts.iter().zip(&written).enumerate() {
        let most: BTreeSet<Word> = written.iter().flat_map(|(_, word)| &sharing[&(word / at_once)]).copied().collect();
        let own = written.iter().flat_map(|&(_, word)| origins_at(&origins, dtype, word)).copied();
        let found = sources_but(&paper, dtype, own, &most);
        assert!(part.len() == 1 || part.is_subset(&found), "{case}: slice {n} came of {found:?}, expected {part:?}");
        assert!(found.is_subset(&most), "{case}: slice {n} came of {found:?}, expected {most:?} at most");
    }
    Some(kinds(&op, limits))
}

fn check_max(
    op: Max,
    dtype: DType,
    operands: &[(Slot, View)],
    limits: &Limits,
    inputs: &[&Tensor],
    case: &str,
) -> Seen {
    let mut paper = run(&op, inputs, limits, case)?;
    let shape = &op.outputs().unwrap()[0].shape;
    let mut parts = vec![BTreeSet::new(); shape.iter().product::<u64>() as usize];
    for (slot, view) in operands {
        let read = addresses(&view.broadcast(shape).unwrap());
        parts.iter_mut().zip(read).for_each(|(part, at)| {
            part.insert(word(*slot, dtype, at));
        });
    }
    check_parts(&mut paper, dtype, 0, dtype, &parts, case);
    Some(kinds(&op, limits))
}

/// Small bindings, small and odd grids, small teams; alignments from a word up.
fn all_limits() -> Vec<Limits> {
    let mut all = Vec::new();
    for adapter in AdapterKind::ALL {
        for (max_binding_bytes, binding_alignment_bytes, max_group_invocations, max_groups, max_storage_bindings) in [
            (128 << 20, 256, 8, 65_535, 8),
            (128 << 20, 4, 32, 7, 4),
            (4096, 32, 4, 300, 4),
            (16 << 10, 256, 8, 300, 8),
            (16 << 10, 32, 64, 65_535, 8),
            (1024, 256, 8, 300, 8),
            (512, 64, 2, 65_535, 4),
            (256, 256, 1, 65_535, 4),
        ] {
            all.push(Limits {
                adapter,
                max_binding_bytes,
                binding_alignment_bytes,
                max_group_invocations,
                max_groups,
                max_storage_bindings,
                ..Limits::default()
            });
        }
    }
    all
}

/// The views of the operators' tests, and some of one and two dimensions; as many elements as the data has.
fn all_views() -> Vec<(&'static str, View)> {
    let mut all = views();
    all.push(("one row", View::new([VIEW_LEN]).unwrap()));
    all.push(("one row reversed", View::new([901]).unwrap().reverse(0).unwrap()));
    all.push(("two rows", View::new([2, 503]).unwrap()));
    all.push(("tall", View::new([70, 16]).unwrap()));
    all.push(("tall and narrow", View::new([170, 5]).unwrap()));
    all.push(("odd columns", View::new([17, 37]).unwrap()));
    all.push(("many short", View::new([350, 3]).unwrap()));
    all.push(("runs that do not join", View::strided([6, 70], [75, 1], 3).unwrap()));
    all
}

fn axes_of(view: &View) -> Vec<Vec<i64>> {
    match view.rank() {
        1 => vec![vec![], vec![0]],
        2 => vec![vec![], vec![0], vec![1], vec![0, 1]],
        _ => axes_sets(),
    }
}

const DTYPES: [DType; 4] = [DType::F32, DType::Bf16, DType::U8, DType::I64];

/// Types, views and limits: every seventh combination of all, which has each pair of them. What is named must be among
/// what was run.
fn check_all(name: &str, named: &[Kind], mut check: impl FnMut(DType, &View, &Limits, &Tensor, &str) -> Vec<Seen>) {
    let mut seen: HashMap<Kind, u64> = HashMap::new();
    let (mut turn, mut refused) = (0, 0);
    for dtype in DTYPES {
        let input = tensor(dtype, 2400, Data::Random, 6);
        for (view_name, view) in all_views() {
            for limits in all_limits() {
                turn += 1;
                if turn % 7 != 0 {
                    continue;
                }
                let case = format!("{name} {dtype} {view_name} {limits:?}");
                for ran in check(dtype, &view, &limits, &input, &case) {
                    refused += u64::from(ran.is_none());
                    ran.into_iter().flatten().for_each(|kind| *seen.entry(kind).or_default() += 1);
                }
            }
        }
    }
    println!("{name}: {refused} refused; programs, and how often they ran: {seen:?}");
    for kind in named {
        assert!(seen.contains_key(kind), "{kind:?} is in no case: {seen:?}");
    }
}

/// A reducing operator's programs, whole and split.
fn reducing(epilogue: Epilogue) -> Vec<Kind> {
    let accesses = [Access::Rows, Access::Columns, Access::Strided];
    let all =
        accesses.map(|access| [epilogue, Epilogue::Record(epilogue.operator())].map(|epilogue| (access, epilogue)));
    let reduce = |(access, epilogue)| Program::Reduce { access, epilogue, stores: Stores::Results };
    let merge = Program::Merge { epilogue };
    all.into_iter().flatten().map(reduce).chain([merge]).map(|program| (program, DType::F32)).collect()
}

#[test]
fn reduce_max_takes_its_elements_and_no_others() {
    check_all("ReduceMax", &reducing(Epilogue::Value), |dtype, view, limits, input, case| {
        let check = |axes: Vec<i64>| check_reduce_max(dtype, view, &axes, limits, input, &format!("{case} {axes:?}"));
        axes_of(view).into_iter().map(check).collect()
    });
}

#[test]
fn arg_max_takes_its_elements_and_no_others() {
    check_all("ArgMax", &reducing(Epilogue::Index), |dtype, view, limits, input, case| {
        let check = |axes: Vec<i64>| check_arg_max(dtype, view, &axes, limits, input, &format!("{case} {axes:?}"));
        axes_of(view).into_iter().map(check).collect()
    });
}

#[test]
fn hardmax_takes_its_slices_and_no_others() {
    let mut named: Vec<Kind> = [Program::HardmaxOnes { narrow: false }, Program::HardmaxWrite(HardmaxWriter::Rows)]
        .map(|program| (program, DType::U8))
        .into();
    named.push((Program::Merge { epilogue: Epilogue::Index }, DType::F32));
    named.push((Program::HardmaxWrite(HardmaxWriter::RaggedColumns { packed: true }), DType::F32));
    check_all("Hardmax", &named, |dtype, view, limits, input, case| {
        let rank = view.rank() as i64;
        let slices = (0..rank).map(Slices::Along).chain((0..=rank).map(Slices::From));
        slices.map(|own| check_hardmax(dtype, view, own, limits, input, &format!("{case} {own:?}"))).collect()
    });
}

#[test]
fn max_takes_its_operands_and_no_others() {
    let programs = [MaxAccess::Packs { pairs: false }, MaxAccess::Columns, MaxAccess::Elements]
        .map(|access| Program::Max { operands: MaxOperands::new(0), access });
    let named = programs.map(|program| [(program, DType::U8), (program, DType::I64)]);
    check_all("Max", named.as_flattened(), |dtype, view, limits, input, case| {
        let shape = view.shape().to_vec();
        let flat = View::new(shape.clone()).unwrap();
        let row = View::new([*shape.last().unwrap()]).unwrap();
        let column = View::new([&shape[..shape.len() - 1], &[1]].concat()).unwrap();
        let mut cases = Vec::new();
        for inputs in [
            vec![view.clone()],
            vec![view.clone(), flat.clone()],
            vec![row.clone(), view.clone()],
            vec![flat.clone(), column, row],
            vec![flat.clone(); 9],
        ] {
            let count = inputs.len();
            let slots = (0..count).map(Slot::Input).zip(inputs.clone()).collect::<Vec<_>>();
            let tensors = vec![input; count];
            let op = Max::new(dtype, inputs.clone());
            cases.push(check_max(op.clone(), dtype, &slots, limits, &tensors, &format!("{case} of {count}")));
            let constant = tensor(dtype, 1, Data::Ties, 1);
            let with_constant = [&slots[..], &[(Slot::Embedded(0), View::new([1]).unwrap())]].concat();
            let floored = op.clone().constant(constant);
            cases.push(check_max(
                floored,
                dtype,
                &with_constant,
                limits,
                &tensors,
                &format!("{case} of {count}, floor"),
            ));
            if let Some(own) = inputs.iter().position(|own| *own == flat) {
                let mut slots = slots;
                slots[own].0 = Slot::Output(0);
                let case = format!("{case} of {count}, in place of {own}");
                cases.push(check_max(op.in_place(own), dtype, &slots, limits, &tensors, &case));
            }
        }
        cases
    });
}

/// What the other tests hold is held: a plan that reads one element too few, or writes one too many, does not pass.
#[test]
fn a_plan_that_is_wrong_is_noticed() {
    use wgmax::plan::Params;
    let input = tensor(DType::U32, 64, Data::Random, 1);
    let op = ReduceMax::new(DType::U32, View::new([4, 16]).unwrap()).axes([1]);
    let limits = Limits { adapter: AdapterKind::SwiftShader, ..Limits::default() };
    let run = |spoil: fn(&mut wgmax::plan::ReductionParams)| {
        let mut plan = op.plan(&limits).unwrap();
        let Params::Reduction(params) = &mut plan.dispatches[0].params else { panic!("no reduction") };
        spoil(params);
        let (plan, limits, input) = (plan.clone(), limits.clone(), input.clone());
        std::panic::catch_unwind(move || {
            let mut paper = Paper::new(&plan, Groups::All);
            paper.fill(Slot::Input(0), input.bytes());
            paper.run(&plan, &limits);
            let parts = reduced_parts(DType::U32, &View::new([4, 16]).unwrap(), &[1]);
            check_parts(&mut paper, DType::U32, 0, DType::U32, &parts, "spoilt");
        })
    };
    assert!(run(|_| {}).is_ok());
    assert!(run(|p| p.reduce_len -= 1).is_err(), "an element too few");
    assert!(run(|p| p.start += 4).is_err(), "another element");
    assert!(run(|p| p.kept[0].stride += 4).is_err(), "another row");
    assert!(run(|p| p.start += 64).is_err(), "beyond the binding");
    assert!(run(|p| p.outputs += 4).is_err(), "more outputs than there are");
    assert!(run(|p| p.outputs -= 1).is_err(), "an output that is not written");
}

/// Records that lie closer than an output has chunks are written twice.
#[test]
fn a_word_that_two_invocations_write_is_noticed() {
    use wgmax::plan::Params;
    let input = tensor(DType::U32, 2 * 4 * 8192, Data::Random, 1);
    let max_binding_bytes = 192 << 10; // windows
    let limits = Limits { adapter: AdapterKind::SwiftShader, max_binding_bytes, ..Limits::default() };
    let op = ReduceMax::new(DType::U32, View::new([2, 4, 8192]).unwrap()).axes([0, 2]);
    for shares in [false, true] {
        let mut plan = op.plan(&limits).unwrap();
        let Params::Reduction(params) = &mut plan.dispatches[1].params else { panic!("{plan}") };
        assert!(params.chunks > 1 && params.record_origin.records == params.chunks);
        params.record_origin.records -= u32::from(shares);
        let (limits, input) = (limits.clone(), input.clone());
        let ran = std::panic::catch_unwind(move || {
            let mut paper = Paper::new(&plan, Groups::All);
            paper.fill(Slot::Input(0), input.bytes());
            paper.run(&plan, &limits);
        });
        assert_eq!(ran.is_err(), shares);
    }
}

/// The ways in which a tensor may lie: as it is; its dimensions in another order; with gaps between rows, or elements;
/// backwards; and one row again and again.
const WAYS: usize = 5;

fn huge_view(shape: &[u64], way: usize) -> View {
    let whole = View::new(shape).unwrap();
    let last = shape.len() - 1;
    match way {
        0 => whole,
        1 => View::new(shape.iter().rev().copied().collect::<Vec<_>>())
            .and_then(|view| view.permute(&(0..=last).rev().collect::<Vec<_>>()))
            .unwrap(),
        2 => {
            let (len, row) = (shape[last] as i64, last > 0);
            let apart = |&stride: &i64| if row { stride / len * (len + 7) + stride % len } else { 3 * stride };
            View::strided(shape, whole.strides().iter().map(apart).collect::<Vec<_>>(), 5).unwrap()
        }
        3 => whole.reverse(0).and_then(|view| view.reverse(last)).unwrap(),
        _ => View::new(&shape[last..]).and_then(|row| row.broadcast(shape)).unwrap(),
    }
}

fn huge_operations(dtype: DType, view: &View) -> Vec<Box<dyn Operation>> {
    let whole = View::new(view.shape()).unwrap();
    let mut ops: Vec<Box<dyn Operation>> = vec![Box::new(Max::new(dtype, [view.clone(), whole]))];
    for axis in 0..view.rank() as i64 {
        ops.push(Box::new(ReduceMax::new(dtype, view.clone()).axes([axis]).nan(NanPolicy::Ignore)));
        ops.push(Box::new(ArgMax::new(dtype, view.clone()).axes([axis])));
        ops.push(Box::new(Hardmax::new(dtype, view.clone(), Slices::Along(axis))));
    }
    ops
}

/// Whether there is a plan: it keeps to the laws, and the first and last workgroups of every dispatch stay within their
/// bindings.
fn check_huge_plan(op: &dyn Operation, limits: &Limits) -> bool {
    let Some(plan) = lawful_plan(op, limits) else {
        assert!(matches!(op.plan(limits), Err(Error::TooLarge { .. })));
        return false;
    };
    // Plans of more dispatches are checked binding by binding: their dispatches are alike.
    if plan.dispatches.len() <= 8 {
        Paper::new(&plan, Groups::Ends).run(&plan, limits);
    }
    true
}

/// Tensors of up to 2^33 elements, contiguous and in one of the other ways, under WebGPU's default limits, greater and
/// smaller ones.
fn check_huge_plans(adapter: AdapterKind) {
    let shapes: [&[u64]; 8] = [
        &[(1 << 33) + 1],
        &[1 << 32, 2],
        &[2, 4_000_000_000],
        &[1 << 17, 1 << 16],
        &[1 << 30, 8],
        &[3, 1 << 20, 2731],
        &[1 << 25],
        &[1 << 13, 1 << 13],
    ];
    let (mut planned, mut refused) = (0, 0);
    let devices = [(128 << 20, 1024), (4 << 30, 32), (16 << 20, 64)];
    for (n, (max_binding_bytes, max_group_invocations)) in devices.into_iter().enumerate() {
        for (m, shape) in shapes.into_iter().enumerate() {
            if max_binding_bytes < 128 << 20 && shape.iter().product::<u64>() > 1 << 27 {
                continue; // thousands of dispatches alike
            }
            // Element by element, which the others take, there is no time for as many invocations.
            for (way, max_group_invocations) in [(0, max_group_invocations), (1 + (n + m) % (WAYS - 1), 16)] {
                let limits = Limits { adapter, max_binding_bytes, max_group_invocations, ..Limits::default() };
                let view = huge_view(shape, way);
                // One type of each way, on the next device and for the next adapter the other.
                let turn = n + m + way.min(1) + adapter as usize;
                for op in huge_operations([DType::U8, DType::I64][turn % 2], &view) {
                    let counter = if check_huge_plan(&*op, &limits) { &mut planned } else { &mut refused };
                    *counter += 1;
                }
            }
        }
    }
    println!("{planned} huge plans, {refused} refused");
}

#[test]
fn huge_plans_for_gpus_stay_within_their_bindings() {
    check_huge_plans(AdapterKind::Hardware);
}

#[test]
fn huge_plans_for_cpus_stay_within_their_bindings() {
    check_huge_plans(AdapterKind::SwiftShader);
}

#[test]
fn huge_plans_for_cpus_of_wide_vectors_stay_within_their_bindings() {
    check_huge_plans(AdapterKind::Lavapipe);
}
