//! Reductions beyond one binding: each pass takes a piece of the input that fits one.
//!
//! Where the outputs can be cut into slabs whose input fits a binding, each slab is a reduction of its own. Otherwise
//! every piece leaves partial results in scratch, at the places that they have in the whole, and a last pass finishes
//! them, for as many outputs at a time as scratch has room for.

use std::cmp::Reverse;
use std::ops::Range;
use std::{iter, slice};

use super::dims::{MAX_ELEMENTS, Window, blocks, gcd, places, window_elements, word};
use super::reduction::{Reduction, Setup, Source, partials, scratch_budget};
use super::tuning::{Tuning, power_of_two_below, tuning};
use super::{
    Access, Binding, Constant, MAX_PASSES, Operator, Pass, Placement, Store, binding_step, check_binding, check_count,
    too_many,
};
use crate::{Error, Limits};

/// The most outputs of a piece: a shader counts the elements of surplus invocations, too.
const MAX_OUTPUTS: u64 = 1 << 26;

pub(super) fn passes(reduction: &Reduction, limits: &Limits) -> Result<Vec<Pass>, Error> {
    let input = Input::new(reduction, limits)?;
    let Some(&outermost) = input.kept.iter().find(|&&d| input.sizes[d] > 1) else { return input.pieces(limits) };
    let outputs = reduction.out_len / input.sizes[outermost];
    let Some(slabs) = input.slabs(outermost, outputs, &reduction.target_bytes(), limits)? else {
        return input.pieces(limits);
    };
    let mut passes = Vec::new();
    for slab in slabs {
        let out_len = slab.len * outputs;
        let targets = reduction.targets(slab.first * outputs, out_len);
        let own = Reduction { sources: vec![slab.source], targets, out_len, ..reduction.clone() };
        passes.extend(own.whole(&own.setup(limits)?, limits)?);
    }
    Ok(passes)
}

/// Slabs along a kept dimension, each index of which has so many `outputs`, elements of these sizes; nothing where a
/// slab's input or its outputs do not fit a binding.
pub(super) fn slabs(
    reduction: &Reduction,
    dimension: usize,
    outputs: u64,
    target_bytes: &[u64],
    limits: &Limits,
) -> Result<Option<Vec<Slab>>, Error> {
    Input::new(reduction, limits)?.slabs(dimension, outputs, target_bytes, limits)
}

/// A reduction's input as a whole.
struct Input<'a> {
    reduction: Reduction<'a>,
    /// Where each source begins along the outermost dimension.
    begins: Vec<u64>,
    sizes: Vec<u64>,
    kept: Vec<usize>,
    /// For each dimension the greatest stride of all sources.
    strides: Vec<u64>,
    places: Vec<u64>,
    /// The position of the first element, if repeated ones are left out: then positions are not counted on.
    repeats_from: Option<u64>,
    /// The most elements of a window.
    window_elements: u64,
    /// The most outputs of a piece.
    most_tasks: u64,
    tuning: Tuning,
}

/// A box of indices: a range for each dimension.
type Indices = Vec<Range<u64>>;

