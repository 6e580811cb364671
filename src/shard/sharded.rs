//! A reduction over a whole tensor, and its shards.

use super::partial::{Partial, Partials, Rule, Wins, place};
use crate::error::list;
use crate::op::{check_inputs, reduced_shape};
use crate::tensor::room;
use crate::view::checked_len;
use crate::{
    AnyOperation, ArgMax, ArgMaxOutput, DType, EmptyMax, Error, IndexType, InputNeed, Operation, ReduceMax, Tensor,
    TensorType, View,
};

/// A ReduceMax, an ArgMax, or a Hardmax's search for its winners, over a tensor that need not exist in one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharded {
    op: AnyOperation,
    shape: Vec<u64>,
    reduced: Vec<usize>,
    rule: Rule,
}

impl Sharded {
    /// Of the operation's views only the shape counts: each shard is a contiguous tensor of its own.
    ///
    /// # Errors
    /// Whatever is wrong with the operation; [`Error::NoReduction`] for a Max.
    pub fn new(op: impl Into<AnyOperation>) -> Result<Sharded, Error> {
        let op = op.into();
        op.outputs()?;
        let (input, dtype, nan, reduced, position) = match &op {
            AnyOperation::ReduceMax(op) => (&op.input, op.dtype, op.nan, op.checked()?, None),
            AnyOperation::ArgMax(op) => {
                let wins = if op.select_last { Wins::Last } else { Wins::First };
                (&op.input, op.dtype, op.nan, op.checked()?, Some(wins))
            }
            AnyOperation::Hardmax(op) => (&op.input, op.dtype, op.nan, op.checked()?, Some(Wins::First)),
            AnyOperation::Max(op) => {
                let expected = "ReduceMax, ArgMax or Hardmax";
                return Err(Error::NoReduction { operator: op.name(), expected });
            }
        };
        let shape = input.shape().to_vec();
        Ok(Sharded { rule: Rule { dtype, nan, position }, shape, reduced, op })
    }

    /// The operation over the whole.
    pub fn operation(&self) -> &AnyOperation {
        &self.op
    }

