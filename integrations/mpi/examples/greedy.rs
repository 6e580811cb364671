//! Tensor-parallel greedy decoding: each rank has some of the vocabulary's logits, as the last layer of a model leaves them,
//! finds its maxima, and 16 bytes for each row tell all ranks the next tokens.
//!
//! ```text
//! mpirun -n 4 greedy
//! ```
//!
//! The shares are uneven, and the second rank's is empty. Rank 0 holds the tokens against the reference's for the whole.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use mpi::datatype::PartitionMut;
use mpi::traits::CommunicatorCollectives;
use wgmax::half::f16;
use wgmax::shard::{Shard, Sharded};
use wgmax::{ArgMax, ArgMaxOutput, DType, IndexType, Operation, Tensor, View};
use wgmax_mpi::{Device, Failure, Ranks};

const BATCH: u64 = 64;
const VOCABULARY: u64 = 128_256;
const STEPS: usize = 11;

fn main() -> ExitCode {
    wgmax_mpi::run(greedy)
}

fn greedy(ranks: &Ranks) -> Result<(), Failure> {
    let device = ranks.agree("opening devices", Device::open(ranks))?;
    let view = View::new([BATCH, VOCABULARY])?;
    let op = ArgMax::new(DType::F16, view).axes([-1]).index(IndexType::U32).output(ArgMaxOutput::ValuesAndIndices);
    let whole = Sharded::new(op.clone())?;
    let (begin, columns) = share(ranks.rank(), ranks.size());
    let shard = whole.shard(&[0, begin], &[BATCH, columns])?;
    let all_logits = logits()?;
    let own_logits = shard.elements(&all_logits)?;

    let (mut finding, mut merging, mut answer, mut sent) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..STEPS {
        let begin = Instant::now();
        let found = device.run(&shard, &own_logits);
        finding.push(begin.elapsed());
        ranks.agree("found", Ok::<_, Failure>(()))?; // from here on nobody waits for another rank's device
        let (begin, bytes) = (Instant::now(), ranks.bytes());
        let known = ranks.all_reduce(&whole, found)?;
        merging.push(begin.elapsed());
        sent = ranks.bytes() - bytes;
        answer = whole.finish(&known)?;
    }
    let gathering = gather(ranks, &shard, &own_logits)?;
    println!("rank {}: {columns} of {VOCABULARY} columns, {:.2} ms on {device}", ranks.rank(), median_ms(finding));
    ranks.agree("told", Ok::<_, Failure>(()))?;
    if ranks.rank() == 0 {
        let tokens = answer[1].to_vec::<u32>()?;
        println!("next tokens: {:?}, …", &tokens[..8]);
        let logits = all_logits.bytes().len();
        println!("merging: {:.3} ms for {sent} bytes from each rank", median_ms(merging));
        println!("gathering the logits instead: {:.3} ms for {logits} bytes to each rank", median_ms(gathering));
    }
    let right = if ranks.rank() > 0 || op.reference(&[&all_logits])? == answer { Ok(()) } else { Err("wrong tokens") };
    ranks.agree("checked", right)?;
    if ranks.rank() == 0 {
        println!("bit-equal to the reference for the whole");
    }
    Ok(())
}

/// A rank's first column and how many it has: uneven shares, of which the second is empty.
fn share(rank: usize, ranks: usize) -> (u64, u64) {
    let weight = |rank: usize| if rank == 1 { 0 } else { 2 + rank as u64 % 3 };
    let total: u64 = (0..ranks).map(weight).sum();
    let end = |ranks: usize| VOCABULARY * (0..ranks).map(weight).sum::<u64>() / total;
    (end(rank), end(rank + 1) - end(rank))
}

/// What merging saves: every rank gets all logits.
fn gather(ranks: &Ranks, shard: &Shard, logits: &Tensor) -> Result<Vec<Duration>, Failure> {
    let row = |rank| (BATCH * share(rank, ranks.size()).1 * 2) as mpi::Count;
    let counts: Vec<mpi::Count> = (0..ranks.size()).map(row).collect();
    let begins: Vec<mpi::Count> = (0..ranks.size()).map(|rank| counts[..rank].iter().sum()).collect();
    let mut all = vec![0_u8; (BATCH * VOCABULARY * 2) as usize];
    let mut times = Vec::new();
    for _ in 0..STEPS {
        ranks.agree("gathering", Ok::<_, Failure>(()))?;
        let begin = Instant::now();
        let mut parts = PartitionMut::new(&mut all[..], &counts[..], &begins[..]);
        ranks.communicator().all_gather_varcount_into(logits.bytes(), &mut parts);
        times.push(begin.elapsed());
    }
    let own = &all[begins[ranks.rank()] as usize..][..counts[ranks.rank()] as usize];
    ranks.agree("gathered", if own == logits.bytes() { Ok(()) } else { Err(format!("{shard:?} was lost")) })?;
    Ok(times)
}

fn median_ms(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// Logits around 0, the same on every rank. Many are equal: where the largest are, the first of them is the answer.
fn logits() -> Result<Tensor, wgmax::Error> {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407); // Knuth's MMIX
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let elements = (0..BATCH * VOCABULARY).map(|_| f16::from_f32(8.0 * (uniform() + uniform() + uniform() - 1.5)));
    Tensor::new([BATCH, VOCABULARY], &elements.collect::<Vec<_>>())
}
