//! An allocator that counts what each thread asks for, and what reading, planning and answering may ask for: memory, and
//! the work that takes memory, held to budgets that are the same on every machine. The fuzz targets keep to them too.
//!
//! Whoever includes this file has the allocator. There are crates that count, but none that is kept up, costs little enough
//! for millions of runs, and tells the most at a time, the sum and the calls of one thread.
#![allow(dead_code)] // each binary uses its own part

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt;
use std::ptr::null_mut;

use wgmax::onnx::Model;
use wgmax::{AnyOperation, Error, Limits, Operation, Plan, Tensor};

struct Counting;

/// More than this is not given at once: some systems would promise memory that there is not.
const MOST: usize = 1 << 40;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a thread has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Calls that give memory.
    pub calls: u64,
    /// Bytes that they gave, all together.
    pub total: u64,
    /// The most bytes at a time.
    pub peak: i64,
    /// Bytes not given back yet; negative where another thread's are.
    live: i64,
}

thread_local! {
    static USAGE: Cell<Usage> = const { Cell::new(Usage { calls: 0, total: 0, peak: 0, live: 0 }) };
}

fn count(given: usize, taken: usize) {
    let mut usage = USAGE.get();
    usage.calls += u64::from(given > 0);
    usage.total += given as u64;
    usage.live += given as i64 - taken as i64;
    usage.peak = usage.peak.max(usage.live);
    USAGE.set(usage);
}

// An allocator cannot be written without `unsafe`. Each method hands its arguments on to the system's as they are, or
// gives nothing, and counting neither allocates nor panics.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST {
            return null_mut();
        }
        count(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST {
            return null_mut();
        }
        count(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, own: *mut u8, layout: Layout) {
        count(0, layout.size());
        unsafe { System.dealloc(own, layout) }
    }

    unsafe fn realloc(&self, own: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        unsafe { System.realloc(own, layout, size) }
    }
}

/// What this thread asks for while `work` is done.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Usage) {
    let before = USAGE.get();
    USAGE.set(Usage::default());
    let outcome = work();
    let own = USAGE.get();
    USAGE.set(Usage {
        calls: before.calls + own.calls,
        total: before.total + own.total,
        peak: before.peak.max(before.live + own.peak),
        live: before.live + own.live,
    });
    (outcome, own)
}

/// The bytes that a value takes in memory, as a copy of it asks for them.
pub fn memory_of<T: Clone>(value: &T) -> u64 {
    measured(|| value.clone()).1.total + size_of::<T>() as u64
}

/// What may be asked for, for each byte of what there is to do, whatever it is.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes at a time.
    pub peak: u64,
    /// Bytes all together.
    pub total: u64,
    pub calls: u64,
}

/// For reading a file and for making its graph: for each byte of the file.
pub const READING: Budget = Budget { peak: 640, total: 1280, calls: 4 };

/// For an answer on the CPU: for each byte of the file, of the inputs, and of what nodes write.
pub const ANSWERING: Budget = Budget { peak: 128, total: 2560, calls: 8 };

/// For a plan and for its refusal: for each byte that the operation, the plan, and a view for each binding take in memory.
pub const PLANNING: Budget = Budget { peak: 8, total: 128, calls: 1 };

/// For opening a checkpoint: for each byte of its headers and index.
pub const HEADERS: Budget = Budget { peak: 16, total: 32, calls: 1 };

/// What a plan may have been that nobody sees: one of the most dispatches, with as many bindings each as the device has, and no
/// Max takes more than these.
const REFUSED_PASSES: u64 = 1 << 12;
const MOST_BINDINGS: u32 = 33;

fn refused_bytes(limits: &Limits) -> u64 {
    REFUSED_PASSES * (96 * u64::from(limits.max_storage_bindings.min(MOST_BINDINGS))).max(1 << 10)
}

