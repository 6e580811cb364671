//! What a dispatch asks of a GPU's memory, counted on paper.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use naga::{Barrier, Expression, Handle};
use wgmax::plan::Slot;

/// The invocations whose addresses a GPU looks at together.
const LANES: u64 = 32;

/// What memory moves at least, in words of 4 bytes: a sector of 32 bytes.
const SECTOR_WORDS: u64 = 8;

/// A load or a store in a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Site {
    routine: usize,
    at: usize,
    stores: bool,
}

impl Site {
    pub fn load(routine: usize, expression: Handle<Expression>) -> Site {
        Site { routine, at: expression.index(), stores: false }
    }

    pub fn store(routine: usize, step: usize) -> Site {
        Site { routine, at: step, stores: true }
    }
}

/// A load or a store of a subgroup: where, and how often its invocations came there before.
#[derive(PartialEq, Eq, Hash)]
struct Instruction {
    subgroup: u64,
    site: Site,
    visit: u32,
    slot: Slot,
}

/// Counts a workgroup's traffic.
#[derive(Default)]
pub struct Counter {
    /// The words that each instruction touches.
    words: HashMap<Instruction, Vec<u64>>,
    /// How often an invocation came to a site.
    visits: HashMap<(u64, Site), u32>,
    /// The turns in which an invocation loads.
    turns: HashMap<u64, BTreeSet<u32>>,
    /// The sectors that are loaded in each turn.
    fetched: HashSet<(u32, Slot, u64)>,
    barriers: u64,
    storage_barriers: u64,
}

impl Counter {
    pub fn access(&mut self, invocation: u64, turn: u32, site: Site, slot: Slot, words: Range<u64>) {
        let visits = self.visits.entry((invocation, site)).or_default();
        let instruction = Instruction { subgroup: invocation / LANES, site, visit: *visits, slot };
        *visits += 1;
        if !site.stores {
            self.turns.entry(invocation).or_default().insert(turn);
            self.fetched.extend(words.clone().map(|word| (turn, slot, word / SECTOR_WORDS)));
        }
        self.words.entry(instruction).or_default().extend(words);
    }

    pub fn barrier(&mut self, barrier: Barrier) {
        self.barriers += 1;
        self.storage_barriers += u64::from(barrier.contains(Barrier::STORAGE));
    }

    fn moved(&self, stores: bool) -> Moved {
        let mut moved = Moved::default();
        for (_, words) in self.words.iter().filter(|(instruction, _)| instruction.site.stores == stores) {
            let words: BTreeSet<u64> = words.iter().copied().collect();
            let sectors: BTreeSet<u64> = words.iter().map(|word| word / SECTOR_WORDS).collect();
            moved.bytes += 4.0 * words.len() as f64;
            moved.sector_bytes += (4 * SECTOR_WORDS * sectors.len() as u64) as f64;
        }
        moved
    }
}

/// What loads, or stores, move.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    /// The bytes that are asked for: of words that several invocations of a subgroup ask for at once, once.
    pub bytes: f64,
    /// The bytes of the sectors that they lie in.
    pub sector_bytes: f64,
}

impl Moved {
    /// The share of what moves that was asked for; 1 where nothing moves.
    pub fn efficiency(&self) -> f64 {
        if self.sector_bytes == 0.0 { 1.0 } else { self.bytes / self.sector_bytes }
    }

    pub fn add(&mut self, other: Moved, times: f64) {
        self.bytes += times * other.bytes;
        self.sector_bytes += times * other.sector_bytes;
    }
}

/// What a dispatch asks of memory.
#[derive(Clone, Debug)]
pub struct Traffic {
    pub groups: u64,
    /// The invocations of a workgroup.
    pub group: u64,
    pub loads: Moved,
    pub stores: Moved,
    /// The bytes of the sectors that workgroups fetch, if what a workgroup loads again in the same turn is still near it.
    pub fetched_bytes: f64,
    /// How often the workgroups wait for what they load, all together: the turns of a loop, or what lies between two
    /// barriers, in which an invocation loads. Loads of one turn are taken to be in flight together.
    pub waits: f64,
    /// The barriers of all workgroups, and those of them that storage takes part in.
    pub barriers: f64,
    pub storage_barriers: f64,
}

impl Traffic {
    pub fn new(groups: u64, group: u64) -> Traffic {
        let (loads, stores) = (Moved::default(), Moved::default());
        Traffic { groups, group, loads, stores, fetched_bytes: 0.0, waits: 0.0, barriers: 0.0, storage_barriers: 0.0 }
    }

    /// Takes in what a workgroup did that stands for so many.
    pub fn add(&mut self, counted: Option<Counter>, times: f64) {
        let Some(own) = counted else { return };
        self.loads.add(own.moved(false), times);
        self.stores.add(own.moved(true), times);
        self.fetched_bytes += times * (4 * SECTOR_WORDS * own.fetched.len() as u64) as f64;
        self.waits += times * own.turns.values().map(BTreeSet::len).max().unwrap_or(0) as f64;
        self.barriers += times * own.barriers as f64;
        self.storage_barriers += times * own.storage_barriers as f64;
    }

    /// The bytes that wait at a time if all workgroups run at once.
    pub fn in_flight(&self) -> f64 {
        self.groups as f64 * self.loads.bytes / self.waits.max(1.0)
    }
}
