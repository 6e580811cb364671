//! The cases of the generator, on paper: small ones, on devices whose bindings hold some hundred bytes.

use std::collections::{BTreeMap, BTreeSet};

use wgmax::plan::{Plan, Slot};
use wgmax::{ArgMaxOutput, Axes, DType, Limits, Operation, Slices, View};

use crate::common::{first_difference, tensors};
use crate::crossing::{Asked, Case, Finding, Outcome, Scale, cross, plan_cases};
use crate::paper::{Groups, Paper, Word};
use crate::{Parts, addresses, check_parts, origins_at, sources_but, word, words_at_once};

fn scale() -> Scale {
    // Invocations that do nothing cost as much here as others.
    let device = Limits { binding_alignment_bytes: 4, max_group_invocations: 32, ..Limits::default() };
    Scale { device, binding_bytes: (256, 6), elements: (1000, 6000), bytes: 24 << 10, parts: 20 }
}

/// Where an operation's elements are to be found.
struct Elements {
    /// Of each operand's elements, row-major, the word that they lie in.
    operands: Vec<Vec<Word>>,
    /// The shape of each operand.
    shapes: Vec<Vec<u64>>,
}

impl Elements {
    fn of(case: &Case) -> Elements {
        let mut elements = Elements { operands: vec![], shapes: vec![] };
        let first_slot = |n: usize| case.operands[..n].iter().map(Vec::len).sum::<usize>();
        let (in_place, constant, view_of) = match &case.asked {
            Asked::Max { constant, in_place, view_of } => (*in_place, constant.clone(), *view_of),
            _ => (None, None, None),
        };
        for (n, parts) in case.operands.iter().enumerate() {
            let mut words = Vec::new();
            let buffer = view_of.filter(|&(own, _)| own == n).map_or(n, |(_, other)| other);
            for (layout, slot) in parts.iter().zip(first_slot(buffer)..) {
                let slot = if in_place == Some(n) { Slot::Output(0) } else { Slot::Input(slot) };
                let at = if layout.shape.contains(&0) { vec![] } else { addresses(&layout.view()) };
                words.extend(at.into_iter().map(|at| word(slot, case.dtype, at)));
            }
            let mut shape = parts[0].shape.clone();
            if let Some(first) = shape.first_mut() {
                *first = parts.iter().map(|part| part.shape[0]).sum();
            }
            elements.operands.push(words);
            elements.shapes.push(shape);
        }
        if let Some(shape) = constant {
            let len = shape.iter().product();
            elements.operands.push((0..len).map(|at| word(Slot::Embedded(0), case.dtype, at)).collect());
            elements.shapes.push(shape);
        }
        elements
    }

    /// The slices along these dimensions of the only operand.
    fn slices(&self, reduced: &[usize]) -> Parts {
        let words = &self.operands[0];
        numbers_of_slices(&self.shapes[0], reduced)
            .iter()
            .map(|slice| slice.iter().map(|&at| words[at as usize]).collect())
            .collect()
    }

    /// What each element of the operands' common shape is the maximum of.
    fn broadcast(&self, shape: &[u64]) -> Parts {
        let mut parts = vec![BTreeSet::new(); shape.iter().product::<u64>() as usize];
        for (words, own) in self.operands.iter().zip(&self.shapes) {
            let numbers = addresses(&View::new(own.clone()).unwrap().broadcast(shape).unwrap());
            parts.iter_mut().zip(numbers).for_each(|(part, at)| {
                part.insert(words[at as usize]);
            });
        }
        parts
    }
}

/// The row-major numbers of the elements of each slice.
fn numbers_of_slices(shape: &[u64], reduced: &[usize]) -> Vec<Vec<u64>> {
    let kept: Vec<usize> = (0..shape.len()).filter(|d| !reduced.contains(d)).collect();
    let slices: u64 = kept.iter().map(|&d| shape[d]).product();
    let all = addresses(&View::new(shape).unwrap().permute(&[&kept[..], reduced].concat()).unwrap());
    match all.len() / slices.max(1) as usize {
        0 => vec![vec![]; slices as usize],
        len => all.chunks(len).map(<[u64]>::to_vec).collect(),
    }
}

/// The dimensions that a case reduces, ascending.
fn reduced(case: &Case) -> Vec<usize> {
    let rank = case.operands[0][0].shape.len();
    let resolved = |axis: i64| (if axis < 0 { axis + rank as i64 } else { axis }) as usize;
    let mut reduced: Vec<usize> = match &case.asked {
        Asked::ReduceMax { axes: Axes::List(axes), .. } | Asked::ArgMax { axes: Axes::List(axes), .. } => {
            axes.iter().map(|&axis| resolved(axis)).collect()
        }
        Asked::Hardmax(Slices::Along(axis)) => vec![resolved(*axis)],
        Asked::Hardmax(Slices::From(axis)) => (resolved(*axis)..rank).collect(),
        _ => (0..rank).collect(),
    };
    reduced.sort_unstable();
    reduced
}

