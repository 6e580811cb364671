//! A generator that crosses everything: operators, types, ranks, strides, parts, options, devices of any limits and data.
//! The tests on GPUs and the interpreter of plans take the same cases, of their own sizes.
//!
//! A case follows from its seed alone. `WGMAX_SEED` is the first (0 otherwise), `WGMAX_CASES` says how many there are,
//! `WGMAX_SECONDS` how long they may take instead, and `WGMAX_FINDINGS` after how many different findings to stop (1
//! otherwise). What fails is made smaller as long as it fails, and printed with the line that repeats it.

mod draw;
mod figures;
mod shrink;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

use wgmax::{
    AnyOperation, ArgMax, ArgMaxOutput, Axes, DType, EmptyMax, Error, Hardmax, IndexType, Limits, Max, NanPolicy,
    Operation, Parts, Plan, ReduceMax, Slices, Tensor, View,
};

use crate::common::laws::check_planned;
use crate::common::{Data, Random, element_bits, tensor};
use figures::Figures;

/// An operation, a device, and what the buffers hold: plain data, so that it can be made smaller.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub asked: Asked,
    pub dtype: DType,
    pub nan: NanPolicy,
    /// Each operand in parts.
    pub operands: Vec<Vec<Layout>>,
    pub limits: Limits,
    pub content: Content,
    pub content_seed: u64,
    /// Whole alignments that lie before each input, each output and each scratch buffer.
    pub places: [u64; 3],
    /// Elements behind the last of each input.
    pub more: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    ReduceMax { axes: Axes, keep_dims: bool, empty: EmptyMax },
    ArgMax { axes: Axes, keep_dims: bool, last: bool, index: IndexType, output: ArgMaxOutput },
    Hardmax(Slices),
    Max { constant: Option<Vec<u64>>, in_place: Option<usize>, view_of: Option<(usize, usize)> },
}

/// A view whose lowest element has this number in its buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub shape: Vec<u64>,
    pub strides: Vec<i64>,
    pub lowest: u64,
}

/// What the inputs hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    All(Data),
    /// The same everywhere but for a few elements of the views: an element left out is one of the few now and then.
    Needles(Data),
}

impl Layout {
    pub fn contiguous(shape: &[u64]) -> Layout {
        let strides = View::new(shape).unwrap().strides().to_vec();
        Layout { shape: shape.to_vec(), strides, lowest: 0 }
    }

    pub fn view(&self) -> View {
        let dimensions = self.shape.iter().zip(&self.strides);
        let below = dimensions.map(|(size, stride)| stride.min(&0).unsigned_abs() * size.saturating_sub(1));
        View::strided(self.shape.clone(), self.strides.clone(), self.lowest + below.sum::<u64>()).unwrap()
    }

    /// Elements from the lowest to the highest.
    fn span(&self) -> u64 {
        let dimensions = self.shape.iter().zip(&self.strides);
        dimensions.map(|(size, stride)| stride.unsigned_abs().saturating_mul(size.saturating_sub(1))).sum::<u64>() + 1
    }
}

impl Case {
    pub fn operation(&self) -> AnyOperation {
        let parts = |layouts: &Vec<Layout>| Parts::new(layouts.iter().map(Layout::view).collect::<Vec<_>>()).unwrap();
        let mut inputs: Vec<Parts> = self.operands.iter().map(parts).collect();
        let (dtype, nan) = (self.dtype, self.nan);
        match self.asked.clone() {
            Asked::ReduceMax { axes, keep_dims, empty } => {
                ReduceMax::new(dtype, inputs.remove(0)).axes(axes).keep_dims(keep_dims).empty(empty).nan(nan).into()
            }
            Asked::ArgMax { axes, keep_dims, last, index, output } => {
                let op = ArgMax::new(dtype, inputs.remove(0)).axes(axes).keep_dims(keep_dims).select_last(last);
                op.index(index).output(output).nan(nan).into()
            }
            Asked::Hardmax(slices) => Hardmax::new(dtype, inputs.remove(0), slices).nan(nan).into(),
            Asked::Max { constant, in_place, view_of } => {
                let mut op = Max::new(dtype, inputs).nan(nan);
                op = in_place.map_or(op.clone(), |input| op.in_place(input));
                op = view_of.map_or(op.clone(), |(input, other)| op.view_of(input, other));
                constant.map_or(op.clone(), |shape| op.constant(self.constant(&shape))).into()
            }
        }
    }