    /// The whole tensor's shape.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.rule.dtype
    }

    /// The dimensions reduced, ascending.
    pub fn reduced(&self) -> &[usize] {
        &self.reduced
    }

    /// The partials of all outputs, of which nothing is known: for shards to be merged with.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if host memory does not hold 16 bytes for each output.
    pub fn nothing(&self) -> Result<Partials, Error> {
        let kept = reduced_shape(&self.shape, &self.reduced, false);
        Partials::nothing(self.rule, vec![0; kept.len()], kept)
    }

    /// The elements in a box of the whole tensor's indices: its first index and its size along each dimension.
    ///
    /// # Errors
    /// [`Error::ShardOutOfRange`] if it does not lie within the whole.
    pub fn shard(&self, begin: &[u64], shape: &[u64]) -> Result<Shard, Error> {
        let within =
            |(&whole, (&begin, &size)): (&u64, (&u64, &u64))| begin.checked_add(size).is_some_and(|end| end <= whole);
        let ranks_fit = begin.len() == self.shape.len() && shape.len() == self.shape.len();
        if !ranks_fit || !self.shape.iter().zip(begin.iter().zip(shape)).all(within) {
            let (begin, shape, whole) = (begin.to_vec(), shape.to_vec(), self.shape.clone());
            return Err(Error::ShardOutOfRange { begin, shape, whole });
        }
        let operation = if shape.contains(&0) { None } else { Some(self.part(shape)?) };
        Ok(Shard { whole: self.clone(), begin: begin.to_vec(), shape: shape.to_vec(), operation })
    }

    /// So many shards of about the same size, some of them without elements where there are not enough: cut along the
    /// outermost dimension of at least so many indices, or else along the longest one.
    ///
    /// # Errors
    /// Those of [`Sharded::shard`].
    pub fn shards(&self, count: usize) -> Result<Vec<Shard>, Error> {
        let (count, rank) = (count.max(1) as u64, self.shape.len());
        let longest = (0..rank).rev().max_by_key(|&d| self.shape[d]);
        let Some(axis) = (0..rank).find(|&d| self.shape[d] >= count).or(longest) else {
            return Ok(vec![self.shard(&[], &[])?]); // a scalar
        };
        let size = u128::from(self.shape[axis]);
        let cut = |n: u64| (size * u128::from(n) / u128::from(count)) as u64;
        let shard = |n: u64| {
            let (mut begin, mut shape) = (vec![0; rank], self.shape.clone());
            (begin[axis], shape[axis]) = (cut(n), cut(n + 1) - cut(n));
            self.shard(&begin, &shape)
        };
        (0..count).map(shard).collect()
    }

    /// The outputs of the whole operation: a ReduceMax's maxima, what an ArgMax was asked for; of a Hardmax the winners'
    /// positions along their slices, as i64. [`Shard::hardmax`] makes its output of the same partials.
    ///
    /// # Errors
    /// [`Error::PartialsDiffer`] if they are of another reduction, or not of all of its outputs;
    /// [`Error::PartialsIncomplete`] if of some output no element was seen, or one that is none of the whole's.
    pub fn finish(&self, partials: &Partials) -> Result<Vec<Tensor>, Error> {
        self.check(partials)?;
        let records = &partials.records;
        let position = |&partial: &Partial| self.rule.position(partial);
        match &self.op {
            AnyOperation::ReduceMax(op) => Ok(vec![self.values(op.outputs()?.remove(0), records, op.empty)?]),
            AnyOperation::ArgMax(op) => {
                let types = op.outputs()?;
                let indices = indices(types[types.len() - 1].clone(), records.iter().map(position))?;
                Ok(match op.output {
                    ArgMaxOutput::Indices => vec![indices],
                    ArgMaxOutput::ValuesAndIndices => {
                        vec![self.values(types[0].clone(), records, EmptyMax::Error)?, indices]
                    }
                })
            }
            AnyOperation::Hardmax(_) | AnyOperation::Max(_) => {
                let winners = TensorType { dtype: DType::I64, shape: partials.shape.clone() };
                Ok(vec![indices(winners, records.iter().map(position))?])
            }
        }
    }

    /// Partials of all outputs, each of elements of the whole.
    pub(super) fn check(&self, partials: &Partials) -> Result<(), Error> {
        let expected = reduced_shape(&self.shape, &self.reduced, false);
        if partials.rule != self.rule || partials.shape != expected || partials.begin.iter().any(|&begin| begin > 0) {
            let expected = self.nothing().map_or(list(&expected), |nothing| nothing.name());
            return Err(Error::PartialsDiffer { given: partials.name(), expected });
        }
        let reduced: Vec<u64> = self.reduced.iter().map(|&d| self.shape[d]).collect();
        let len = checked_len(&reduced).unwrap_or(u64::MAX);
        let wrong = |&partial: &Partial| match partial.is_nothing() {
            true => len > 0,
            false => self.rule.position(partial) >= len.max(1) || !self.rule.has(partial),
        };
        match partials.records.iter().position(wrong) {
            Some(output) => Err(Error::PartialsIncomplete { output: output as u64 }),
            None => Ok(()),
        }
    }

    /// The maxima.
    fn values(&self, kind: TensorType, records: &[Partial], empty: EmptyMax) -> Result<Tensor, Error> {
        let size = kind.dtype.bytes() as usize;
        let mut bytes = room((records.len() * size) as u64)?;
        let nothing = crate::element::with_element_type!(kind.dtype, T => {
            use crate::Element;
            let mut own = [0; 8];
            (if empty == EmptyMax::LowestFinite { T::LOWEST_FINITE } else { T::LEAST }).write(&mut own[..size]);
            own
        });
        for &partial in records {
            let bits = if partial.is_nothing() { nothing } else { self.rule.bits(partial).to_le_bytes() };
            bytes.extend_from_slice(&bits[..size]);
        }
        Tensor::from_bytes(kind.dtype, kind.shape, bytes)
    }

    /// The same reduction of a contiguous tensor.
    fn part(&self, shape: &[u64]) -> Result<AnyOperation, Error> {
        let view = View::new(shape)?;
        let axes: Vec<i64> = self.reduced.iter().map(|&d| d as i64).collect();
        let Rule { dtype, nan, position } = self.rule;
        Ok(match position {
            None => ReduceMax::new(dtype, view).axes(axes).nan(nan).into(),
            Some(wins) => {
                let op = ArgMax::new(dtype, view).axes(axes).nan(nan).select_last(wins == Wins::Last);
                op.index(IndexType::I64).output(ArgMaxOutput::ValuesAndIndices).into()
            }
        })
    }
}