impl Budget {
    /// Panics where more was asked for than so many bytes, and some for nothing at all, allow.
    pub fn check(&self, what: &str, of: &dyn fmt::Debug, bytes: u64, usage: &Usage) {
        let bytes = bytes + 256;
        if SHOWN.get() {
            let each = |n: u64| n as f64 / bytes as f64;
            let (peak, total, calls) = (each(usage.peak as u64), each(usage.total), each(usage.calls));
            println!("{what}: {bytes} bytes, peak {peak:.1}, total {total:.1}, calls {calls:.2} for each");
        }
        let within = usage.peak <= (self.peak * bytes) as i64
            && usage.total <= self.total * bytes
            && usage.calls <= self.calls * bytes;
        assert!(within, "{what} of {bytes} bytes takes {usage:?}, for each byte more than {self:?}: {of:?}");
    }
}

thread_local! {
    /// Whether every use is printed, for tests.
    pub static SHOWN: Cell<bool> = const { Cell::new(false) };
}

/// Reads a model, makes its graph for these inputs and answers, all of it within budget.
pub fn thrifty_answer(
    file: &[u8],
    max_bytes: u64,
    inputs: &mut dyn FnMut(&Model) -> Vec<Tensor>,
) -> Result<Vec<Tensor>, Error> {
    let len = file.len() as u64;
    let (model, usage) = measured(|| Model::decode(file));
    READING.check("reading a file", &file, len, &usage);
    let model = model?.max_bytes(max_bytes);
    let inputs = inputs(&model);
    let given = inputs.iter().map(|input| input.bytes().len() as u64).sum::<u64>();
    let (graph, usage) = measured(|| model.graph(inputs));
    READING.check("the graph of a file", &file, len, &usage);
    let graph = graph?;
    let written: u64 =
        graph.operations().flat_map(|op| op.outputs().unwrap_or_default()).filter_map(|t| t.bytes()).sum();
    let (answer, usage) = measured(|| graph.reference());
    ANSWERING.check("the answer of a graph", &file, len + given + written, &usage);
    let answer = answer.expect("what a graph is made for can be answered");
    assert!(answer.iter().map(Tensor::tensor_type).eq(graph.outputs()), "another type than the graph says");
    Ok(answer)
}

/// Answers an operation on the CPU, within budget.
pub fn thrifty_reference(op: &AnyOperation, inputs: &[&Tensor]) -> Result<Vec<Tensor>, Error> {
    let (answer, usage) = measured(|| op.reference(inputs));
    let tensors = inputs.iter().copied().chain(answer.iter().flatten());
    let bytes = tensors.map(|tensor| tensor.bytes().len() as u64).sum::<u64>();
    ANSWERING.check("an answer", op, memory_of(op) + bytes, &usage);
    answer
}

/// Plans an operation within budget.
pub fn thrifty_plan(op: &AnyOperation, limits: &Limits) -> Result<Plan, Error> {
    let (plan, usage) = measured(|| op.plan(limits));
    let view_bytes = 16 * rank(op);
    let bindings = |plan: &Plan| plan.dispatches.iter().map(|dispatch| dispatch.bindings.len() as u64).sum::<u64>();
    let seen = |plan: &Plan| memory_of(plan) + bindings(plan) * view_bytes;
    let unseen = refused_bytes(limits) + REFUSED_PASSES * view_bytes;
    let planned = match &plan {
        // A Max beyond one binding is planned in two ways; the one of more dispatches is thrown away.
        Ok(plan) if matches!(op, AnyOperation::Max(_)) && plan.dispatches.len() > 1 => unseen + seen(plan),
        Ok(plan) => seen(plan),
        Err(_) => unseen,
    };
    PLANNING.check("planning", &(op, limits), memory_of(op) + planned, &usage);
    plan
}

/// The dimensions of the views that each binding is found by.
fn rank(op: &AnyOperation) -> u64 {
    let kept: AnyOperation = match op.clone() {
        AnyOperation::ReduceMax(op) => op.keep_dims(true).into(),
        AnyOperation::ArgMax(op) => op.keep_dims(true).into(),
        op => op,
    };
    kept.outputs().map_or(0, |outputs| outputs[0].shape.len() as u64)
}