impl<'a> Input<'a> {
    fn new(reduction: &Reduction<'a>, limits: &Limits) -> Result<Input<'a>, Error> {
        let mut reduction = reduction.clone();
        let shape = |sources: &[Source]| -> Vec<u64> {
            let mut sizes = sources[0].view.shape().to_vec();
            if let Some(first) = sizes.first_mut() {
                *first = sources.iter().map(|source| source.view.shape()[0]).sum();
            }
            sizes
        };
        let places = places(&shape(&reduction.sources), reduction.reduced);
        let repeats_from = leave_out_repeated(&mut reduction, &places)?;
        let sources = &reduction.sources;
        let sizes = shape(sources);
        let mut end = 0;
        let begins = sources.iter().map(|source| {
            let begin = end;
            end += source.view.shape().first().unwrap_or(&1);
            begin
        });
        let begins = begins.collect();
        let stride = |d: usize| sources.iter().map(|source| source.view.strides()[d].unsigned_abs()).max().unwrap_or(0);
        let strides = (0..sizes.len()).map(stride).collect();
        let kept = (0..sizes.len()).filter(|d| !reduction.reduced.contains(d)).collect();
        let window_elements = window_elements(reduction.dtype, limits)?;
        let tuning = tuning(limits);
        let reduce_len = reduction.reduced.iter().fold(1, |product: u64, &d| product.saturating_mul(sizes[d]));
        let most_tasks = most_tasks(reduce_len, &tuning);
        Ok(Input { reduction, begins, sizes, kept, strides, places, repeats_from, window_elements, most_tasks, tuning })
    }

    /// The elements from the first of a box to its last, at most.
    fn span(&self, lens: &[u64]) -> u64 {
        let reaches = self.strides.iter().zip(lens).map(|(stride, len)| stride.saturating_mul(len - 1));
        reaches.fold(1, u64::saturating_add)
    }

    fn product(&self, lens: &[u64], dimensions: &[usize]) -> u64 {
        dimensions.iter().fold(1, |product, &d| product.saturating_mul(lens[d]))
    }

    /// Slabs along a kept dimension, if they fit bindings on both sides: each index of it has so many `outputs`, with
    /// elements of these sizes.
    fn slabs(
        &self,
        dimension: usize,
        outputs: u64,
        target_bytes: &[u64],
        limits: &Limits,
    ) -> Result<Option<Vec<Slab>>, Error> {
        let Some(most) = self.slab_len(dimension, outputs, target_bytes, limits) else { return Ok(None) };
        let mut slabs = Vec::new();
        for (Source { slot, view }, &source_begin) in self.reduction.sources.iter().zip(&self.begins) {
            let size = view.shape()[dimension];
            for Range { start, end } in blocks(0..size, most) {
                let len = end - start;
                let source = Source { slot: *slot, view: view.slice(dimension, start, len, 1)? };
                slabs.push(Slab { first: source_begin + start, len, source });
                check_count(slabs.len())?;
            }
        }
        Ok(Some(slabs))
    }

    fn slab_len(&self, dimension: usize, outputs: u64, target_bytes: &[u64], limits: &Limits) -> Option<u64> {
        let (size, stride) = (self.sizes[dimension], self.strides[dimension]);
        let positions = self.product(&self.sizes, self.reduction.reduced);
        let several = self.begins.len() > 1 && dimension != 0;
        let counted = self.reduction.operator == Operator::ReduceMax || self.repeats_from.is_none();
        if several || !counted || positions > MAX_ELEMENTS {
            return None;
        }
        let output_step = binding_step(target_bytes, limits);
        let step = output_step / gcd(output_step, outputs);
        let mut lens = self.sizes.clone();
        lens[dimension] = 1;
        let left = self.window_elements.checked_sub(self.span(&lens))?;
        let most = left.checked_div(stride).map_or(size, |more| more.saturating_add(1));
        let len = most.min(most_outputs(target_bytes, limits).min(self.most_tasks) / outputs) / step * step;
        let begins_fit = self.begins.iter().all(|begin| (begin * outputs).is_multiple_of(output_step));
        (len > 0 && begins_fit).then_some(len)
    }

    /// The passes where pieces are finished together.
    fn pieces(&self, limits: &Limits) -> Result<Vec<Pass>, Error> {
        let lens = self.piece_lens();
        let ranges: Vec<Indices> =
            lens.iter().enumerate().map(|(d, &len)| self.ranges(d, len)).collect::<Result<_, _>>()?;
        let mut reduced_boxes = boxes(self.reduction.reduced.iter().map(|&d| &ranges[d]), MAX_PASSES)?;
        let elements = |indices: &Indices| indices.iter().map(|range| range.end - range.start).product::<u64>();
        // The one of most chunks first; the others' order does not matter, and sorting them is a lot of code.
        let largest = (0..reduced_boxes.len()).min_by_key(|&n| Reverse(elements(&reduced_boxes[n])));
        largest.into_iter().for_each(|n| reduced_boxes.swap(0, n));
        let record_bytes = self.record_words() * 4;
        let seen = self.reduction.out_len.saturating_mul(self.product(&self.sizes, self.reduction.reduced));
        let budget = scratch_budget(self.reduction.dtype, seen, self.sources_span()).min(limits.max_binding_bytes);
        let target_bytes = self.reduction.target_bytes();
        let step = binding_step(&target_bytes, limits);
        let outputs_paid = budget / record_bytes;
        let tile = (outputs_paid.min(most_outputs(&target_bytes, limits)).min(MAX_OUTPUTS) / step).max(1) * step;
        let tile = tile.min(self.reduction.out_len);
        let most_chunks = outputs_paid / tile;
        let mut passes = Vec::new();
        for outputs in blocks(0..self.reduction.out_len, tile) {
            self.tile(outputs, &reduced_boxes, &ranges, most_chunks, limits, &mut passes)?;
        }
        Ok(passes)
    }

    /// The passes for some outputs: their pieces, then the one that finishes them.
    fn tile(
        &self,
        outputs: Range<u64>,
        reduced_boxes: &[Indices],
        ranges: &[Indices],
        most_chunks: u64,
        limits: &Limits,
        passes: &mut Vec<Pass>,
    ) -> Result<(), Error> {
        let out_len = outputs.end - outputs.start;
        let kept_boxes = self.kept_boxes(&outputs, ranges)?;
        // The first pieces leave so many records for each output; all others merge theirs into these.
        let mut records = 0;
        for (n, reduced) in reduced_boxes.iter().enumerate() {
            let piece = |kept| self.piece(kept, reduced, limits);
            let mut pieces = kept_boxes.iter().map(piece).collect::<Result<Vec<_>, _>>()?;
            check_count(passes.len() + pieces.len())?;
            if n == 0 {
                records = Self::cut_alike(&mut pieces, most_chunks)?;
            }
            for piece in &mut pieces {
                if n > 0 {
                    piece.reduction.constants.push(Constant::Continues);
                    piece.setup.cut = piece.reduction.cut(&piece.setup.problem, records, &piece.setup.tuning)?;
                }
                passes.push(self.scan(piece, &outputs, records, limits)?);
            }
        }
        let targets = self.reduction.targets(outputs.start, out_len);
        let own = Reduction { targets, out_len, ..self.reduction.clone() };
        let access = match own.operator {
            Operator::ReduceMax => Access::Finish,
            Operator::ArgMax => Access::FinishPieces,
        };
        passes.push(own.finish(access, records, self.partials(out_len, records, limits)?, limits)?);
        Ok(())
    }

    /// Cuts pieces of the same reduced elements into as many chunks each, and says into how many.
    fn cut_alike(pieces: &mut [Piece], most_chunks: u64) -> Result<u64, Error> {
        let mut chunks = 1;
        for piece in pieces.iter_mut() {
            piece.setup.cut = piece.reduction.cut(&piece.setup.problem, most_chunks, &piece.setup.tuning)?;
            chunks = chunks.max(piece.setup.cut.chunks);
        }
        for piece in pieces.iter_mut() {
            piece.setup.cut = piece.setup.cut.split(&piece.setup.problem, chunks);
        }
        let alike = pieces.windows(2).all(|pair| pair[0].setup.cut.chunks == pair[1].setup.cut.chunks);
        match alike {
            true => Ok(pieces.first().map_or(0, |piece| piece.setup.cut.chunks)),
            false => Self::cut_alike(pieces, 1), // sources of different strides come in different runs
        }
    }

    fn scan(&self, piece: &Piece, outputs: &Range<u64>, records: u64, limits: &Limits) -> Result<Pass, Error> {
        let problem = &piece.setup.problem;
        let placement = Placement {
            records: word(records)?,
            first_record: word((piece.first_output - outputs.start) * records)?,
            first_position: self.repeats_from.unwrap_or(0) + piece.first_position,
            run_place: problem.run().place,
            column_place: match piece.setup.cut.access {
                Access::Columns => word(problem.kept.first().map_or(1, |columns| columns.place))?,
                _ => 1,
            },
        };
        let partials = self.partials(outputs.end - outputs.start, records, limits)?;
        piece.reduction.scan(&piece.setup, Store::Piece, &[partials], placement, limits)
    }

    fn partials(&self, outputs: u64, records: u64, limits: &Limits) -> Result<Binding, Error> {
        let bytes = outputs * records * self.record_words() * 4;
        check_binding("bytes of partial results", bytes, limits)?;
        Ok(partials(bytes))
    }

    /// A piece: these of the kept indices, and these of the reduced ones.
    fn piece(&self, kept: &Indices, reduced: &Indices, limits: &Limits) -> Result<Piece<'a>, Error> {
        let mut indices = vec![0..1; self.sizes.len()];
        self.kept.iter().zip(kept).for_each(|(&d, range)| indices[d] = range.clone());
        self.reduction.reduced.iter().zip(reduced).for_each(|(&d, range)| indices[d] = range.clone());
        let first = |dimensions: &[usize]| dimensions.iter().map(|&d| indices[d].start * self.places[d]).sum();
        let (first_output, first_position) = (first(&self.kept), first(self.reduction.reduced));
        let (n, begin) = match indices.first() {
            Some(range) => self.source(range.start),
            None => (0, 0),
        };
        let Source { slot, view } = &self.reduction.sources[n];
        let mut view = view.clone();
        for (d, range) in indices.iter().enumerate() {
            let from = if d == 0 { range.start - begin } else { range.start };
            view = view.slice(d, from, range.end - range.start, 1)?;
        }
        let window = Window::new(self.reduction.dtype, &view, *slot, limits)?;
        let problem = self.reduction.problem(&view, &window, &self.places)?;
        let out_len = problem.outputs();
        let reduction = Reduction { store: Store::Piece, out_len, ..self.reduction.clone() };
        let cut =
            super::reduction::Cut { access: Access::Strided, team: 1, chunk_len: problem.reduce_len(), chunks: 1 };
        let tuning = self.tuning.for_rows(problem.reduce_len());
        let setup = Setup { tuning, problem, window: window.binding, cut };
        Ok(Piece { reduction, setup, first_output, first_position })
    }

