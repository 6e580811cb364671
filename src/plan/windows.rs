//! Windows: before anything else is planned, a tensor is cut into boxes of indices whose elements fit a binding each.
//! Mostly there is one, the whole.
//!
//! Outputs come in blocks, one after another. Where the elements of a block lie in one window, its outputs are stored as
//! they are found. Otherwise every window leaves records of what it has found, at the places that they have in the whole,
//! and these are merged.

use std::ops::Range;

use super::boxes::{Indices, boxed, boxes, consecutive, overlaps, ranges};
use super::layout::{Extent, ReductionShape, Source, gcd, logical_strides};
use super::schedule::{MAX_OUTPUTS, Reduction, Schedule, USUAL_PARTS};
use super::{Binding, check_count};
use crate::shader::Operator;
use crate::{Error, View};

/// The most outputs that an invocation of a merge takes, on a device of few invocations.
const MAX_MERGES: u64 = 16;

/// Consecutive outputs, and the windows that hold their elements.
pub(super) struct Block {
    pub outputs: Range<u64>,
    pub windows: Vec<Window>,
    /// The columns of windows that are an output's: several where columns were made wider.
    pub folds: u64,
    /// Whether windows join what they find to what others have found of the same outputs.
    pub joins: bool,
}

/// A box of a tensor's indices.
#[derive(Clone)]
pub(super) struct Window {
    /// What is bound of the input.
    pub input: Binding,
    pub shape: ReductionShape,
    pub schedule: Schedule,
    pub first_output: u64,
    pub first_position: u64,
}

impl Block {
    /// All outputs, from one window.
    pub fn of_one(reduction: &Reduction, window: Window) -> Block {
        Block { outputs: 0..reduction.out_len, windows: vec![window], folds: 1, joins: false }
    }

    /// Whether outputs are stored as they are found.
    pub fn is_direct(&self) -> bool {
        !self.joins && self.folds == 1 && self.windows.iter().all(|window| window.schedule.chunks == 1)
    }
}

/// What a reduction reads of these sources, one after another, where it is not [one](whole_window).
pub(super) fn windows(reduction: &Reduction, sources: Vec<Source>) -> Result<Vec<Block>, Error> {
    Tensor::new(reduction, sources)?.blocks()
}

/// All of the tensor, if it is one source that fits.
pub(super) fn whole_window(reduction: &Reduction, sources: &[Source]) -> Result<Option<Window>, Error> {
    let [Source { slot, ref view }] = *sources else { return Ok(None) };
    let Reduction { dtype, reduced, out_len, device, .. } = *reduction;
    let extent = Extent::new(dtype, view, device)?;
    let targets_fit = reduction.target_bytes().iter().all(|bytes| device.binds(out_len.saturating_mul(*bytes)));
    if !extent.fits(device) || !targets_fit {
        return Ok(None);
    }
    let shape = reduction.shape_of_window(view, &extent, &logical_strides(view.shape(), reduced));
    let schedule = reduction.schedule(&shape, reduction.max_chunks(out_len, shape.seen()));
    let input = extent.binding(dtype, slot);
    Ok(schedule.map(|schedule| Window { input, shape, schedule, first_output: 0, first_position: 0 }))
}

impl Reduction<'_> {
    /// What is reduced of a view, as it lies.
    fn shape(&self, view: &View, extent: &Extent, logical_strides: &[u64]) -> ReductionShape {
        ReductionShape::new(view, self.reduced, self.operator() == Operator::ReduceMax, extent, logical_strides)
    }

    /// The same with a long run, where that pays. No GPU was asked.
    fn shape_of_window(&self, view: &View, extent: &Extent, logical_strides: &[u64]) -> ReductionShape {
        let shape = self.shape(view, extent, logical_strides);
        let pays = self.operator() == Operator::ReduceMax && !self.device.spreads();
        if pays { shape.with_long_run() } else { shape }
    }
}

/// What is to be cut: one source, or several that follow one another along the outermost dimension.
struct Tensor<'a> {
    reduction: &'a Reduction<'a>,
    sources: Vec<Source>,
    /// Where each source begins along the outermost dimension.
    begins: Vec<u64>,
    sizes: Vec<u64>,
    kept: Vec<usize>,
    logical_strides: Vec<u64>,
    /// The position of the first element, if repeated ones are left out: then positions are not counted on.
    repeats_from: Option<u64>,
    /// Elements that the outputs see, repeated ones counted once.
    seen: u64,
    /// The most elements of a window.
    window_elements: u64,
}

/// A source cut into boxes: ranges of the indices of each dimension, and the boxes of the reduced ones.
struct Grid {
    source: usize,
    ranges: Vec<Indices>,
    reduced_boxes: Vec<Indices>,
}