/// Positions as indices, of a type that holds them.
fn indices(kind: TensorType, positions: impl Iterator<Item = u64>) -> Result<Tensor, Error> {
    let size = kind.dtype.bytes() as usize;
    let mut bytes = room(kind.len().saturating_mul(size as u64))?;
    for position in positions {
        bytes.extend_from_slice(&position.to_le_bytes()[..size]);
    }
    Tensor::from_bytes(kind.dtype, kind.shape, bytes)
}

/// A box of a sharded tensor: a contiguous tensor by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Shard {
    whole: Sharded,
    begin: Vec<u64>,
    shape: Vec<u64>,
    operation: Option<AnyOperation>,
}

impl Shard {
    /// Its first index along each dimension of the whole.
    pub fn begin(&self) -> &[u64] {
        &self.begin
    }

    /// Its size along each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// What is to be done with its elements, a contiguous tensor: a ReduceMax, or an ArgMax that gives values and i64
    /// indices. Nothing where it has none.
    pub fn operation(&self) -> Option<&AnyOperation> {
        self.operation.as_ref()
    }

    /// Its elements, out of the whole tensor.
    ///
    /// # Errors
    /// [`Error::TypeMismatch`] and [`Error::TensorBytes`] if the tensor is not the whole's.
    pub fn elements(&self, whole: &Tensor) -> Result<Tensor, Error> {
        let Sharded { shape, rule: Rule { dtype, .. }, .. } = &self.whole;
        if whole.dtype() != *dtype {
            return Err(Error::TypeMismatch { input: 0, given: whole.dtype(), expected: *dtype });
        }
        let (kind, size) = (TensorType { dtype: *dtype, shape: shape.clone() }, dtype.bytes() as usize);
        let (given, expected) = (whole.bytes().len() as u64, kind.bytes().unwrap_or(u64::MAX));
        if given != expected {
            return Err(Error::TensorBytes { shape: kind.shape, dtype: *dtype, given, expected });
        }
        let own = TensorType { dtype: *dtype, shape: self.shape.clone() };
        let mut bytes = room(own.bytes().unwrap_or(u64::MAX))?;
        let run = self.shape.last().map_or(1, |&len| len.max(1));
        for first in (0..own.len()).step_by(run as usize) {
            let at = place(first, &self.begin, &self.shape, shape);
            bytes.extend_from_slice(&whole.bytes()[at as usize * size..][..run as usize * size]);
        }
        Tensor::from_bytes(*dtype, own.shape, bytes)
    }