    /// The source that an index of the outermost dimension lies in, and where it begins.
    fn source(&self, index: u64) -> (usize, u64) {
        let n = self.begins.partition_point(|&begin| begin <= index) - 1;
        (n, self.begins[n])
    }

    fn sources_span(&self) -> u64 {
        let span = |source: &Source| {
            let (low, high) = source.view.extent();
            high - low + 1
        };
        self.reduction.sources.iter().map(span).fold(0, u64::saturating_add)
    }

    /// Words of a piece's partial result.
    fn record_words(&self) -> u64 {
        self.reduction.dtype.key_words() + if self.reduction.operator == Operator::ArgMax { 2 } else { 0 }
    }

    /// For each dimension how many indices a piece has, so that its elements fit a window. Cut first is what reaches
    /// farthest, so that pieces are as contiguous as the input is.
    fn piece_lens(&self) -> Vec<u64> {
        let mut lens = self.sizes.clone();
        loop {
            let farthest = |dimensions: &mut dyn Iterator<Item = usize>, lens: &[u64]| {
                let reach = |d: &usize| (self.strides[*d].saturating_mul(lens[*d] - 1), lens[*d]);
                dimensions.filter(|&d| lens[d] > 1).max_by_key(reach)
            };
            let span = self.span(&lens);
            let (dimension, len) = if span > self.window_elements {
                let Some(d) = farthest(&mut (0..lens.len()), &lens) else { break };
                let others = span.saturating_sub(self.strides[d].saturating_mul(lens[d] - 1));
                match self.window_elements.checked_sub(others) {
                    Some(left) => (d, (left / self.strides[d] + 1).min(lens[d] - 1)),
                    None => (d, lens[d] / 2), // another must be cut, too
                }
            } else if self.product(&lens, &self.kept) > self.most_tasks {
                let Some(d) = farthest(&mut self.kept.iter().copied(), &lens) else { break };
                (d, lens[d] / 2)
            } else if self.product(&lens, self.reduction.reduced) > MAX_ELEMENTS {
                let Some(d) = farthest(&mut self.reduction.reduced.iter().copied(), &lens) else { break };
                (d, lens[d] / 2)
            } else {
                break;
            };
            // Whole packs, where there are many: then the next piece begins with one.
            lens[dimension] = if len > 512 { len - len % 256 } else { len };
        }
        lens
    }

