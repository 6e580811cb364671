//! What merging costs on these ranks beside gathering logits, and what a model says: a rank's own work, as measured, and
//! latency, bytes and merging on the way. docs/scale.md has its figures.
//!
//! ```text
//! mpirun -n 4 costs
//! ```

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use wgmax::shard::{Partial, Sharded, merge};
use wgmax::{DType, ReduceMax, View};
use wgmax_mpi::{Failure, Ranks};

const VOCABULARY: u64 = 128_256;

fn main() -> ExitCode {
    wgmax_mpi::run(costs)
}

/// Seconds: of a message, of each of its bytes, and of merging two partials.
struct Costs {
    message: f64,
    byte: f64,
    merge: f64,
}

impl Costs {
    fn measured(ranks: &Ranks) -> Result<Costs, Failure> {
        let (short, long) = (one_way(ranks, 16)?, one_way(ranks, 4 << 20)?);
        let mut known = vec![Partial { key: 1, place: 1 }; 1 << 18];
        let others = known.clone();
        let merging = least(11, || Ok(merge(black_box(&mut known), black_box(&others))?))?;
        let seconds = [short, (long - short) / f64::from(4 << 20), merging / others.len() as f64];
        Ok(Costs { message: seconds[0], byte: seconds[1], merge: seconds[2] })
    }

    /// The cheapest of recursive doubling, a ring, and Rabenseifner's reduce-scatter and all-gather by halves.
    fn all_reduce(&self, ranks: usize, pairs: u64) -> f64 {
        let (ranks, pairs) = (ranks as f64, pairs as f64);
        let (steps, part) = (ranks.log2().ceil(), (ranks - 1.0) / ranks);
        let scattered = pairs * part * (32.0 * self.byte + self.merge);
        let doubling = steps * (self.message + pairs * (16.0 * self.byte + self.merge));
        let ring = 2.0 * (ranks - 1.0) * self.message + scattered;
        let halves = 2.0 * steps * self.message + scattered;
        doubling.min(ring).min(halves)
    }

    fn all_gather(&self, ranks: usize, bytes: u64) -> f64 {
        let ranks = ranks as f64;
        ranks.log2().ceil() * self.message + bytes as f64 * (ranks - 1.0) / ranks * self.byte
    }
}

fn costs(ranks: &Ranks) -> Result<(), Failure> {
    let costs = Costs::measured(ranks)?;
    let (own, size) = (ranks.rank(), ranks.size());
    let alone = Ranks::new(&SimpleCommunicator::self_comm())?; // what a rank does by itself
    if own == 0 {
        let Costs { message, byte, merge } = costs;
        println!("ranks: {size}");
        println!("a message {:.2} µs, {:.2} GB/s, {:.2} ns to merge two", message * 1e6, 1e-9 / byte, merge * 1e9);
        println!("what               measured µs    model µs");
    }
    for outputs in [1, 64, 1 << 12, 1 << 16, 1 << 20] {
        let whole = Sharded::new(ReduceMax::new(DType::F32, View::new([outputs, 8])?).axes([1]))?;
        let seconds = least(31, || Ok(ranks.all_reduce(&whole, whole.nothing()).map(drop)?))?;
        let alone_seconds = least(31, || Ok(alone.all_reduce(&whole, whole.nothing()).map(drop)?))?;
        // The first message has 128 pairs, whatever there is to send.
        let model =
            costs.all_reduce(size, 128) + if outputs > 124 { costs.all_reduce(size, outputs - 124) } else { 0.0 };
        row(own, &format!("merge {outputs}"), seconds, alone_seconds + model);
    }
    for batch in [1, 16, 64] {
        let bytes = batch * VOCABULARY * 2;
        let seconds = gather(ranks, bytes as usize)?;
        row(own, &format!("gather {batch} rows"), seconds, costs.all_gather(size, bytes));
    }
    Ok(())
}

fn row(rank: usize, what: &str, measured: f64, model: f64) {
    if rank == 0 {
        println!("{what:16} {:13.1} {:11.1}", measured * 1e6, model * 1e6);
    }
}

/// Half of what it takes from rank 0 to rank 1 and back; 0 on other ranks.
fn one_way(ranks: &Ranks, bytes: usize) -> Result<f64, Failure> {
    let mut message = vec![0_u8; bytes];
    let comm = ranks.communicator();
    ranks.agree("measuring", Ok::<_, Failure>(()))?;
    if ranks.size() == 1 || ranks.rank() > 1 {
        return Ok(0.0);
    }
    let other = comm.process_at_rank(1 - comm.rank());
    let there_and_back = least(101, || {
        if ranks.rank() == 0 {
            other.send(&message[..]);
        }
        other.receive_into(&mut message[..]);
        if ranks.rank() == 1 {
            other.send(&message[..]);
        }
        Ok(())
    })?;
    Ok(there_and_back / 2.0)
}

fn gather(ranks: &Ranks, bytes: usize) -> Result<f64, Failure> {
    let size = ranks.size();
    let ends: Vec<usize> = (0..=size).map(|rank| bytes * rank / size).collect();
    let counts: Vec<mpi::Count> = ends.windows(2).map(|ends| (ends[1] - ends[0]) as mpi::Count).collect();
    let begins: Vec<mpi::Count> = ends[..size].iter().map(|&begin| begin as mpi::Count).collect();
    let own = vec![1_u8; counts[ranks.rank()] as usize];
    let mut all = vec![0_u8; bytes];
    ranks.agree("gathering", Ok::<_, Failure>(()))?;
    least(31, || {
        let mut parts = PartitionMut::new(&mut all[..], &counts[..], &begins[..]);
        ranks.communicator().all_gather_varcount_into(&own[..], &mut parts);
        Ok(())
    })
}

/// The least of so many times, in seconds: other work on the machine only adds to it.
fn least(times: usize, mut what: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut least = Duration::MAX;
    for _ in 0..times {
        let begin = Instant::now();
        what()?;
        least = least.min(begin.elapsed());
    }
    Ok(least.as_secs_f64())
}