    fn constant(&self, shape: &[u64]) -> Tensor {
        let flat = tensor(self.dtype, shape.iter().product(), Data::EdgesWithoutNan, self.content_seed);
        Tensor::from_bytes(self.dtype, shape, flat.bytes().to_vec()).unwrap()
    }

    /// The parts of all operands: an input each.
    fn layouts(&self) -> impl Iterator<Item = &Layout> {
        self.operands.iter().flatten()
    }

    /// The inputs that the operation takes, in order.
    pub fn inputs(&self) -> Vec<Tensor> {
        let mut random = Random::new(self.content_seed);
        let mut inputs: Vec<Vec<Tensor>> = Vec::new();
        for parts in &self.operands {
            inputs.push(parts.iter().map(|layout| self.input(layout, &mut random)).collect());
        }
        if let Asked::Max { view_of: Some((input, other)), .. } = self.asked
            && let Some([own, of]) = inputs.get_disjoint_mut([input, other]).ok()
        {
            // The other has the elements of both, and nobody looks at what is given as the input.
            for (own, of) in own.iter_mut().zip(of) {
                if own.bytes().len() > of.bytes().len() {
                    *of = own.clone();
                }
                *own = tensor(self.dtype, random.below(3), Data::Random, self.content_seed);
            }
        }
        inputs.into_iter().flatten().collect()
    }

    fn input(&self, layout: &Layout, random: &mut Random) -> Tensor {
        let (dtype, view) = (self.dtype, layout.view());
        let size = dtype.bytes() as usize;
        let len = view.buffer_bytes(dtype).unwrap() / dtype.bytes() + self.more;
        let mut bytes = vec![0; len as usize * size];
        let (Content::All(data) | Content::Needles(data)) = self.content;
        fill(&mut bytes, dtype, data, random);
        if matches!(self.content, Content::Needles(_)) && !view.is_empty() {
            for _ in 0..1 << random.below(11) {
                let at = layout.element(random) as usize * size;
                let needle = element_bits(dtype, Data::EdgesWithoutNan, random);
                bytes[at..at + size].copy_from_slice(&needle.to_le_bytes()[..size]);
            }
        }
        Tensor::from_bytes(dtype, [len], bytes).unwrap()
    }

    /// The plan and the answer, or the outcome where there is none; refusals are judged.
    pub fn plan(&self, op: &AnyOperation, inputs: &[Tensor]) -> Result<Result<(Plan, Vec<Tensor>), Outcome>, Finding> {
        let planned = self.planned(op)?;
        if let Err(error @ (Error::TooLarge { .. } | Error::DeviceTooSmall { .. })) = &planned {
            return Ok(Err(Outcome::Refused(subject(error))));
        }
        let answer = op.reference(&inputs.iter().collect::<Vec<_>>());
        match (planned, answer) {
            (Ok(plan), Ok(answer)) => {
                let other = self.with_idle_strides(99).operation().plan(&self.limits);
                let same = other.as_ref() == Ok(&plan);
                let finding = || Finding::new("idle strides", format!("{plan}\n{other:?}"));
                if same { Ok(Ok((plan, answer))) } else { Err(finding()) }
            }
            (Err(planned), Err(answered)) if planned == answered => Ok(Err(Outcome::Invalid(subject(&planned)))),
            (planned, answer) => {
                let [planned, answered] = [planned.err(), answer.err()];
                Err(Finding::new("two errors", format!("of planning {planned:?}, of the reference {answered:?}")))
            }
        }
    }

    /// What planning gives; that a device is too small for it is judged.
    pub fn planned(&self, op: &AnyOperation) -> Result<Result<Plan, Error>, Finding> {
        let planned = op.plan(&self.limits);
        check_planned(op, &planned, &self.limits);
        match &planned {
            Err(error @ (Error::TooLarge { .. } | Error::DeviceTooSmall { .. })) if !self.may_refuse(error) => {
                Err(Finding::new(&format!("refused, {}", subject(error)), error))
            }
            _ => Ok(planned),
        }
    }

    /// The case with such strides where a dimension has one index: they mean nothing.
    fn with_idle_strides(&self, idle: i64) -> Case {
        let mut other = self.clone();
        for layout in other.operands.iter_mut().flatten() {
            let dimensions = layout.strides.iter_mut().zip(&layout.shape);
            dimensions.filter(|(_, size)| **size == 1).for_each(|(stride, _)| *stride = idle);
        }
        other
    }

