//! What was run, in numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use wgmax::Plan;
use wgmax::plan::{Dispatch, Params, Slot};

use super::{Case, Outcome};

type Counts = BTreeMap<String, u64>;

#[derive(Default)]
pub struct Figures {
    cases: u64,
    operators: Counts,
    types: Counts,
    ranks: Counts,
    policies: Counts,
    /// How many of the plans have what makes planning hard.
    kinds: Counts,
    /// The same, of each number of bytes of an element.
    widths: BTreeMap<u64, Counts>,
    kernels: BTreeSet<String>,
    invalid: Counts,
    refused: Counts,
    skipped: Counts,
    failed: u64,
}

fn add(counts: &mut Counts, what: impl Into<String>) {
    *counts.entry(what.into()).or_default() += 1;
}

impl Figures {
    pub fn failed(&mut self, case: &Case) {
        self.named(case);
        self.failed += 1;
    }

    fn named(&mut self, case: &Case) {
        self.cases += 1;
        add(&mut self.operators, case.name());
        add(&mut self.types, case.dtype.name());
        add(&mut self.ranks, case.operands.iter().map(|parts| parts[0].shape.len()).max().unwrap_or(0).to_string());
        let row = format!("{:?}", case.limits.adapter);
        add(&mut self.policies, case.limits.tuning.map_or(row, |_| "any tuning".into()));
    }

    pub fn count(&mut self, case: &Case, outcome: Outcome) {
        self.named(case);
        let plan = match outcome {
            Outcome::Right(plan) => plan,
            Outcome::Invalid(why) => return add(&mut self.invalid, why),
            Outcome::Refused(why) => return add(&mut self.refused, why),
            Outcome::Skipped(why) => return add(&mut self.skipped, why),
        };
        let width = self.widths.entry(case.dtype.bytes()).or_default();
        for kind in kinds(case, &plan) {
            add(&mut self.kinds, kind);
            add(width, kind);
        }
        let kernel = |dispatch: &Dispatch| format!("{:?} {}", dispatch.kernel.program, dispatch.kernel.dtype);
        self.kernels.extend(plan.dispatches.iter().map(kernel));
    }
}

/// What a plan is like.
fn kinds(case: &Case, plan: &Plan) -> Vec<&'static str> {
    let mut kinds = vec![match plan.dispatches.len() {
        0 => "0 dispatches",
        1 => "1 dispatch",
        2 => "2 dispatches",
        3..=9 => "3 to 9 dispatches",
        10..=99 => "10 to 99 dispatches",
        _ => "100 dispatches and more",
    }];
    let records = |dispatch: &Dispatch| match &dispatch.params {
        Params::Merge(params) => Some(params.records),
        _ => None,
    };
    let finishes: Vec<u32> = plan.dispatches.iter().filter_map(records).collect();
    let mut windows: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for binding in plan.dispatches.iter().flat_map(|dispatch| &dispatch.bindings) {
        if let Slot::Input(n) = binding.slot {
            windows.entry(n).or_default().insert(binding.offset_bytes);
        }
    }
    let holds = [
        ("parts", case.operands.iter().any(|parts| parts.len() > 1)),
        ("windows", windows.values().any(|offsets| offsets.len() > 1)),
        ("finishing dispatches", !finishes.is_empty()),
        ("tiles", finishes.len() > 1),
        ("finishing over 1000 records", finishes.iter().any(|&records| records > 1000)),
        ("finishing over 10000 records", finishes.iter().any(|&records| records > 10_000)),
        ("in place", plan.in_place.is_some()),
        ("overrides", !plan.embedded.is_empty()),
    ];
    kinds.extend(holds.into_iter().filter_map(|(kind, holds)| holds.then_some(kind)));
    kinds
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |counts: &Counts| {
            let one = |(what, count): (&String, &u64)| format!("{what} {count}");
            counts.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        writeln!(f, "  {} cases: {}", self.cases, list(&self.operators))?;
        writeln!(f, "  types: {}", list(&self.types))?;
        writeln!(f, "  ranks: {}", list(&self.ranks))?;
        writeln!(f, "  policies: {}", list(&self.policies))?;
        writeln!(f, "  plans: {}", list(&self.kinds))?;
        for (width, kinds) in &self.widths {
            writeln!(f, "    {width} bytes an element: {}", list(kinds))?;
        }
        writeln!(f, "  programs with types: {}", self.kernels.len())?;
        writeln!(f, "  wrong operations, refused by planner and reference alike: {}", list(&self.invalid))?;
        writeln!(f, "  devices too small: {}", list(&self.refused))?;
        writeln!(f, "  skipped: {}", list(&self.skipped))?;
        write!(f, "  failed: {}", self.failed)
    }
}