impl<'a> Tensor<'a> {
    fn new(reduction: &'a Reduction<'a>, mut sources: Vec<Source>) -> Result<Tensor<'a>, Error> {
        let logical_strides = logical_strides(&common_shape(&sources), reduction.reduced);
        let repeats_from = leave_out_repeated(reduction, &mut sources, &logical_strides)?;
        let sizes = common_shape(&sources);
        let mut begins = Vec::with_capacity(sources.len());
        let (mut end, mut span) = (0, 0_u64);
        for source in &sources {
            begins.push(end);
            end += source.view.shape().first().unwrap_or(&1);
            let (low, high) = source.view.extent();
            span = span.saturating_add(high - low + 1);
        }
        let kept = (0..sizes.len()).filter(|d| !reduction.reduced.contains(d)).collect();
        let window_elements = reduction.device.window_elements(reduction.dtype)?;
        let seen = reduction.reduced.iter().map(|&d| sizes[d]).fold(reduction.out_len, u64::saturating_mul).min(span);
        Ok(Tensor { reduction, sources, begins, sizes, kept, logical_strides, repeats_from, seen, window_elements })
    }

    fn blocks(&self) -> Result<Vec<Block>, Error> {
        let slab = self.slab();
        let records = self.reduction.of_records();
        let (outputs, reduction) = match slab {
            Some((d, len)) => (self.slab_outputs(d, len)?, self.reduction),
            None => (ranges(0..self.reduction.out_len, self.block_outputs())?, &records),
        };
        let longest = outputs.iter().map(|range| range.end - range.start).max().unwrap_or(1);
        let max_chunks = self.reduction.max_chunks(longest, self.seen);
        let grids = self.grids(slab, max_chunks)?;
        let (mut all, mut count) = (Vec::new(), 0);
        for outputs in outputs {
            let block = self.block(outputs, &grids, reduction, max_chunks, count)?;
            count += block.windows.len();
            all.push(block);
        }
        Ok(all)
    }

    /// Indices of the outermost kept dimension whose elements fit a window, with all others: then each block of so many has
    /// one, which stores its outputs. They must begin where a binding may.
    fn slab(&self) -> Option<(usize, u64)> {
        let Reduction { out_len, device, .. } = *self.reduction;
        let d = *self.kept.iter().find(|&&d| self.sizes[d] > 1)?;
        let counted = self.reduction.operator() == Operator::ReduceMax || self.repeats_from.is_none();
        if self.sources.len() > 1 && d != 0 || !counted {
            return None;
        }
        let outputs = out_len / self.sizes[d];
        let output_step = device.binding_step(&self.reduction.target_bytes());
        let step = output_step / gcd(output_step, outputs);
        let fit = self.sources.iter().map(|source| most_indices(&source.view, d, self.window_elements)).min()?;
        let mut len = fit.min(self.max_outputs() / outputs).min(self.sizes[d].next_multiple_of(step)) / step * step;
        let fits = |len: u64| {
            let max_chunks = self.reduction.max_chunks(len * outputs, self.seen);
            self.sources.iter().all(|source| {
                let mut lens = source.view.shape().to_vec();
                lens[d] = lens[d].min(len);
                self.fits(&source.view, &lens, self.reduction, max_chunks)
            })
        };
        while len > 0 && !fits(len) {
            len = len / 2 / step * step;
        }
        let begins_fit = self.begins.iter().all(|begin| (begin * outputs).is_multiple_of(output_step));
        (len > 0 && begins_fit).then_some((d, len))
    }

    /// Whether a dispatch can take a box of such lengths wherever it begins, if need be element by element: with no long run, which a
    /// smaller box may not have.
    fn fits(&self, view: &View, lens: &[u64], reduction: &Reduction, max_chunks: u64) -> bool {
        let Reduction { dtype, device, .. } = *reduction;
        let indices: Vec<Range<u64>> = lens.iter().map(|&len| 0..len).collect();
        let extent = boxed(view, &indices).and_then(|own| Ok((Extent::new(dtype, &own, device)?, own)));
        extent.is_ok_and(|(extent, own)| {
            let mut shape = reduction.shape(&own, &extent, &self.logical_strides);
            shape.reduced[0].stride = i64::MAX; // too far for columns, and not a row
            reduction.schedule(&shape, max_chunks).is_some()
        })
    }

    fn slab_outputs(&self, d: usize, len: u64) -> Result<Vec<Range<u64>>, Error> {
        let outputs = self.reduction.out_len / self.sizes[d];
        let mut all = Vec::new();
        for (source, &begin) in self.sources.iter().zip(&self.begins) {
            let indices = ranges(begin..begin + source.view.shape()[d], len)?;
            all.extend(indices.into_iter().map(|range| range.start * outputs..range.end * outputs));
            check_count(all.len() as u64)?;
        }
        Ok(all)
    }

    /// The outputs that are merged together: as many as scratch has room for.
    fn block_outputs(&self) -> u64 {
        let Reduction { out_len, device, .. } = *self.reduction;
        let paid = self.reduction.scratch_budget(self.seen, USUAL_PARTS) / self.reduction.record_bytes();
        let step = device.binding_step(&self.reduction.target_bytes());
        let most = paid.min(self.max_outputs()).min(device.max_invocations.saturating_mul(MAX_MERGES));
        ((most / step).max(1) * step).min(out_len)
    }

    /// The most outputs that fit a binding each.
    fn max_outputs(&self) -> u64 {
        let most = |bytes: &u64| self.reduction.device.limits.max_binding_bytes / bytes;
        self.reduction.target_bytes().iter().map(most).min().unwrap_or(0).min(MAX_OUTPUTS)
    }

    /// Every source, cut as it lies.
    fn grids(&self, slab: Option<(usize, u64)>, max_chunks: u64) -> Result<Vec<Grid>, Error> {
        let mut grids: Vec<Grid> = Vec::new();
        let mut least = 0_u64; // windows, if none were cut by a block's end
        for (source, Source { view, .. }) in self.sources.iter().enumerate() {
            let mut lens = view.shape().to_vec();
            match slab {
                Some((d, len)) => lens[d] = len,
                None => self.shorten(&mut lens, view, max_chunks),
            }
            let begin = |d| if d == 0 { self.begins[source] } else { 0 };
            let range = |d: usize| begin(d)..begin(d) + view.shape()[d];
            let cut = lens.into_iter().enumerate().map(|(d, len)| ranges(range(d), len));
            let ranges: Vec<Indices> = cut.collect::<Result<_, _>>()?;
            let windows = ranges.iter().fold(1, |windows: u64, ranges| windows.saturating_mul(ranges.len() as u64));
            least = least.saturating_add(windows);
            check_count(least)?;
            let reduced_boxes = boxes(self.reduction.reduced.iter().map(|&d| &ranges[d]))?;
            grids.push(Grid { source, ranges, reduced_boxes });
        }
        Ok(grids)
    }

    /// Shortens a source's dimensions until a box of such lengths fits a window, and a dispatch. First what reaches
    /// farthest, so that windows are as contiguous as the source is.
    fn shorten(&self, lens: &mut [u64], view: &View, max_chunks: u64) {
        let strides: Vec<u64> = view.strides().iter().map(|stride| stride.unsigned_abs()).collect();
        let farthest = |dimensions: &mut dyn Iterator<Item = usize>, lens: &[u64]| {
            let reach = |d: &usize| (strides[*d].saturating_mul(lens[*d] - 1), lens[*d]);
            dimensions.filter(|&d| lens[d] > 1).max_by_key(reach)
        };
        let records = self.reduction.of_records();
        loop {
            let span = span(&strides, lens);
            if span > self.window_elements {
                let Some(d) = farthest(&mut (0..lens.len()), lens) else { return };
                let others = span.saturating_sub(strides[d].saturating_mul(lens[d] - 1));
                lens[d] = match self.window_elements.checked_sub(others) {
                    Some(left) => whole_packs((left / strides[d] + 1).min(lens[d] - 1)),
                    None => lens[d] / 2, // another must be cut, too
                };
                continue;
            }
            if self.fits(view, lens, &records, max_chunks) {
                return;
            }
            // Fewer outputs, if that helps.
            let mut one = lens.to_vec();
            self.kept.iter().for_each(|&d| one[d] = 1);
            let dimensions =
                if self.fits(view, &one, &records, max_chunks) { &self.kept } else { self.reduction.reduced };
            let Some(d) = farthest(&mut dimensions.iter().copied(), lens) else { return };
            lens[d] = whole_packs(lens[d] / 2);
        }
    }

    /// The windows of some outputs, the first of which comes after so many others.
    fn block(
        &self,
        outputs: Range<u64>,
        grids: &[Grid],
        reduction: &Reduction,
        max_chunks: u64,
        count: usize,
    ) -> Result<Block, Error> {
        let shape: Vec<u64> = self.kept.iter().map(|&d| self.sizes[d]).collect();
        let kept = consecutive(&shape, outputs.clone());
        let mut windows = Vec::new();
        for grid in &grids[self.sources_of(&kept)] {
            let kept_boxes = self.kept_boxes(&kept, grid)?;
            check_count((count + windows.len() + kept_boxes.len() * grid.reduced_boxes.len()) as u64)?;
            for reduced in &grid.reduced_boxes {
                for kept in &kept_boxes {
                    windows.push(self.window(grid.source, kept, reduced, reduction, max_chunks)?);
                }
            }
        }
        Ok(Block { outputs, windows, folds: 1, joins: reduction.epilogue.is_record() })
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

    /// These of the kept indices, as boxes that lie in one of a source's ranges of each dimension.
    fn kept_boxes(&self, kept: &[Indices], grid: &Grid) -> Result<Vec<Indices>, Error> {
        let mut cut = Vec::new();
        for kept in kept {
            let within = kept.iter().zip(&self.kept).map(|(range, &d)| overlaps(range, &grid.ranges[d]));
            cut.extend(boxes(within.collect::<Vec<_>>().iter())?);
            check_count(cut.len() as u64)?;
        }
        Ok(cut)
    }

    /// A window of a source: these of the kept indices, and these of the reduced ones.
    fn window(
        &self,
        source: usize,
        kept: &Indices,
        reduced: &Indices,
        reduction: &Reduction,
        max_chunks: u64,
    ) -> Result<Window, Error> {
        let Reduction { dtype, device, .. } = *self.reduction;
        let mut indices = vec![0..1; self.sizes.len()];
        self.kept.iter().zip(kept).for_each(|(&d, range)| indices[d] = range.clone());
        self.reduction.reduced.iter().zip(reduced).for_each(|(&d, range)| indices[d] = range.clone());
        let first =
            |dimensions: &[usize]| dimensions.iter().map(|&d| indices[d].start * self.logical_strides[d]).sum::<u64>();
        let (first_output, first_position) = (first(&self.kept), first(self.reduction.reduced));
        let (Source { slot, view }, begin) = (&self.sources[source], self.begins[source]);
        if let Some(outermost) = indices.first_mut() {
            *outermost = outermost.start - begin..outermost.end - begin;
        }
        let view = boxed(view, &indices)?;
        let extent = Extent::new(dtype, &view, device)?;
        let shape = reduction.shape_of_window(&view, &extent, &self.logical_strides);
        let Some(schedule) = reduction.schedule(&shape, max_chunks).filter(|_| extent.fits(device)) else {
            let given = shape.outputs().saturating_mul(shape.reduce_len());
            return Err(Error::TooLarge { what: "elements of one dispatch", given, limit: self.window_elements });
        };
        let first_position = self.repeats_from.unwrap_or(0) + first_position;
        let input = extent.binding(dtype, *slot);
        Ok(Window { input, shape, schedule, first_output, first_position })
    }
}