/// Every output took the elements that belong to it and no others.
fn check_origins(paper: &mut Paper, plan: &Plan, case: &Case, shape: &[u64]) {
    let (dtype, elements) = (case.dtype, Elements::of(case));
    let slices = || elements.slices(&reduced(case));
    match &case.asked {
        Asked::ReduceMax { .. } => check_parts(paper, dtype, 0, dtype, &slices(), "values"),
        Asked::ArgMax { index, output, .. } => {
            let slices = slices();
            let values = *output == ArgMaxOutput::ValuesAndIndices;
            if values {
                check_parts(paper, dtype, 0, dtype, &slices, "values");
            }
            // The position in a slice that repeats one element need not depend on it.
            if slices.iter().any(|slice| slice.len() > 1) {
                check_parts(paper, dtype, usize::from(values), index.dtype(), &slices, "positions");
            }
        }
        Asked::Hardmax(_) => check_hardmax(paper, case, &slices(), shape, words_at_once(plan)),
        Asked::Max { .. } => check_parts(paper, dtype, 0, dtype, &elements.broadcast(shape), "maxima"),
    }
}

/// A slice's ones and zeros come of all of the slice, and of no other than those that share words with it, or what is written at once.
fn check_hardmax(paper: &mut Paper, case: &Case, slices: &Parts, shape: &[u64], at_once: u64) {
    let dtype: DType = case.dtype;
    let (_, origins) = paper.read(Slot::Output(0));
    let written: Vec<BTreeSet<u64>> = numbers_of_slices(shape, &reduced(case))
        .iter()
        .map(|slice| slice.iter().map(|&at| word(Slot::Output(0), dtype, at).1).collect())
        .collect();
    let mut sharing: BTreeMap<u64, BTreeSet<Word>> = BTreeMap::new();
    for (slice, words) in slices.iter().zip(&written) {
        words.iter().for_each(|&word| sharing.entry(word / at_once).or_default().extend(slice));
    }
    for (n, (slice, words)) in slices.iter().zip(&written).enumerate() {
        let most: BTreeSet<Word> = words.iter().flat_map(|word| &sharing[&(word / at_once)]).copied().collect();
        let own = words.iter().flat_map(|&word| origins_at(&origins, dtype, word)).copied();
        let found = sources_but(paper, dtype, own, &most);
        assert!(slice.len() == 1 || slice.is_subset(&found), "slice {n} came of {found:?}, expected {slice:?}");
        assert!(found.is_subset(&most), "slice {n} came of {found:?}, expected {most:?} at most");
    }
}

/// The most dispatches that are worth the time.
const MOST_PASSES: usize = 400;

fn check(case: &Case) -> Result<Outcome, Finding> {
    let (op, inputs) = (case.operation(), case.inputs());
    let (plan, expected) = match case.plan(&op, &inputs)? {
        Ok(planned) => planned,
        Err(outcome) => return Ok(outcome),
    };
    if plan.dispatches.len() > MOST_PASSES {
        return Ok(Outcome::Skipped(format!("more than {MOST_PASSES} dispatches")));
    }
    let mut paper = Paper::new(&plan, Groups::All);
    for (n, input) in inputs.iter().enumerate() {
        let slot = if plan.in_place == Some(n) { Slot::Output(0) } else { Slot::Input(n) };
        paper.fill(slot, input.bytes());
    }
    paper.run(&plan, &case.limits);
    let bytes = (0..plan.output_bytes.len()).map(|n| paper.read(Slot::Output(n)).0).collect();
    if let Some(difference) = first_difference(&expected, &tensors(&op, bytes)) {
        return Err(Finding::new("a wrong answer", format!("{difference}\n{plan}")));
    }
    let shape = &op.outputs().expect("planned")[0].shape;
    if !shape.contains(&0) {
        check_origins(&mut paper, &plan, case, shape);
    }
    Ok(Outcome::Right(plan))
}

/// See `tests/common/crossing/mod.rs` for what it reads from the environment.
#[test]
fn crossing_everything_on_paper() {
    cross("paper", &scale(), 300, check);
}

#[test]
fn what_a_device_can_run_is_planned() {
    plan_cases(20_000, &scale());
    let larger = Scale { binding_bytes: (4 << 10, 12), elements: (100_000, 3_000_000), bytes: 16 << 20, ..scale() };
    plan_cases(20_000, &larger);
    // Of tensors beyond what 32 bits count some are refused, but what is planned can be run.
    let device = Limits { max_binding_bytes: 4 << 30, max_group_invocations: 1024, ..Limits::default() };
    let elements = (1 << 24, 1 << 36);
    let largest = Scale { device, binding_bytes: (1 << 20, 13), elements, bytes: 1 << 40, ..larger };
    plan_cases(10_000, &largest);
}