    /// Whether a device may be too small: what the error claims is true, and no way of planning would change it.
    fn may_refuse(&self, error: &Error) -> bool {
        let limits = &self.limits;
        let unit = if limits.shared_buffers { 16 } else { 1 }; // they are bound in whole packs
        let binding_bytes = limits.max_binding_bytes / unit * unit;
        // Records of 64-bit keys and positions of as many outputs as lie from one place for a binding to the next.
        let aligned_records = 16 * limits.binding_alignment_bytes.max(16);
        match *error {
            Error::DeviceTooSmall { what: "max_storage_buffer_binding_size", given, needed }
            | Error::TooLarge { what: "bytes of records", given: needed, limit: given } => {
                given == binding_bytes && needed > given && given < aligned_records
            }
            Error::DeviceTooSmall { what: "max_storage_buffers_per_shader_stage", given, needed } => {
                given == u64::from(limits.max_storage_bindings) && needed > given && needed <= 4
            }
            Error::TooLarge { what, given, limit } if what.starts_with("dispatches of a plan") => {
                let few_invocations = self.elements() / self.invocations() > MANY_ELEMENTS;
                let across = self.window_pairs() > FEW_WINDOW_PAIRS || self.merged_boxes() > limit;
                given > limit && (across || self.boxes() > limit / 8 || few_invocations)
            }
            // Windows are as large as a binding, and of a view that repeats elements one is long for few invocations.
            Error::TooLarge { what: "elements of one dispatch", given, limit } => {
                given > limit && self.elements() / self.invocations() > MANY_ELEMENTS
            }
            _ => false,
        }
    }

    /// Elements of the largest input or output.
    fn elements(&self) -> u64 {
        let inputs =
            self.operands.iter().map(|parts| parts.iter().map(|layout| layout.shape.iter().product::<u64>()).sum());
        let outputs = self.operation().outputs().unwrap_or_default().into_iter().map(|output| output.len());
        inputs.chain(outputs).max().unwrap_or(0)
    }

    /// The invocations of the largest dispatch.
    fn invocations(&self) -> u64 {
        let Limits { max_group_invocations, max_group_memory_bytes, max_groups, tuning, .. } = self.limits;
        let wanted = tuning.map_or(16, |own| own.group.min(16) as u32);
        let group = max_group_invocations.min(max_group_memory_bytes / 16).clamp(1, wanted);
        u64::from(max_groups) * u64::from(max_groups) * u64::from(group)
    }

    /// Pairs of a binding's worth of the inputs, at least one for each part, and one of the outputs: where an input lies
    /// across the output, all of them meet.
    fn window_pairs(&self) -> u64 {
        let windows = |bytes: u64| bytes.div_ceil(self.limits.max_binding_bytes);
        let inputs = self.layouts().map(|layout| windows(layout.span() * self.dtype.bytes())).sum::<u64>();
        let output = |output: &wgmax::TensorType| windows(output.bytes().unwrap_or(u64::MAX));
        let outputs = self.operation().outputs().unwrap_or_default().iter().map(output).sum::<u64>();
        inputs.max(1).saturating_mul(outputs.max(1))
    }

    /// Boxes of a merge of every output, where few invocations take few at a time: consecutive ones are at most three boxes
    /// of rows, each of which may lie in every window of the input.
    fn merged_boxes(&self) -> u64 {
        let outputs = self.operation().outputs().unwrap_or_default().iter().map(|output| output.len()).max();
        let windows = self.layouts().map(|layout| layout.span() * self.dtype.bytes()).sum::<u64>();
        let windows = windows.div_ceil(self.limits.max_binding_bytes);
        (outputs.unwrap_or(0) / (16 * self.invocations())).saturating_mul(3 * windows)
    }

