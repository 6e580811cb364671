//! Mutated plans: valid plans of random operations with some of what they say changed, as they would come from a torn
//! file, another version or somebody who means harm. Each is refused with an error, or it is run, and then nothing
//! outside of what the caller gave is written, no input changes, and it ends. No panic, whatever comes.
//!
//! What is changed is the plan's JSON, so that no field is left out, and none that will be added. `WGMAX_MUTATIONS` says
//! how many plans are changed, `WGMAX_MUTATION` which one alone, as a failure names it.

mod common;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use common::{Arena, Data, Random, encoder, gpus, submit, tensor};
use serde_json::Value;
use wgmax::plan::PortablePlan;
use wgmax::{
    AdapterKind, AnyOperation, ArgMax, ArgMaxOutput, DType, Error, Gpu, Hardmax, IndexType, Limits, Max, NanPolicy,
    Operation, Plan, ReduceMax, Slices, Slots, View, wgpu,
};

const SEED: u64 = 0x5eed_0f9a_1a25;
/// The most that is given for a slot: who wants more is refused.
const MOST_BYTES: u64 = 1 << 20;
const GUARD: u8 = 0xc3;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn mutated_plans_are_refused_or_harmless() {
    let count = number("WGMAX_MUTATIONS").unwrap_or(2000);
    let bases = bases(count / 400 + 12);
    let corpus: Vec<Value> = bases.iter().map(|base| serde_json::to_value(&base.plan).unwrap()).collect();
    for base in &bases {
        assert_eq!(run(base, &base.plan), "ran", "{}", base.plan);
    }
    let mut figures: BTreeMap<String, u64> = BTreeMap::new();
    let only = number("WGMAX_MUTATION");
    for n in only.map_or(0..count, |n| n..n + 1) {
        let case = Case { n, what: Cell::default() };
        let outcome = case.outcome(&bases, &corpus);
        *figures.entry(outcome).or_default() += 1;
    }
    println!("seed {SEED:#x}, {count} mutations of {} plans", bases.len());
    for (kind, count) in &figures {
        println!("{count:>8} {kind}");
    }
    if only.is_none() {
        let ran = figures.get("ran").copied().unwrap_or(0);
        assert!(ran >= count / 20, "only {ran} of {count} ran");
        assert!(figures.len() > 6, "few kinds of refusal");
    }
}

/// One mutation; whoever panics within it is told how to see it again.
struct Case {
    n: u64,
    what: Cell<String>,
}

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "WGMAX_MUTATION={} WGMAX_MUTATIONS={:?}: {}",
                self.n,
                number("WGMAX_MUTATIONS"),
                self.what.take()
            );
        }
    }
}

