//! Reductions beyond one binding: each pass takes a piece of the input that fits one.
//!
//! Where the outputs can be cut into slabs whose input fits a binding, each slab is a reduction of its own. Otherwise
//! every piece leaves partial results in scratch, at the places that they have in the whole, and a last pass finishes
//! them, for as many outputs at a time as scratch has room for.

use std::ops::Range;
use std::{iter, slice};

use super::dims::{MAX_ELEMENTS, Window, blocks, boxed, gcd, places, window_elements, word};
use super::fill::fill;
use super::reduction::{MAX_STEPS, Reduction, Setup, Source, partials, scratch_budget};
use super::tuning::{Tuning, tuning};
use super::{
    Access, Binding, Constant, MAX_PASSES, Operator, Pass, Passes, Placement, Store, binding_step, check_binding,
    check_count, too_many,
};
use crate::{Error, Limits, View};

/// The most outputs that an invocation of a finishing pass takes, on a device of few invocations.
const MAX_FINISHES: u64 = 16;

/// The most outputs of a piece: a shader counts the elements of surplus invocations, too.
const MAX_OUTPUTS: u64 = 1 << 26;

pub(super) fn passes(reduction: &Reduction, sources: &[Source], limits: &Limits) -> Result<Passes, Error> {
    let input = Input::new(reduction, sources, limits)?;
    match input.slab_passes(limits) {
        Ok(Some(passes)) => Ok(passes),
        Ok(None) | Err(Error::TooLarge { .. }) => input.pieces(limits),
        Err(error) => Err(error),
    }
}

/// Slabs along a kept dimension, each index of which has so many `outputs`, elements of these sizes; nothing where a
/// slab's input or its outputs do not fit a binding.
pub(super) fn slabs(
    reduction: &Reduction,
    sources: &[Source],
    dimension: usize,
    outputs: u64,
    target_bytes: &[u64],
    limits: &Limits,
) -> Result<Option<Vec<Slab>>, Error> {
    Input::new(reduction, sources, limits)?.slabs(dimension, outputs, target_bytes, limits)
}

/// A reduction's input as a whole.
struct Input<'a> {
    reduction: &'a Reduction<'a>,
    /// The same, of one piece after another.
    piecewise: Reduction<'a>,
    sources: Vec<Source>,
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
    /// The most outputs of a slab.
    most_tasks: u64,
    tuning: Tuning,
}

/// A box of indices: a range for each dimension.
type Indices = Vec<Range<u64>>;

