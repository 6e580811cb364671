//! The model. A plan takes
//!
//! - the start of a dispatch, and what each dispatch that waits for another costs beside it
//! - for each dispatch the longest of: its bytes at the pace of memory, of which [`ATTAINABLE`] is reached; the sectors that
//!   its workgroups fetch and store at the pace of the second cache, [`CACHE`] times as much; and its waits for loads, one
//!   after the other in each workgroup, as many workgroups at once as fit the device
//!
//! Nothing is kept in caches from before. What is calculated is taken to be hidden behind memory: where it is not, the
//! compilers in `tests/amd` say so.

use serde_json::Value;
use wgmax::plan::{Dispatch, Slot};
use wgmax::{Limits, Operation};

use crate::common::{Failure, least_bytes};
use crate::paper::traffic::{Moved, Traffic};
use crate::paper::{Groups, Paper};

/// The part of its bandwidth that memory gives at best.
const ATTAINABLE: f64 = 0.92;

/// How much faster the second cache is than memory.
const CACHE: f64 = 2.0;

/// What GPUs have.
pub fn gpu() -> Limits {
    Limits { max_group_invocations: 1024, max_group_memory_bytes: 32 << 10, ..Limits::default() }
}

/// A dispatch, counted.
pub struct Counted {
    pub traffic: Traffic,
    /// The bytes that memory has to move for it: what it touches, but no more than it has bound.
    memory_bytes: f64,
}

/// An operation's plan, counted.
pub struct Work {
    /// Each input read once, each output written once.
    pub bytes: u64,
    input_bytes: u64,
    pub dispatches: Vec<Counted>,
}

impl Work {
    pub fn count(op: &dyn Operation, limits: &Limits) -> Result<Work, Failure> {
        let plan = op.plan(limits)?;
        let mut paper = Paper::new(&plan, Groups::Sample);
        paper.run(&plan, limits);
        let counted = |(dispatch, traffic): (&Dispatch, Traffic)| Counted {
            memory_bytes: memory_bytes(dispatch, &traffic),
            traffic,
        };
        Ok(Work {
            bytes: least_bytes(op)?,
            input_bytes: op.inputs()?.iter().map(|need| need.bytes).sum(),
            dispatches: plan.dispatches.iter().zip(paper.traffic).map(counted).collect(),
        })
    }

    /// The dispatch that moves most.
    pub fn main(&self) -> &Traffic {
        let most = self.dispatches.iter().max_by(|a, b| a.memory_bytes.total_cmp(&b.memory_bytes));
        &most.expect("the table has no empty tensors").traffic
    }

    pub fn loads(&self) -> Moved {
        self.sum(|traffic| traffic.loads)
    }

    pub fn stores(&self) -> Moved {
        self.sum(|traffic| traffic.stores)
    }

    /// The bytes that workgroups fetch beside the bytes of the inputs.
    pub fn times_read(&self) -> f64 {
        self.dispatches.iter().map(|own| own.traffic.fetched_bytes).sum::<f64>() / self.input_bytes as f64
    }

    fn sum(&self, of: impl Fn(&Traffic) -> Moved) -> Moved {
        let mut sum = Moved::default();
        self.dispatches.iter().for_each(|own| sum.add(of(&own.traffic), 1.0));
        sum
    }
}

fn memory_bytes(dispatch: &Dispatch, traffic: &Traffic) -> f64 {
    let bound = |writes: bool| {
        let own = dispatch.bindings.iter().filter(|b| b.writes == writes && !matches!(b.slot, Slot::Embedded(_)));
        own.map(|b| b.bytes).sum::<u64>() as f64
    };
    traffic.fetched_bytes.min(bound(false)) + traffic.stores.sector_bytes.min(bound(true))
}

/// A device in six numbers.
pub struct Device {
    pub name: String,
    gb_per_s: f64,
    /// From a load to its value, while memory is busy.
    latency_ns: f64,
    multiprocessors: f64,
    /// The most that a multiprocessor has at once.
    invocations: f64,
    /// What a submission costs on the device, however little it does.
    start_us: f64,
    /// What another dispatch costs that waits for the one before.
    dispatch_us: f64,
}

impl Device {
    pub fn parse_all(json: &str) -> Result<Vec<Device>, Failure> {
        let rows: Vec<Value> = serde_json::from_str(json)?;
        rows.iter().map(Device::parse).collect()
    }

    fn parse(row: &Value) -> Result<Device, Failure> {
        let name = row["name"].as_str().ok_or_else(|| format!("a device has a name, {row} has none"))?;
        let number = |key: &str| {
            let found = row[key].as_f64().filter(|n| *n > 0.0);
            found.ok_or_else(|| format!("{name}: {key} is {}, a number above 0 expected", row[key]))
        };
        Ok(Device {
            name: name.into(),
            gb_per_s: number("gb_per_s")?,
            latency_ns: number("latency_ns")?,
            multiprocessors: number("multiprocessors")?,
            invocations: number("invocations")?,
            start_us: number("start_us")?,
            dispatch_us: number("dispatch_us")?,
        })
    }

    pub fn seconds(&self, work: &Work) -> f64 {
        let waits_between = work.dispatches.len().saturating_sub(1) as f64 * self.dispatch_us;
        let dispatches: f64 = work.dispatches.iter().map(|own| self.dispatch_seconds(own)).sum();
        (self.start_us + waits_between) * 1e-6 + dispatches
    }

    fn dispatch_seconds(&self, own: &Counted) -> f64 {
        let (traffic, bytes_per_s) = (&own.traffic, self.gb_per_s * 1e9);
        let memory = own.memory_bytes / (ATTAINABLE * bytes_per_s);
        let cache = (traffic.fetched_bytes + traffic.stores.sector_bytes) / (CACHE * bytes_per_s);
        let at_once = self.multiprocessors * (self.invocations / traffic.group as f64).floor().max(1.0);
        let waits = traffic.waits / at_once.min(traffic.groups as f64) * self.latency_ns * 1e-9;
        memory.max(cache).max(waits)
    }

    /// The part of the bandwidth that the operation's least bytes come to.
    pub fn part(&self, work: &Work) -> f64 {
        work.bytes as f64 / (self.gb_per_s * 1e9) / self.seconds(work)
    }

    /// The same of one dispatch that does nothing but move these bytes.
    pub fn attainable(&self, work: &Work) -> f64 {
        let perfect = work.bytes as f64 / (self.gb_per_s * 1e9);
        perfect / (self.start_us * 1e-6 + perfect / ATTAINABLE)
    }
}
