//! A reduction over a whole tensor, and its shards.

use super::partial::{Partial, Partials, Rule, Wins, place};
use crate::element::{Element, with_element_type};
use crate::op::reduced_shape;
use crate::tensor::{ANSWER, room};
use crate::view::checked_len;
use crate::{
    AnyOperation, ArgMax, ArgMaxOutput, DType, EmptyMax, Error, IndexType, Operation, ReduceMax, Tensor, TensorType,
    View,
};

/// A ReduceMax, an ArgMax, or a Hardmax's search for its winners, over a tensor that need not exist in one place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// outermost dimension of at least so many indices, or else along the longest one. Of a scalar there is one.
    ///
    /// # Errors
    /// Those of [`Sharded::shard`]; [`Error::TooLarge`] if host memory does not hold so many.
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
        let mut shards = room("bytes of shards in host memory", count)?; // callers name any number
        for n in 0..count {
            shards.push(shard(n)?);
        }
        Ok(shards)
    }

    /// The outputs of the whole operation: a ReduceMax's maxima, what an ArgMax was asked for; of a Hardmax the winners'
    /// positions along their slices, as i64. [`Shard::hardmax`] makes its output of the same partials.
    ///
    /// # Errors
    /// [`Error::PartialsDiffer`] if they are of another type, of other options, or not of all of its outputs;
    /// [`Error::PartialsIncomplete`] if of some output no element was seen, or one that is none of the whole's. Partials do
    /// not tell which dimensions they were reduced over: that is for the caller to keep apart.
    pub fn finish(&self, partials: &Partials) -> Result<Vec<Tensor>, Error> {
        let expected = reduced_shape(&self.shape, &self.reduced, false);
        if partials.rule != self.rule || partials.shape != expected || partials.begin.iter().any(|&begin| begin > 0) {
            let expected = self.rule.of_outputs(&vec![0; expected.len()], &expected);
            return Err(Error::PartialsDiffer { given: partials.name(), expected });
        }
        let types = self.output_types()?;
        let bytes = self.output_bytes(&partials.records)?;
        types.into_iter().zip(bytes).map(|(kind, bytes)| Tensor::from_bytes(kind.dtype, kind.shape, bytes)).collect()
    }

    pub(super) fn rule(&self) -> Rule {
        self.rule
    }

    /// The outputs of partials: those of the operation, or a Hardmax's winners.
    pub(super) fn output_types(&self) -> Result<Vec<TensorType>, Error> {
        match &self.op {
            AnyOperation::Hardmax(_) => {
                let shape = reduced_shape(&self.shape, &self.reduced, false);
                Ok(vec![TensorType { dtype: DType::I64, shape }])
            }
            op => op.outputs(),
        }
    }

    /// The bytes of outputs of which all is known.
    pub(crate) fn output_bytes(&self, records: &[Partial]) -> Result<Vec<Vec<u8>>, Error> {
        let positions = self.positions(records)?;
        let types = self.output_types()?;
        match (self.rule.position, &types[..]) {
            (None, _) => Ok(vec![self.values(records)?]),
            (Some(_), [indices]) => Ok(vec![positions_as(indices.dtype, &positions)?]),
            (Some(_), [.., indices]) => Ok(vec![self.values(records)?, positions_as(indices.dtype, &positions)?]),
            (Some(_), []) => Ok(vec![]),
        }
    }

    /// The winners' positions, once it is known that each output is one of elements of the whole.
    fn positions(&self, records: &[Partial]) -> Result<Vec<u64>, Error> {
        let mut positions = room(ANSWER, records.len() as u64)?;
        for (output, &partial) in records.iter().enumerate() {
            positions.push(self.position(partial).ok_or(Error::PartialsIncomplete { output: output as u64 })?);
        }
        Ok(positions)
    }

    /// The winner's position; nothing where the partial is none of an element of the whole.
    fn position(&self, partial: Partial) -> Option<u64> {
        let len = self.reduced.iter().fold(1_u64, |len, &d| len.saturating_mul(self.shape[d]));
        let position = self.rule.position(partial);
        let is_one = match partial.is_nothing() {
            true => len == 0,
            false => position < len && self.rule.is_possible(partial),
        };
        is_one.then_some(position)
    }

    /// The maxima's bytes.
    fn values(&self, records: &[Partial]) -> Result<Vec<u8>, Error> {
        let lowest = matches!(&self.op, AnyOperation::ReduceMax(op) if op.empty == EmptyMax::LowestFinite);
        let nothing = with_element_type!(self.rule.dtype, T => {
            element_bytes(if lowest { T::LOWEST_FINITE } else { T::LEAST })
        });
        let size = self.rule.dtype.bytes() as usize;
        let mut bytes = room(ANSWER, (records.len() * size) as u64)?;
        for &partial in records {
            let own = if partial.is_nothing() { nothing } else { self.rule.bits(partial).to_le_bytes() };
            bytes.extend_from_slice(&own[..size]);
        }
        Ok(bytes)
    }

    /// The operation, normalized: the tensor's shape, not how it lies; the axes, not how they are named; what is found.
    #[cfg(feature = "gpu")]
    pub(crate) fn normalized(&self) -> AnyOperation {
        let mut whole = self.over(&self.shape).unwrap_or_else(|_| self.op.clone()); // a view of the shape there is
        let axes = crate::Axes::List(self.reduced.iter().map(|&d| d as i64).collect());
        match &mut whole {
            AnyOperation::ReduceMax(op) => (op.axes, op.keep_dims) = (axes, false),
            AnyOperation::ArgMax(op) => (op.axes, op.keep_dims) = (axes, false),
            AnyOperation::Hardmax(op) => {
                op.slices = match self.reduced[..] {
                    [d] => crate::Slices::Along(d as i64),
                    // Where nothing is reduced slices begin behind the last axis: at the rank, as they are named.
                    _ => crate::Slices::From(self.reduced.first().map_or(self.shape.len(), |&d| d) as i64),
                };
            }
            AnyOperation::Max(_) => {}
        }
        whole
    }

    /// The whole operation over a contiguous tensor of another shape.
    #[cfg(feature = "gpu")]
    pub(crate) fn over(&self, shape: &[u64]) -> Result<AnyOperation, Error> {
        let input = View::new(shape)?.into();
        Ok(match self.op.clone() {
            AnyOperation::ReduceMax(op) => ReduceMax { input, ..op }.into(),
            AnyOperation::ArgMax(op) => ArgMax { input, ..op }.into(),
            AnyOperation::Hardmax(op) => crate::Hardmax { input, ..op }.into(),
            AnyOperation::Max(op) => op.into(),
        })
    }

    /// The partials of the outputs that have these outermost indices, kept ones, of which nothing is known.
    #[cfg(feature = "gpu")]
    pub(crate) fn nothing_at(&self, outer: &[u64]) -> Result<Partials, Error> {
        let mut shape = reduced_shape(&self.shape, &self.reduced, false);
        let mut begin = vec![0; shape.len()];
        begin[..outer.len()].copy_from_slice(outer);
        shape[..outer.len()].fill(1);
        Partials::nothing(self.rule, begin, shape)
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
fn positions_as(dtype: DType, positions: &[u64]) -> Result<Vec<u8>, Error> {
    let size = dtype.bytes() as usize;
    let mut bytes = room(ANSWER, (positions.len() * size) as u64)?;
    positions.iter().for_each(|position| bytes.extend_from_slice(&position.to_le_bytes()[..size]));
    Ok(bytes)
}

/// An element's little-endian bytes, and zeros.
fn element_bytes<T: Element>(element: T) -> [u8; 8] {
    let mut bytes = [0; 8];
    element.write(&mut bytes[..size_of::<T>()]);
    bytes
}

/// A box of a sharded tensor: a contiguous tensor by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
        check_tensor(whole, "the tensor", &TensorType { dtype: *dtype, shape: shape.clone() })?;
        let size = dtype.bytes() as usize;
        let own = TensorType { dtype: *dtype, shape: self.shape.clone() };
        let mut bytes = room("bytes of a shard in host memory", own.bytes().unwrap_or(u64::MAX))?;
        if own.len() == 0 {
            return Tensor::from_bytes(*dtype, own.shape, bytes); // though other dimensions may be long
        }
        let run = self.shape.last().map_or(1, |&len| len);
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
        let types = self.operation.as_ref().map_or(Ok(vec![]), Operation::outputs)?;
        if answer.len() != types.len() {
            return Err(Error::WrongCount { what: "answers of a shard", given: answer.len(), expected: types.len() });
        }
        for (n, (own, kind)) in answer.iter().zip(&types).enumerate() {
            check_tensor(own, &format!("answer {n} of a shard"), kind)?;
        }
        let Some(values) = answer.first() else { return Ok(partials) };
        let values = values.bytes().chunks_exact(rule.dtype.bytes() as usize).map(little_endian);
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

    /// Its part of a Hardmax's output, once the winners of its slices are known.
    ///
    /// # Errors
    /// [`Error::NoReduction`] if the operation is no Hardmax; [`Error::PartialsDiffer`] and [`Error::PartialsIncomplete`] for
    /// partials of other slices, or of not all of their elements.
    pub fn hardmax(&self, partials: &Partials) -> Result<Tensor, Error> {
        let Sharded { op, reduced, rule, .. } = &self.whole;
        if !matches!(op, AnyOperation::Hardmax(_)) {
            return Err(Error::NoReduction { operator: op.name(), expected: "Hardmax" });
        }
        let [begin, shape] = [&self.begin, &self.shape].map(|all| reduced_shape(all, reduced, false));
        let at = partials.place_of(*rule, &begin, &shape)?;
        let size = rule.dtype.bytes() as usize;
        let len = TensorType { dtype: rule.dtype, shape: self.shape.clone() }.bytes().unwrap_or(u64::MAX);
        let mut bytes = room(ANSWER, len)?;
        bytes.resize(len as usize, 0);
        let one = with_element_type!(rule.dtype, T => element_bytes(T::ONE));
        let slices = if len > 0 { checked_len(&shape).unwrap_or(0) } else { 0 };
        for n in 0..slices {
            let output = place(n, &at, &shape, &partials.shape);
            let winner = self.whole.position(partials.records[output as usize]);
            let winner = winner.ok_or(Error::PartialsIncomplete { output })?;
            if let Some(at) = self.element(n, winner) {
                bytes[at as usize * size..][..size].copy_from_slice(&one[..size]);
            }
        }
        Tensor::from_bytes(rule.dtype, self.shape.clone(), bytes)
    }

    /// Where the element lies here that one of the outputs here has at a position in the whole, if it does.
    fn element(&self, mut output: u64, mut position: u64) -> Option<u64> {
        let Sharded { shape: whole, reduced, .. } = &self.whole;
        let (mut at, mut stride) = (0, 1);
        for d in (0..whole.len()).rev() {
            let (rest, size, begin) = match reduced.contains(&d) {
                true => (&mut position, whole[d], self.begin[d]),
                false => (&mut output, self.shape[d], 0),
            };
            let index = (*rest % size).checked_sub(begin).filter(|&index| index < self.shape[d])?;
            *rest /= size;
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

/// Whether a tensor has such elements, and so many.
fn check_tensor(given: &Tensor, name: &str, expected: &TensorType) -> Result<(), Error> {
    let &TensorType { dtype, ref shape } = expected;
    if given.dtype() != dtype {
        return Err(Error::TypeMismatch { tensor: name.into(), given: given.dtype(), expected: dtype });
    }
    let (given, expected) = (given.bytes().len() as u64, expected.bytes().unwrap_or(u64::MAX));
    if given != expected {
        return Err(Error::TensorBytes { shape: shape.clone(), dtype, given, expected });
    }
    Ok(())
}

fn little_endian(bytes: &[u8]) -> u64 {
    let mut own = [0; 8];
    own[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(own)
}