    /// A dimension's indices, so many at a time; along the outermost one no range leaves its source.
    fn ranges(&self, dimension: usize, len: u64) -> Result<Indices, Error> {
        let count = self.sizes[dimension].div_ceil(len);
        if count > MAX_PASSES as u64 {
            return Err(too_many(count));
        }
        if dimension > 0 {
            return Ok(blocks(0..self.sizes[dimension], len).collect());
        }
        let ends = self.begins[1..].iter().chain(&self.sizes[..1]);
        Ok(self.begins.iter().zip(ends).flat_map(|(&begin, &end)| blocks(begin..end, len)).collect())
    }

    /// The kept indices of consecutive outputs, as boxes that lie in one of the ranges of each dimension.
    fn kept_boxes(&self, outputs: &Range<u64>, ranges: &[Indices]) -> Result<Vec<Indices>, Error> {
        let shape: Vec<u64> = self.kept.iter().map(|&d| self.sizes[d]).collect();
        let mut cut = Vec::new();
        for kept in consecutive(&shape, outputs.clone()) {
            let within = kept.iter().zip(&self.kept).map(|(range, &d)| overlaps(range, &ranges[d]));
            cut.extend(boxes(within.collect::<Vec<_>>().iter(), MAX_PASSES - cut.len().min(MAX_PASSES))?);
        }
        Ok(cut)
    }
}