impl Case {
    fn outcome(&self, bases: &[Base], corpus: &[Value]) -> String {
        let mut random = Random::new(SEED ^ self.n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let at = random.below(bases.len() as u64) as usize;
        let mut json = corpus[at].clone();
        let mut changes = Vec::new();
        for _ in 0..=random.below(3) {
            changes.push(mutate(&mut json, corpus, &mut random));
        }
        self.what.set(format!("{changes:?} in\n{}", bases[at].plan));
        match serde_json::from_value::<Plan>(json) {
            Err(_) => "refused by the reader".into(),
            Ok(plan) if plan == bases[at].plan => "the same".into(),
            Ok(plan) => {
                write_down(&plan, &mut random);
                run(&bases[at], &plan)
            }
        }
    }
}

/// What does not check, but counts and copies: it is bounded, and panics never.
fn write_down(plan: &Plan, random: &mut Random) {
    assert!(plan.to_string().len() < 10 << 20);
    let _ = plan.moved_bytes();
    let portable = PortablePlan::from(plan);
    if random.below(16) == 0 {
        let mut json = serde_json::to_value(&portable).unwrap();
        mutate(&mut json, &[serde_json::to_value(&portable).unwrap()], random);
        let _ = serde_json::from_value::<PortablePlan>(json);
    }
}

// Running.

/// A plan that is right.
struct Base {
    gpu: &'static Gpu,
    plan: Plan,
}

/// What became of a plan. Every buffer lies within guards.
fn run(base: &Base, plan: &Plan) -> String {
    let gpu = base.gpu;
    let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
    let outcome = match gpu.kernels().prepare_blocking(plan) {
        Err(error) => format!("refused by prepare: {}", kind(&error)),
        Ok(prepared) => {
            let [inputs, outputs, scratch] =
                [&plan.input_bytes[..], &plan.output_bytes, &plan.scratch_bytes].map(|slots| arenas(gpu, slots));
            let [input_slices, output_slices, scratch_slices] =
                [&inputs, &outputs, &scratch].map(|arenas| arenas.iter().map(Arena::slice).collect::<Vec<_>>());
            let slots = Slots { inputs: &input_slices, outputs: &output_slices, scratch: &scratch_slices };
            let mut recorded = encoder(gpu);
            match prepared.record(&mut recorded, &slots) {
                Err(error) => format!("refused by bind: {}", kind(&error)),
                Ok(()) => {
                    submit(gpu, recorded);
                    let patience =
                        wgpu::PollType::Wait { submission_index: None, timeout: Some(Duration::from_secs(60)) };
                    gpu.device().poll(patience).expect("it runs for longer than a minute");
                    for (n, input) in inputs.iter().enumerate() {
                        let now = input.read(gpu).unwrap_or_else(|problem| panic!("input {n}: {problem}"));
                        assert!(now == content(now.len()), "input {n} was written");
                    }
                    for (n, written) in outputs.iter().chain(&scratch).enumerate() {
                        written.read(gpu).unwrap_or_else(|problem| panic!("output or scratch {n}: {problem}"));
                    }
                    "ran".into()
                }
            }
        }
    };
    let refused = pollster::block_on(scope.pop());
    assert!(refused.is_none(), "wgpu refused what was accepted: {refused:?}");
    outcome
}

fn arenas(gpu: &Gpu, slots: &[u64]) -> Vec<Arena> {
    let begin = gpu.kernels().limits().binding_alignment_bytes;
    let arena = |&bytes: &u64| Arena::new(gpu, begin, &content(bytes.clamp(4, MOST_BYTES) as usize), &[GUARD]);
    slots.iter().take(64).map(arena).collect()
}

/// The same for every slot of a size, so that nobody has to remember it.
fn content(len: usize) -> Vec<u8> {
    tensor(DType::U8, len as u64, Data::Random, len as u64).bytes().to_vec()
}

fn kind(error: &Error) -> String {
    let text = format!("{error:?}");
    let name: String = text.chars().take_while(|c| c.is_alphanumeric()).collect();
    match error {
        Error::Gpu { .. } | Error::DeviceLost { .. } => panic!("the device had to refuse: {error}"),
        _ => name,
    }
}

// Valid plans.

fn bases(count: u64) -> Vec<Base> {
    let base = |n| {
        let mut random = Random::new(SEED + n);
        loop {
            let gpu = &gpus()[random.below(2) as usize];
            let own = gpu.kernels().limits();
            let limits = Limits {
                adapter: pick(AdapterKind::ALL, &mut random),
                max_binding_bytes: own.binding_alignment_bytes.max(256) * pick([4, 16, 64, 4096], &mut random),
                ..own.clone()
            };
            let Ok(plan) = operation(&mut random).plan(&limits) else { continue };
            assert_eq!(plan.check(&limits), Ok(()), "{plan}");
            if (1..40).contains(&plan.dispatches.len()) {
                return Base { gpu, plan };
            }
        }
    };
    (0..count).map(base).collect()
}

fn pick<T: Copy, const N: usize>(choices: [T; N], random: &mut Random) -> T {
    choices[random.below(N as u64) as usize]
}

fn operation(random: &mut Random) -> AnyOperation {
    let dtype = DType::ALL[random.below(DType::ALL.len() as u64) as usize];
    let rank = 1 + random.below(3);
    let shape: Vec<u64> = (0..rank).map(|_| pick([1, 7, 60], random) * (1 + random.below(3))).collect();
    let mut view = View::new(shape.clone()).unwrap();
    if random.below(3) == 0 {
        let order: Vec<usize> = (0..rank as usize).rev().collect();
        view = view.permute(&order).unwrap();
    }
    if random.below(4) == 0 {
        view = view.reverse(random.below(rank) as usize).unwrap();
    }
    let nan = pick([NanPolicy::Propagate, NanPolicy::Ignore], random);
    let axis = random.below(rank) as i64;
    match random.below(4) {
        0 => ReduceMax::new(dtype, view).axes([axis]).nan(nan).into(),
        1 => {
            let output = pick([ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices], random);
            let index = pick([IndexType::I64, IndexType::U32], random);
            ArgMax::new(dtype, view).axes([axis]).nan(nan).output(output).index(index).into()
        }
        2 => Hardmax::new(dtype, view, pick([Slices::Along(axis), Slices::From(axis)], random)).into(),
        _ => {
            let row = View::new([*view.shape().last().unwrap()]).unwrap();
            let op = Max::new(dtype, [View::new(view.shape()).unwrap(), view, row]).nan(nan);
            match random.below(3) {
                0 => op.in_place(0).into(),
                1 => op.constant(tensor(dtype, 1, Data::EdgesWithoutNan, 1)).into(),
                _ => op.into(),
            }
        }
    }
}

// Changing.

/// Changes one thing; what, for people.
fn mutate(json: &mut Value, corpus: &[Value], random: &mut Random) -> String {
    let mut places = Vec::new();
    walk(json, &mut String::new(), &mut places);
    // What a pipeline is made of less often: each that passes is compiled.
    let (kernels, others): (Vec<String>, Vec<String>) = places.into_iter().partition(|place| place.contains("/kernel"));
    loop {
        let pool = if !kernels.is_empty() && random.below(8) == 0 { &kernels } else { &others };
        let place = &pool[random.below(pool.len() as u64) as usize];
        let other = json.pointer(&pool[random.below(pool.len() as u64) as usize]).filter(|other| other.is_number());
        let (donor, other) = (donor(corpus, place, random), other.cloned());
        let Some(target) = json.pointer_mut(place) else { continue };
        let before = target.clone();
        match (random.below(4), donor, other) {
            (0, Some(donor), _) => *target = donor,
            (1, _, Some(other)) if target.is_number() => *target = other,
            _ => change(target, random),
        }
        if *target != before {
            let short = |value: &Value| value.to_string().chars().take(200).collect::<String>();
            return format!("{place}: {} to {}", short(&before), short(target));
        }
    }
}

/// The places of all values below the root.
fn walk(json: &Value, path: &mut String, places: &mut Vec<String>) {
    let len = path.len();
    let mut enter = |key: &str, value: &Value| {
        path.push('/');
        path.push_str(key);
        places.push(path.clone());
        walk(value, path, places);
        path.truncate(len);
    };
    match json {
        Value::Array(items) => items.iter().enumerate().for_each(|(n, item)| enter(&n.to_string(), item)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| enter(key, value)),
        _ => {}
    }
}

/// What stands at such a place, but for the numbers in its name, in any of the plans.
fn donor(corpus: &[Value], place: &str, random: &mut Random) -> Option<Value> {
    let mut donor = &corpus[random.below(corpus.len() as u64) as usize];
    for key in place.split('/').skip(1) {
        donor = match donor {
            Value::Array(items) if !items.is_empty() => &items[random.below(items.len() as u64) as usize],
            Value::Object(fields) => fields.get(key)?,
            _ => return None,
        };
    }
    Some(donor.clone())
}

fn change(target: &mut Value, random: &mut Random) {
    match target {
        Value::Null => *target = random.below(4).into(),
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => {
            let own = number.as_i64().unwrap_or(0);
            let word = number.as_u64().unwrap_or(0);
            *target = match random.below(16) {
                0 | 1 => 0.into(),
                2 | 3 => own.wrapping_add(1).into(),
                4 | 5 => own.wrapping_sub(1).into(),
                6 => own.wrapping_neg().into(),
                7 => word.saturating_mul(2).into(),
                8 => (word / 2).into(),
                9 | 10 => word.saturating_add(1 << random.below(12)).into(),
                11 => word.saturating_sub(1 << random.below(12)).into(),
                12 => (1_u64 << random.below(31)).into(),
                13 => (u64::from(u32::MAX) - random.below(2)).into(),
                14 => (1_u64 << random.below(64)).into(),
                _ => pick([u64::MAX, i32::MIN as u64, i64::MAX as u64], random).into(),
            };
        }
        Value::String(text) => {
            const NAMES: [&str; 24] = [
                "f32",
                "f16",
                "f64",
                "i8",
                "u64",
                "bool",
                "rows",
                "columns",
                "strided",
                "finish",
                "finish_pieces",
                "partial",
                "piece",
                "value",
                "index",
                "both",
                "arg_max",
                "reduce_max",
                "fill",
                "hardmax_columns",
                "last",
                "continues",
                "keeps",
                "a\0b",
            ];
            *text = NAMES[random.below(NAMES.len() as u64) as usize].into();
        }
        Value::Array(items) => {
            let at = random.below(items.len().max(1) as u64) as usize;
            match random.below(6) {
                0 => items.clear(),
                1 => drop(items.pop()),
                2 if at < items.len() => drop(items.remove(at)),
                3 if at < items.len() => items.insert(at, items[at].clone()),
                4 => items.reverse(),
                _ => {
                    let last = items.last().cloned().into_iter();
                    items.extend(last.cycle().take(1 + random.below(40) as usize));
                }
            }
        }
        Value::Object(fields) => {
            // An enumeration's only field, by another of its names.
            const NAMES: [&str; 12] = [
                "input",
                "output",
                "scratch",
                "constant",
                "group",
                "team",
                "index_words",
                "max",
                "reduction",
                "fill",
                "broadcast",
                "hardmaxwrite",
            ];
            if fields.len() == 1 {
                let content = fields.values().next().cloned().unwrap_or_default();
                fields.clear();
                fields.insert(NAMES[random.below(NAMES.len() as u64) as usize].into(), content);
            }
        }
    }
}