    /// The fewest boxes of consecutive outputs in which no operand of Max goes on from one part to the next.
    fn boxes(&self) -> u64 {
        let shape = self.operation().outputs().map_or(vec![], |outputs| outputs[0].shape.clone());
        let boxes = |parts: &Vec<Layout>| {
            let around = shape.len().saturating_sub(parts[0].shape.len());
            shape[..around].iter().product::<u64>() * parts.len() as u64
        };
        match self.asked {
            Asked::Max { .. } => self.operands.iter().filter(|parts| parts.len() > 1).map(boxes).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// So many elements for each invocation of a dispatch take many dispatches.
const MANY_ELEMENTS: u64 = 2048;

/// Problems of so many pairs of windows are planned with fewer than the most dispatches, however they lie.
const FEW_WINDOW_PAIRS: u64 = 64;

impl Layout {
    /// The number of some element.
    fn element(&self, random: &mut Random) -> u64 {
        let dimensions = self.shape.iter().zip(&self.strides);
        let at = |(&size, &stride): (&u64, &i64)| random.below(size) as i64 * stride;
        self.view().offset().strict_add_signed(dimensions.map(at).sum())
    }
}

/// Elements chosen alike, a few of each word of randomness: what takes a call each is slow for millions.
fn fill(bytes: &mut [u8], dtype: DType, data: Data, random: &mut Random) {
    let size = dtype.bytes() as usize;
    if data == Data::Random && dtype != DType::Bool {
        bytes.chunks_mut(8).for_each(|own| own.copy_from_slice(&random.word().to_le_bytes()[..own.len()]));
        return;
    }
    let palette: Vec<u8> =
        (0..256).flat_map(|_| element_bits(dtype, data, random).to_le_bytes()[..size].to_vec()).collect();
    for eight in bytes.chunks_mut(8 * size) {
        let choices = random.word().to_le_bytes();
        for (own, choice) in eight.chunks_mut(size).zip(choices) {
            own.copy_from_slice(&palette[usize::from(choice) * size..][..size]);
        }
    }
}

/// What an error is about, without its numbers.
fn subject(error: &Error) -> String {
    match error {
        Error::TooLarge { what, .. } => format!("TooLarge {what}"),
        Error::DeviceTooSmall { what, .. } => format!("DeviceTooSmall {what}"),
        other => format!("{other:?}").split([' ', '{', '(']).next().unwrap_or_default().into(),
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:?}", self.operation())?;
        writeln!(f, "  {:?}", self.limits)?;
        let Case { content, content_seed, places, more, .. } = self;
        write!(f, "  {content:?} of seed {content_seed}, places {places:?}, {more} elements more")
    }
}

/// How a case went that went well.
pub enum Outcome {
    Right(Plan),
    /// The operation is wrong, and both planner and reference say so.
    Invalid(String),
    /// The device is too small.
    Refused(String),
    Skipped(String),
}

/// How a case went wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Alike for findings of one cause, as far as can be told.
    pub kind: String,
    pub detail: String,
}

impl Finding {
    pub fn new(kind: &str, detail: impl fmt::Display) -> Finding {
        Finding { kind: kind.into(), detail: detail.to_string() }
    }
}

/// The sizes of cases, and the device that they run on.
pub struct Scale {
    /// What is there: no case asks for more.
    pub device: Limits,
    /// The fewest bytes of a binding, and how often they may be doubled.
    pub binding_bytes: (u64, u64),
    /// Elements of most cases, at most, and of any.
    pub elements: (u64, u64),
    /// Bytes of all inputs together, about.
    pub bytes: u64,
    /// The most parts of an operand.
    pub parts: u64,
}

/// Plans cases by the number, each of a pool of its own, and runs none: whatever a device can run is planned. A refusal that is
/// not true is told with its seed.
#[allow(dead_code)] // on paper alone
pub fn plan_cases(count: u64, scale: &Scale) {
    let mut refused = 0;
    for n in 0..count {
        let case = draw::case(n * draw::POOL, scale);
        match case.planned(&case.operation()) {
            Ok(planned) => refused += u64::from(planned.is_err()),
            Err(_) if scale.elements.1 > u32::MAX.into() => refused += 1, // nobody judges whether that has to be
            Err(finding) => panic!("{}: {}\n{case}", finding.kind, finding.detail),
        }
    }
    assert!(refused < count / 4, "{refused} of {count} refused");
}

/// The most cases of one pool.
const LONGEST_TURN: u64 = 2000;

/// A number from the environment, decimal or 0x….
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    Some(parsed.unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

/// Runs one case after another; `test` is the test binary's name, for the line that repeats a case.
pub fn cross(test: &str, scale: &Scale, cases: u64, check: impl Fn(&Case) -> Result<Outcome, Finding>) {
    let first = variable("WGMAX_SEED").unwrap_or(0);
    let (wanted, seconds) = (variable("WGMAX_CASES"), variable("WGMAX_SECONDS"));
    // Every pool has its turn: few cases of each where there are few, or little time.
    let turn = (wanted.or(seconds.map(|s| 12 * s)).unwrap_or(cases) / 12).clamp(1, LONGEST_TURN);
    let cases = wanted.unwrap_or(if seconds.is_some() { u64::MAX } else { cases });
    let seconds = seconds.map(Duration::from_secs);
    let most_findings = variable("WGMAX_FINDINGS").unwrap_or(1) as usize;
    let begin = Instant::now();
    let mut figures = Figures::default();
    let mut findings: Vec<(String, &str)> = Vec::new();
    for n in 0..cases {
        let seed = first + n / turn * draw::POOL + n % turn;
        if seconds.is_some_and(|seconds| begin.elapsed() >= seconds) || findings.len() >= most_findings {
            break;
        }
        let case = draw::case(seed, scale);
        match caught(&check, &case) {
            Ok(outcome) => figures.count(&case, outcome),
            Err(finding) => {
                figures.failed(&case);
                let known = (finding.kind.clone(), case.name());
                if findings.contains(&known) {
                    continue;
                }
                findings.push(known);
                println!("finding {}, {}: {}\n{}", findings.len(), finding.kind, case.name(), finding.detail);
                println!("  WGMAX_SEED={seed} WGMAX_CASES=1 cargo test --all-features --test {test} crossing\n{case}");
                let (small, finding, tries) = shrink::shrink(case, finding, &scale.device, |case| caught(&check, case));
                println!("made smaller in {tries} tries:\n{small}\n  {}\n", finding.detail);
            }
        }
    }
    println!("{test}: cases from seed {first} on, {:.1} s\n{figures}", begin.elapsed().as_secs_f64());
    assert!(findings.is_empty(), "{} findings, above: {findings:?}", findings.len());
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Runs a check; a panic is a finding, told by where it came from.
fn caught(check: &impl Fn(&Case) -> Result<Outcome, Finding>, case: &Case) -> Result<Outcome, Finding> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                return usual(info);
            }
            let place = info.location().map_or(String::new(), |at| format!("{}:{}", at.file(), at.line()));
            LAST.set(Some((place, message(info.payload()))));
        }));
    });
    QUIET.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(|| check(case)));
    QUIET.set(false);
    outcome.unwrap_or_else(|payload| {
        let (place, message) = LAST.take().unwrap_or((String::new(), message(&*payload)));
        Err(Finding { kind: format!("panic at {place}"), detail: message })
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

impl Case {
    fn name(&self) -> &'static str {
        match self.asked {
            Asked::ReduceMax { .. } => "ReduceMax",
            Asked::ArgMax { .. } => "ArgMax",
            Asked::Hardmax(_) => "Hardmax",
            Asked::Max { .. } => "Max",
        }
    }
}

/// A fault of some cases is told by cases that are hardly larger than they must be.
#[test]
fn a_case_that_fails_is_made_smaller() {
    let device = Limits::default();
    let scale = Scale { device, binding_bytes: (4 << 10, 8), elements: (1 << 16, 1 << 20), bytes: 8 << 20, parts: 9 };
    let elements = |case: &Case| case.layouts().map(|layout| layout.shape.iter().product::<u64>()).sum::<u64>();
    let faulty = |case: &Case| match case.dtype.bytes() == 1 && elements(case) > 1000 && case.limits.max_groups < 9 {
        true => Err(Finding::new("fault", "")),
        false => Ok(Outcome::Invalid(String::new())),
    };
    let cases = (0..2000).map(|seed| draw::case(seed % 7 * draw::POOL + seed, &scale));
    let failing: Vec<Case> = cases.filter(|case| faulty(case).is_err()).collect();
    assert!((20..500).contains(&failing.len()), "{} fail", failing.len());
    for case in failing.into_iter().take(20) {
        let (small, _, _) = shrink::shrink(case, Finding::new("fault", ""), &scale.device, faulty);
        assert!(faulty(&small).is_err() && elements(&small) < 1100, "{small}");
        assert_eq!((small.limits.max_binding_bytes, small.places, small.more), (128 << 20, [0; 3], 0), "{small}");
    }
}