impl<'a> Input<'a> {
    fn new(reduction: &'a Reduction<'a>, sources: &[Source], limits: &Limits) -> Result<Input<'a>, Error> {
        let mut sources = sources.to_vec();
        let shape = |sources: &[Source]| -> Vec<u64> {
            let mut sizes = sources[0].view.shape().to_vec();
            if let Some(first) = sizes.first_mut() {
                *first = sources.iter().map(|source| source.view.shape()[0]).sum();
            }
            sizes
        };
        let places = places(&shape(&sources), reduction.reduced);
        let repeats_from = leave_out_repeated(reduction, &mut sources, &places)?;
        let sizes = shape(&sources);
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
        let share = (MAX_STEPS / Reduction::most_steps(reduce_len, sizes.len() as u64, &tuning)).max(1);
        let most_tasks = tuning.most_invocations.saturating_mul(share).min(MAX_OUTPUTS);
        Ok(Input {
            reduction,
            piecewise: Reduction { store: Store::Piece, ..reduction.clone() },
            sources,
            begins,
            sizes,
            kept,
            strides,
            places,
            repeats_from,
            window_elements,
            most_tasks,
            tuning,
        })
    }

    /// The passes, if slabs along the outermost kept dimension fit, each a reduction of its own.
    fn slab_passes(&self, limits: &Limits) -> Result<Option<Passes>, Error> {
        let Some(&outermost) = self.kept.iter().find(|&&d| self.sizes[d] > 1) else { return Ok(None) };
        let outputs = self.reduction.out_len / self.sizes[outermost];
        let target_bytes = self.reduction.target_bytes();
        let Some(slabs) = self.slabs(outermost, outputs, &target_bytes, limits)? else { return Ok(None) };
        let mut passes = Passes::default();
        for slab in slabs {
            let out_len = slab.len * outputs;
            let targets = self.reduction.targets(slab.first * outputs, out_len);
            let own = Reduction { targets, out_len, ..self.reduction.clone() };
            passes.append(own.whole(&own.setup(&[slab.source], limits)?, limits)?)?;
        }
        Ok(Some(passes))
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
        for (Source { slot, view }, &source_begin) in self.sources.iter().zip(&self.begins) {
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
        let left = self.window_elements.checked_sub(span(&self.strides, &lens))?;
        let most = left.checked_div(stride).map_or(size, |more| more.saturating_add(1));
        let len = most.min(most_outputs(target_bytes, limits).min(self.most_tasks) / outputs) / step * step;
        let begins_fit = self.begins.iter().all(|begin| (begin * outputs).is_multiple_of(output_step));
        (len > 0 && begins_fit).then_some(len)
    }

    /// The passes where pieces are finished together. Pieces are as large as windows, if invocations and partial results
    /// are enough for them; otherwise as small as they are enough for, however the elements lie.
    fn pieces(&self, limits: &Limits) -> Result<Passes, Error> {
        match self.pieces_of(false, limits) {
            Err(Error::TooLarge { .. }) => self.pieces_of(true, limits),
            passes => passes,
        }
    }

    fn pieces_of(&self, small: bool, limits: &Limits) -> Result<Passes, Error> {
        let record_bytes = self.record_words() * 4;
        let seen = self.reduction.out_len.saturating_mul(self.product(&self.sizes, self.reduction.reduced));
        let budget = scratch_budget(self.reduction.dtype, seen, self.sources_span()).min(limits.max_binding_bytes);
        let target_bytes = self.reduction.target_bytes();
        let step = binding_step(&target_bytes, limits);
        let outputs_paid = budget / record_bytes;
        let tile = outputs_paid.min(most_outputs(&target_bytes, limits)).min(MAX_OUTPUTS);
        let tile = (tile.min(self.tuning.most_invocations.saturating_mul(MAX_FINISHES)) / step).max(1) * step;
        let tile = tile.min(self.reduction.out_len);
        let most_chunks = (outputs_paid / tile).clamp(1, self.reduction.max_records(tile, &self.tuning));
        let mut grids: Vec<Grid> = Vec::new();
        let mut least = 0_usize; // passes, if no piece were cut by a tile's edge
        for source in 0..self.sources.len() {
            let grid = self.grid(source, small.then_some(most_chunks))?;
            let pieces = grid.ranges.iter().fold(1, |pieces: usize, ranges| pieces.saturating_mul(ranges.len()));
            least = least.saturating_add(pieces);
            check_count(least)?;
            grids.push(grid);
        }
        let shape: Vec<u64> = self.kept.iter().map(|&d| self.sizes[d]).collect();
        let mut passes = Passes::default();
        for outputs in blocks(0..self.reduction.out_len, tile) {
            let kept = consecutive(&shape, outputs.clone());
            let mut pieces = Vec::new();
            for grid in &grids[self.sources_of(&kept)] {
                let kept_boxes = self.kept_boxes(&kept, grid)?;
                check_count(passes.0.len() + pieces.len() + kept_boxes.len() * grid.reduced_boxes.len())?;
                for reduced in &grid.reduced_boxes {
                    for kept in &kept_boxes {
                        pieces.push(self.piece(grid.source, kept, reduced, most_chunks, limits)?);
                    }
                }
            }
            passes.append(self.tile(outputs, &pieces, limits)?)?;
        }
        Ok(passes)
    }

    /// The sources that have some of these kept indices, which come in order: all, where the sources follow one another
    /// along a reduced dimension.
    fn sources_of(&self, kept: &[Indices]) -> Range<usize> {
        let (Some(0), Some(first), Some(last)) = (self.kept.first(), kept.first(), kept.last()) else {
            return 0..self.sources.len();
        };
        let begun = self.begins.partition_point(|&begin| begin <= first[0].start);
        begun - 1..self.begins.partition_point(|&begin| begin < last[0].end)
    }

    /// One source cut into pieces, as it lies.
    fn grid(&self, source: usize, most_chunks: Option<u64>) -> Result<Grid, Error> {
        let view = &self.sources[source].view;
        let begin = |d| if d == 0 { self.begins[source] } else { 0 };
        let range = |d: usize| begin(d)..begin(d) + view.shape()[d];
        let lens = self.piece_lens(view, most_chunks).into_iter().enumerate();
        let ranges: Vec<Indices> = lens.map(|(d, len)| ranges(range(d), len)).collect::<Result<_, _>>()?;
        let reduced_boxes = boxes(self.reduction.reduced.iter().map(|&d| &ranges[d]), MAX_PASSES)?;
        Ok(Grid { source, ranges, reduced_boxes })
    }

    /// The passes for some outputs: records of nothing seen yet, pieces that join what they find to these, then the pass
    /// that finishes them. A piece that is cut into fewer chunks than others leaves the other records as they are.
    fn tile(&self, outputs: Range<u64>, pieces: &[Piece], limits: &Limits) -> Result<Passes, Error> {
        let out_len = outputs.end - outputs.start;
        let records = pieces.iter().map(|piece| piece.setup.cut.chunks).max().unwrap_or(0);
        let bytes = out_len * records * self.record_words() * 4;
        check_binding("bytes of partial results", bytes, limits)?;
        let partials = partials(bytes);
        let mut passes = fill(self.reduction.dtype, [0, 0], partials, limits)?;
        for piece in pieces {
            passes.push(self.scan(piece, outputs.start, records, partials, limits)?)?;
        }
        let own =
            Reduction { targets: self.reduction.targets(outputs.start, out_len), out_len, ..self.reduction.clone() };
        let access = match own.operator {
            Operator::ReduceMax => Access::Finish,
            Operator::ArgMax => Access::FinishPieces,
        };
        passes.push(own.finish(access, records, partials, limits)?)?;
        Ok(passes)
    }

    /// The pass that takes a piece, for a tile of outputs that begins with number `first`.
    fn scan(&self, piece: &Piece, first: u64, records: u64, partials: Binding, limits: &Limits) -> Result<Pass, Error> {
        let problem = &piece.setup.problem;
        let placement = Placement {
            records: word(records)?,
            first_record: word((piece.first_output - first) * records)?,
            first_position: self.repeats_from.unwrap_or(0) + piece.first_position,
            run_place: problem.run().place,
            column_place: match piece.setup.cut.access {
                Access::Columns => word(problem.kept.first().map_or(1, |columns| columns.place))?,
                _ => 1,
            },
        };
        self.piecewise.scan(&piece.setup, Store::Piece, &[partials], placement, limits)
    }

    /// A piece of a source: these of the kept indices, and these of the reduced ones.
    fn piece(
        &self,
        source: usize,
        kept: &Indices,
        reduced: &Indices,
        most_chunks: u64,
        limits: &Limits,
    ) -> Result<Piece, Error> {
        let mut indices = vec![0..1; self.sizes.len()];
        self.kept.iter().zip(kept).for_each(|(&d, range)| indices[d] = range.clone());
        self.reduction.reduced.iter().zip(reduced).for_each(|(&d, range)| indices[d] = range.clone());
        let first = |dimensions: &[usize]| dimensions.iter().map(|&d| indices[d].start * self.places[d]).sum();
        let (first_output, first_position) = (first(&self.kept), first(self.reduction.reduced));
        let (Source { slot, view }, begin) = (&self.sources[source], self.begins[source]);
        if let Some(outermost) = indices.first_mut() {
            *outermost = outermost.start - begin..outermost.end - begin;
        }
        let view = boxed(view, &indices)?;
        let window = Window::new(self.reduction.dtype, &view, *slot, limits)?;
        let problem = self.reduction.problem(&view, &window, &self.places)?;
        let tuning = self.tuning.for_rows(problem.reduce_len());
        let cut = self.piecewise.cut(&problem, most_chunks, &tuning)?;
        let setup = Setup { tuning, problem, window: window.binding, cut };
        Ok(Piece { setup, first_output, first_position })
    }

    fn sources_span(&self) -> u64 {
        let span = |source: &Source| {
            let (low, high) = source.view.extent();
            high - low + 1
        };
        self.sources.iter().map(span).fold(0, u64::saturating_add)
    }

    /// Words of a piece's partial result.
    fn record_words(&self) -> u64 {
        self.reduction.dtype.key_words() + if self.reduction.operator == Operator::ArgMax { 2 } else { 0 }
    }

    /// For each dimension how many indices a piece has, so that its elements fit a window and, where a number is given,
    /// invocations are surely enough if an output has so many partial results at most. Cut first is what reaches
    /// farthest, so that pieces are as contiguous as the input is.
    fn piece_lens(&self, view: &View, most_chunks: Option<u64>) -> Vec<u64> {
        let mut lens = view.shape().to_vec();
        let strides: Vec<u64> = view.strides().iter().map(|stride| stride.unsigned_abs()).collect();
        let dims = lens.len() as u64;
        let steps = |len| Reduction::most_steps(len, dims, &self.tuning);
        loop {
            let farthest = |dimensions: &mut dyn Iterator<Item = usize>, lens: &[u64]| {
                let reach = |d: &usize| (strides[*d].saturating_mul(lens[*d] - 1), lens[*d]);
                dimensions.filter(|&d| lens[d] > 1).max_by_key(reach)
            };
            let span = span(&strides, &lens);
            let outputs = self.product(&lens, &self.kept);
            let reduced = self.product(&lens, self.reduction.reduced);
            let chunks = steps(reduced).div_ceil(MAX_STEPS / 2);
            let share = self.tuning.needed_share(outputs.saturating_mul(chunks));
            let too_long = most_chunks.is_some() && share.saturating_mul(steps(reduced.div_ceil(chunks))) > MAX_STEPS;
            let (dimension, len) = if span > self.window_elements {
                let Some(d) = farthest(&mut (0..lens.len()), &lens) else { break };
                let others = span.saturating_sub(strides[d].saturating_mul(lens[d] - 1));
                match self.window_elements.checked_sub(others) {
                    Some(left) => (d, (left / strides[d] + 1).min(lens[d] - 1)),
                    None => (d, lens[d] / 2), // another must be cut, too
                }
            } else if outputs > MAX_OUTPUTS || too_long && outputs > 1 {
                let Some(d) = farthest(&mut self.kept.iter().copied(), &lens) else { break };
                (d, lens[d] / 2)
            } else if most_chunks.is_some_and(|most| chunks > most) || reduced > MAX_ELEMENTS || too_long {
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

    /// These of the kept indices, as boxes that lie in one of a source's ranges of each dimension.
    fn kept_boxes(&self, kept: &[Indices], grid: &Grid) -> Result<Vec<Indices>, Error> {
        let mut cut = Vec::new();
        for kept in kept {
            let within = kept.iter().zip(&self.kept).map(|(range, &d)| overlaps(range, &grid.ranges[d]));
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

/// A source cut into pieces: ranges of the indices of each dimension, and the boxes of the reduced ones.
struct Grid {
    source: usize,
    ranges: Vec<Indices>,
    reduced_boxes: Vec<Indices>,
}

/// What one pass reads of a reduction in pieces.
struct Piece {
    setup: Setup,
    first_output: u64,
    first_position: u64,
}

/// Of a dimension that is reduced and repeats one index, one is enough: the one whose position wins.
/// The position of the first element then.
fn leave_out_repeated(reduction: &Reduction, sources: &mut [Source], places: &[u64]) -> Result<Option<u64>, Error> {
    let last = reduction.constants.contains(&Constant::Last);
    let mut first_position = None;
    for &d in reduction.reduced {
        let repeats = |source: &Source| source.view.strides()[d] == 0 && source.view.shape()[d] > 1;
        if sources.iter().all(repeats) && (d > 0 || sources.len() == 1) {
            let index = if last { sources[0].view.shape()[d] - 1 } else { 0 };
            *first_position.get_or_insert(0) += index * places[d];
            for source in sources.iter_mut() {
                source.view = source.view.slice(d, index, 1, 1)?;
            }
        }
    }
    Ok(first_position)
}

/// The elements from the first of a box to its last, at most.
fn span(strides: &[u64], lens: &[u64]) -> u64 {
    let reaches = strides.iter().zip(lens).map(|(stride, len)| stride.saturating_mul(len - 1));
    reaches.fold(1, u64::saturating_add)
}

/// A dimension's indices, so many at a time.
fn ranges(range: Range<u64>, len: u64) -> Result<Indices, Error> {
    let count = (range.end - range.start).div_ceil(len);
    if count > MAX_PASSES as u64 { Err(too_many(count)) } else { Ok(blocks(range, len).collect()) }
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
