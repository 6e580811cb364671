//! A checkpoint's maxima, over all ranks.

use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use wgmax::checkpoint::{Checkpoint, StoredTensor};
use wgmax::half::{bf16, f16};
use wgmax::shard::{Partials, Sharded};
use wgmax::{ArgMax, ArgMaxOutput, DType, Tensor, View};
use wgmax_mpi::{Device, Failure, Ranks};

/// A rank reads and uploads at most so many bytes at once.
const CHUNK: u64 = 64 << 20;

/// A tensor's greatest element.
pub struct Found {
    pub stored: StoredTensor,
    /// The element, and its row-major position; nothing of a tensor without elements.
    pub greatest: Option<(Tensor, i64)>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stored = &self.stored;
        write!(f, "{} {} {:?}: ", stored.name(), stored.type_name(), stored.shape())?;
        match &self.greatest {
            None => f.write_str("no elements"),
            Some((value, at)) => write!(f, "{} at {at}", text(value)),
        }
    }
}

pub fn scan(ranks: &Ranks, device: &Device, folder: &Path) -> Result<Vec<Found>, Failure> {
    let (checkpoint, with_elements) = ranks.agree("listing", list(folder))?;
    let found = find(ranks, device, &checkpoint, &with_elements);
    let wholes: Vec<Sharded> = with_elements.into_iter().map(|(_, whole)| whole).collect();
    let known = ranks.all_reduce_each(&wholes, found)?;
    let mut answers = wholes.iter().zip(&known).map(|(whole, known)| whole.finish(known));
    let found = checkpoint.tensors().iter().cloned().map(|stored| {
        let greatest = match bytes(&stored) {
            0 => None,
            _ => answers.next().transpose()?.map(|mut answer| greatest(&mut answer)).transpose()?,
        };
        Ok(Found { stored, greatest })
    });
    found.collect()
}

/// The tensors that have elements, each as one row.
fn list(folder: &Path) -> Result<(Checkpoint, Vec<(StoredTensor, Sharded)>), Failure> {
    let checkpoint = Checkpoint::open(folder)?;
    let mut with_elements = Vec::new();
    for stored in checkpoint.tensors().iter().filter(|&stored| bytes(stored) > 0) {
        let dtype = stored.dtype()?;
        let op = ArgMax::new(dtype, View::new([bytes(stored) / dtype.bytes()])?).output(ArgMaxOutput::ValuesAndIndices);
        with_elements.push((stored.clone(), Sharded::new(op)?));
    }
    Ok((checkpoint, with_elements))
}

pub fn bytes(stored: &StoredTensor) -> u64 {
    stored.range().end - stored.range().start
}

fn greatest(answer: &mut Vec<Tensor>) -> Result<(Tensor, i64), Failure> {
    let at = answer[1].to_vec::<i64>()?[0];
    Ok((answer.swap_remove(0), at))
}

/// What this rank finds in its run of all the tensors' bytes.
fn find(
    ranks: &Ranks,
    device: &Device,
    checkpoint: &Checkpoint,
    tensors: &[(StoredTensor, Sharded)],
) -> Result<Vec<Partials>, Failure> {
    let total: u64 = tensors.iter().map(|(stored, _)| bytes(stored)).sum();
    let cut = |rank: usize| (u128::from(total) * rank as u128 / ranks.size() as u128) as u64;
    let (first, end) = (cut(ranks.rank()), cut(ranks.rank() + 1));
    let mut begin = 0;
    let mut found = Vec::with_capacity(tensors.len());
    for (stored, whole) in tensors {
        let size = whole.dtype().bytes();
        let element = |byte: u64| byte.saturating_sub(begin).min(bytes(stored)) / size;
        let (mut at, end) = (element(first), element(end));
        let mut known = whole.nothing()?;
        while at < end {
            let len = (end - at).min(CHUNK / size);
            let elements = read(checkpoint, stored.name(), whole.dtype(), at..at + len)?;
            known.merge(&device.run(&whole.shard(&[at], &[len])?, &elements)?)?;
            at += len;
        }
        found.push(known);
        begin += bytes(stored);
    }
    Ok(found)
}

/// Some elements of a tensor.
fn read(checkpoint: &Checkpoint, name: &str, dtype: DType, elements: Range<u64>) -> Result<Tensor, Failure> {
    let mut bytes = vec![0; ((elements.end - elements.start) * dtype.bytes()) as usize];
    let mut reader = checkpoint.reader(name)?;
    let read = reader.seek(SeekFrom::Start(elements.start * dtype.bytes())).and_then(|_| reader.read_exact(&mut bytes));
    read.map_err(|error| format!("tensor {name}: {error}"))?;
    Ok(Tensor::from_bytes(dtype, [elements.end - elements.start], bytes)?)
}

/// A number for people; types that are not shown so are shown by their bytes.
fn text(value: &Tensor) -> String {
    let number = match value.dtype() {
        DType::F32 => value.to_vec::<f32>().map(|value| value[0].to_string()),
        DType::F64 => value.to_vec::<f64>().map(|value| value[0].to_string()),
        DType::F16 => value.to_vec::<f16>().map(|value| value[0].to_string()),
        DType::Bf16 => value.to_vec::<bf16>().map(|value| value[0].to_string()),
        DType::I64 => value.to_vec::<i64>().map(|value| value[0].to_string()),
        DType::I32 => value.to_vec::<i32>().map(|value| value[0].to_string()),
        _ => Ok(format!("{:?}", value.bytes())),
    };
    number.unwrap_or_else(|error| error.to_string())
}