/// The shape of sources that follow one another along the outermost dimension.
fn common_shape(sources: &[Source]) -> Vec<u64> {
    let mut sizes = sources[0].view.shape().to_vec();
    if let Some(first) = sizes.first_mut() {
        *first = sources.iter().map(|source| source.view.shape()[0]).sum();
    }
    sizes
}

/// Of a dimension that is reduced and repeats one index, one is enough: the one whose position wins.
/// The position of the first element then.
fn leave_out_repeated(
    reduction: &Reduction,
    sources: &mut [Source],
    logical_strides: &[u64],
) -> Result<Option<u64>, Error> {
    let mut first_position = None;
    for &d in reduction.reduced {
        let repeats = |source: &Source| source.view.strides()[d] == 0 && source.view.shape()[d] > 1;
        if sources.iter().all(repeats) && (d > 0 || sources.len() == 1) {
            let index = if reduction.last { sources[0].view.shape()[d] - 1 } else { 0 };
            *first_position.get_or_insert(0) += index * logical_strides[d];
            for source in sources.iter_mut() {
                source.view = source.view.slice(d, index, 1, 1)?;
            }
        }
    }
    Ok(first_position)
}

/// How many indices of a dimension, with all of the others, lie within so many elements.
fn most_indices(view: &View, dimension: usize, elements: u64) -> u64 {
    let strides: Vec<u64> = view.strides().iter().map(|stride| stride.unsigned_abs()).collect();
    let mut lens = view.shape().to_vec();
    lens[dimension] = 1;
    match elements.checked_sub(span(&strides, &lens)) {
        Some(left) => left.checked_div(strides[dimension]).map_or(u64::MAX, |more| more.saturating_add(1)),
        None => 0,
    }
}

/// Whole packs, where there are many: then the next window begins with one.
fn whole_packs(len: u64) -> u64 {
    if len > 512 { len - len % 256 } else { len }
}

/// The elements from the first of a box to its last, at most.
fn span(strides: &[u64], lens: &[u64]) -> u64 {
    let reaches = strides.iter().zip(lens).map(|(stride, len)| stride.saturating_mul(len - 1));
    reaches.fold(1, u64::saturating_add)
}