/// Some indices of a kept dimension, whose input fits a window.
pub(super) struct Slab {
    /// The first of them.
    pub first: u64,
    /// How many there are.
    pub len: u64,
    pub source: Source,
}

/// What one pass reads of a reduction in pieces.
struct Piece<'a> {
    reduction: Reduction<'a>,
    setup: Setup,
    first_output: u64,
    first_position: u64,
}

/// Of a dimension that is reduced and repeats one index, one is enough: the one whose position wins.
/// The position of the first element then.
fn leave_out_repeated(reduction: &mut Reduction, places: &[u64]) -> Result<Option<u64>, Error> {
    let last = reduction.constants.contains(&Constant::Last);
    let mut first_position = None;
    for &d in reduction.reduced {
        let repeats = |source: &Source| source.view.strides()[d] == 0 && source.view.shape()[d] > 1;
        if reduction.sources.iter().all(repeats) && (d > 0 || reduction.sources.len() == 1) {
            let source = &mut reduction.sources;
            let index = if last { source[0].view.shape()[d] - 1 } else { 0 };
            *first_position.get_or_insert(0) += index * places[d];
            for source in source {
                source.view = source.view.slice(d, index, 1, 1)?;
            }
        }
    }
    Ok(first_position)
}

/// Consecutive elements of a row-major tensor, as boxes of it.
fn consecutive(shape: &[u64], elements: Range<u64>) -> Vec<Indices> {
    let Some((_, inner)) = shape.split_first() else { return vec![vec![]] };
    let unit: u64 = inner.iter().product();
    let within = |index: u64, elements: Range<u64>| {
        let inner = consecutive(inner, elements.start - index * unit..elements.end - index * unit);
        inner.into_iter().map(move |rest| iter::once(index..index + 1).chain(rest).collect())
    };
    let (first, last) = (elements.start / unit, (elements.end - 1) / unit);
    let (whole, end) = (elements.start.div_ceil(unit), elements.end / unit);
    let mut all = Vec::new();
    if whole > end {
        all.extend(within(first, elements)); // part of one index
        return all;
    }
    if whole > first {
        all.extend(within(first, elements.start..whole * unit));
    }
    if end > whole {
        let full = inner.iter().map(|&size| 0..size);
        all.push(iter::once(whole..end).chain(full).collect());
    }
    if end == last {
        all.extend(within(last, end * unit..elements.end));
    }
    all
}

/// What a range has in common with each of several.
fn overlaps(range: &Range<u64>, others: &Indices) -> Indices {
    let overlap = |other: &Range<u64>| range.start.max(other.start)..range.end.min(other.end);
    others.iter().map(overlap).filter(|overlap| !overlap.is_empty()).collect()
}

/// Every box that has one of the ranges of each dimension, row-major.
fn boxes<'b>(ranges: impl Iterator<Item = &'b Indices>, most: usize) -> Result<Vec<Indices>, Error> {
    let mut all: Vec<Indices> = vec![vec![]];
    for ranges in ranges {
        let given = (all.len() as u64).saturating_mul(ranges.len() as u64);
        if given > most as u64 {
            return Err(too_many(given));
        }
        let with = |known: Indices| ranges.iter().map(move |range| [&known[..], slice::from_ref(range)].concat());
        all = all.into_iter().flat_map(with).collect();
    }
    Ok(all)
}

/// The most outputs of these sizes that fit a binding each.
fn most_outputs(target_bytes: &[u64], limits: &Limits) -> u64 {
    let most = |bytes: &u64| limits.max_binding_bytes / bytes;
    target_bytes.iter().map(most).min().unwrap_or(0)
}

/// The most outputs of a pass, each of so many elements, with whatever teams it takes.
fn most_tasks(reduce_len: u64, tuning: &Tuning) -> u64 {
    let team = power_of_two_below(reduce_len).min(tuning.max_team);
    (tuning.most_invocations / team).min(MAX_OUTPUTS)
}