    /// What the outputs of [its operation](Shard::operation) tell about the whole.
    ///
    /// # Errors
    /// [`Error::WrongCount`], [`Error::TypeMismatch`] and [`Error::TensorBytes`] for tensors that are not these outputs;
    /// [`Error::TooLarge`] if host memory does not hold 16 bytes for each output.
    pub fn partials(&self, answer: &[Tensor]) -> Result<Partials, Error> {
        let Sharded { reduced, rule, .. } = &self.whole;
        let begin = reduced_shape(&self.begin, reduced, false);
        let mut partials = Partials::nothing(*rule, begin, reduced_shape(&self.shape, reduced, false))?;
        let Some(op) = &self.operation else {
            return if answer.is_empty() { Ok(partials) } else { Err(wrong_count(answer.len(), 0)) };
        };
        let types = op.outputs()?;
        let needs = types.iter().map(|kind| InputNeed { dtype: kind.dtype, elements: kind.len(), bytes: 0 });
        check_inputs(&needs.collect::<Vec<_>>(), &answer.iter().collect::<Vec<_>>())?;
        let values = answer[0].bytes().chunks_exact(rule.dtype.bytes() as usize).map(little_endian);
        let place = self.places();
        let positions = answer.get(1).map_or(&[][..], Tensor::bytes).chunks_exact(8).map(little_endian).map(place);
        let positions = positions.chain(std::iter::repeat(0));
        for (partial, (bits, position)) in partials.records.iter_mut().zip(values.zip(positions)) {
            *partial = rule.partial(bits, position);
        }
        Ok(partials)
    }

    /// What the CPU reference finds in its elements.
    ///
    /// # Errors
    /// Those of [`Operation::reference`].
    pub fn reference(&self, elements: &Tensor) -> Result<Partials, Error> {
        match &self.operation {
            Some(op) => self.partials(&op.reference(&[elements])?),
            None => self.partials(&[]),
        }
    }

    /// Its part of a Hardmax's output, once the winners of the whole are known.
    ///
    /// # Errors
    /// [`Error::NoReduction`] if the operation is no Hardmax; else those of [`Sharded::finish`].
    pub fn hardmax(&self, partials: &Partials) -> Result<Tensor, Error> {
        let Sharded { op, rule, .. } = &self.whole;
        if !matches!(op, AnyOperation::Hardmax(_)) {
            return Err(Error::NoReduction { operator: op.name(), expected: "Hardmax" });
        }
        self.whole.check(partials)?;
        let size = rule.dtype.bytes() as usize;
        let kind = TensorType { dtype: rule.dtype, shape: self.shape.clone() };
        let mut bytes = room(kind.bytes().unwrap_or(u64::MAX))?;
        bytes.resize(kind.bytes().unwrap_or(0) as usize, 0);
        let one = one(rule.dtype);
        for (output, &partial) in partials.records.iter().enumerate() {
            if let Some(at) = self.element(output as u64, rule.position(partial)) {
                bytes[at as usize * size..][..size].copy_from_slice(&one[..size]);
            }
        }
        Tensor::from_bytes(kind.dtype, kind.shape, bytes)
    }

    /// Where the element lies here that an output of the whole has at this position, if it does.
    fn element(&self, mut output: u64, mut position: u64) -> Option<u64> {
        let Sharded { shape: whole, reduced, .. } = &self.whole;
        let (mut at, mut stride) = (0, 1);
        for d in (0..whole.len()).rev() {
            let rest = if reduced.contains(&d) { &mut position } else { &mut output };
            let index =
                rest.checked_rem(whole[d])?.checked_sub(self.begin[d]).filter(|&index| index < self.shape[d])?;
            *rest /= whole[d];
            at += index * stride;
            stride *= self.shape[d];
        }
        Some(at)
    }

    /// From a position among the elements that are reduced here to the one in the whole.
    fn places(&self) -> impl Fn(u64) -> u64 {
        let reduced = &self.whole.reduced;
        let [begin, shape, whole] = [&self.begin, &self.shape, &self.whole.shape]
            .map(|all| reduced.iter().map(|&d| all[d]).collect::<Vec<_>>());
        move |position| place(position, &begin, &shape, &whole)
    }
}

fn wrong_count(given: usize, expected: usize) -> Error {
    Error::WrongCount { what: "answers of a shard", given, expected }
}

fn little_endian(bytes: &[u8]) -> u64 {
    let mut own = [0; 8];
    own[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(own)
}

/// The number one.
fn one(dtype: DType) -> [u8; 8] {
    crate::element::with_element_type!(dtype, T => {
        use crate::Element;
        let mut own = [0; 8];
        T::ONE.write(&mut own[..size_of::<T>()]);
        own
    })
}
