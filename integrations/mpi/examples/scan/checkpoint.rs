//! A checkpoint's maxima, over all ranks.

use std::fmt;
use std::path::Path;

use wgmax::shard::{Partials, Sharded};
use wgmax::{ArgMax, ArgMaxOutput, Tensor, View};
use wgmax_mpi::{Device, Failure, Ranks};

use super::files::{self, Stored};

/// A rank reads and uploads at most so many bytes at once.
const CHUNK: u64 = 64 << 20;

/// A tensor's greatest element.
pub struct Found {
    pub stored: Stored,
    /// The element, and its row-major position; nothing of a tensor without elements.
    pub greatest: Option<(Tensor, i64)>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stored { name, dtype, shape, .. } = &self.stored;
        write!(f, "{name} {dtype} {shape:?}: ")?;
        match &self.greatest {
            None => f.write_str("no elements"),
            Some((value, at)) => write!(f, "{} at {at}", files::text(value)),
        }
    }
}

pub fn scan(ranks: &Ranks, device: &Device, folder: &Path) -> Result<Vec<Found>, Failure> {
    let tensors = ranks.agree("listing", files::list(folder))?;
    let mut with_elements = Vec::new();
    for stored in tensors.iter().filter(|stored| stored.len() > 0) {
        let op = ArgMax::new(stored.dtype, View::new([stored.len()])?).output(ArgMaxOutput::ValuesAndIndices);
        with_elements.push((stored, Sharded::new(op)?));
    }
    let found = find(ranks, device, &with_elements);
    let wholes: Vec<Sharded> = with_elements.into_iter().map(|(_, whole)| whole).collect();
    let known = ranks.all_reduce_each(&wholes, found)?;
    let mut answers = wholes.iter().zip(&known).map(|(whole, known)| whole.finish(known));
    let found = tensors.into_iter().map(|stored| {
        let greatest = match stored.len() {
            0 => None,
            _ => answers.next().transpose()?.map(|mut answer| greatest(&mut answer)).transpose()?,
        };
        Ok(Found { stored, greatest })
    });
    found.collect()
}

fn greatest(answer: &mut Vec<Tensor>) -> Result<(Tensor, i64), Failure> {
    let at = answer[1].to_vec::<i64>()?[0];
    Ok((answer.swap_remove(0), at))
}

/// What this rank finds in its run of all the tensors' bytes.
fn find(ranks: &Ranks, device: &Device, tensors: &[(&Stored, Sharded)]) -> Result<Vec<Partials>, Failure> {
    let total: u64 = tensors.iter().map(|(stored, _)| stored.bytes()).sum();
    let cut = |rank: usize| (u128::from(total) * rank as u128 / ranks.size() as u128) as u64;
    let (first, end) = (cut(ranks.rank()), cut(ranks.rank() + 1));
    let mut begin = 0;
    let mut found = Vec::with_capacity(tensors.len());
    for (stored, whole) in tensors {
        let element = |byte: u64| byte.saturating_sub(begin).min(stored.bytes()) / stored.dtype.bytes();
        let (mut at, end) = (element(first), element(end));
        let mut known = whole.nothing()?;
        while at < end {
            let len = (end - at).min(CHUNK / stored.dtype.bytes());
            known.merge(&device.run(&whole.shard(&[at], &[len])?, &stored.read(at, len)?)?)?;
            at += len;
        }
        found.push(known);
        begin += stored.bytes();
    }
    Ok(found)
}
