//! Max: operands broadcast together, as many of them in one dispatch as there are bindings; more continue from the
//! output.
//!
//! Where the output or an operand is larger than a binding, the output is cut into boxes of consecutive elements. An operand
//! whose elements for a box lie farther apart than a binding reaches is read window by window.

use std::ops::Range;

use super::assembly::output_bindings;
use super::boxes::boxed;
use super::device::{Device, MAX_ELEMENTS};
use super::layout::{Extent, Source, gcd, sources};
use super::output_box::{OutputBox, Turns};
use super::reads::{Read, Rows};
use super::{Binding, Dispatches, Plan, Slot, check_count};
use crate::error::list;
use crate::shader::Override;
use crate::{DType, Error, Limits, Max, NanPolicy, View};

/// The most operands of one dispatch: a mask of 32 bits tells their forms.
const MAX_OPERANDS: u64 = 32;

/// The most elements from the first to the last that a dispatch asks for: shaders count addresses modulo 2^32, also those outside
/// of a window, and a window's last pack may end behind what is asked for.
const MAX_SPAN: u64 = (1 << 32) - 16;

/// The most elements of a box: with room for a pack wherever one is written alone, 32 bits count them.
const MAX_BOX: u64 = MAX_ELEMENTS / 4;

pub(crate) fn max(op: &Max, limits: &Limits) -> Result<Plan, Error> {
    let device = &Device::new(limits)?;
    let output = op.output_types()?.remove(0);
    let target = output_bindings(std::slice::from_ref(&output))[0];
    let label = format!("Max {} of {} to {}", op.dtype, op.inputs.len(), list(&output.shape));
    let tensors = op.inputs.iter().map(|input| input.views().len()).sum();
    let mut plan = Plan::new(label, tensors, &[target]);
    if target.bytes == 0 {
        return Ok(plan);
    }
    let slots = op.first_slots();
    plan.in_place = op.in_place.map(|input| slots[input]);
    let mut operands: Vec<Operand> = Vec::new();
    let mut of_slot = vec![Vec::new(); tensors]; // operands of one tensor alone can be alike
    for (n, input) in op.inputs.iter().enumerate().filter(|&(n, _)| op.in_place != Some(n)) {
        let operand = Operand::new(sources(input, slots[n]), input.shape(), &output.shape)?;
        let alike: &mut Vec<usize> = &mut of_slot[slots[n]];
        if !alike.iter().any(|&other| operands[other] == operand) {
            alike.push(operands.len());
            operands.push(operand); // the maximum of something with itself is no more than that
        }
    }
    if let Some(constant) = &op.constant {
        let source = Source { slot: Slot::Embedded(0), view: View::new(constant.shape())? };
        operands.push(Operand::new(vec![source], constant.shape(), &output.shape)?);
        let mut bytes = constant.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        plan.embedded.push(bytes);
    }
    let max = Broadcast {
        in_place: op.in_place.is_some(),
        ..Broadcast::new(op.dtype, op.nan, &output.shape, operands, target, device)
    };
    plan.complete(max.dispatches()?, device)
}

/// Writes the elements of sources that have a shape together as they are, but for NaN, which is made canonical: each is a maximum of one.
pub(super) fn copy(
    dtype: DType,
    nan: NanPolicy,
    sources: Vec<Source>,
    shape: &[u64],
    target: Binding,
    device: &Device,
) -> Result<Dispatches, Error> {
    let operand = Operand::new(sources, shape, shape)?;
    Broadcast::new(dtype, nan, shape, vec![operand], target, device).dispatches()
}

/// Writes the maxima of few elements each, as a Max of as many operands: those of one place among the reduced are one. Nothing where that
/// takes several bindings or dispatches, or more than shaders can count.
pub(super) fn max_of_few(
    dtype: DType,
    nan: NanPolicy,
    input: &Source,
    reduced: &[usize],
    target: Binding,
    device: &Device,
) -> Result<Option<Dispatches>, Error> {
    let mut places = vec![input.view.clone()];
    for &d in reduced {
        let at =
            |view: &View| (0..input.view.shape()[d]).map(|n| view.slice(d, n, 1, 1)).collect::<Result<Vec<_>, _>>();
        places = places.iter().map(at).collect::<Result<Vec<_>, _>>()?.concat();
    }
    let shape = places[0].shape().to_vec();
    let operand = |view| Operand::new(vec![Source { slot: input.slot, view }], &shape, &shape);
    let operands = places.into_iter().map(operand).collect::<Result<Vec<_>, _>>()?;
    let count = operands.len() as u64;
    let max = Broadcast::new(dtype, nan, &shape, operands, target, device);
    let one_box = count <= max.max_operands && !device.limits.shared_buffers && max.boxes()?.len() == 1;
    if one_box { max.dispatches().map(Some) } else { Ok(None) }
}

/// Operands stretched to the output's shape.
struct Broadcast<'a> {
    dtype: DType,
    nan: NanPolicy,
    shape: &'a [u64],
    operands: Vec<Operand>,
    len: u64,
    target: Binding,
    /// Whether the output holds a maximum already.
    in_place: bool,
    /// The most operands of one dispatch: the output has a binding, too.
    max_operands: u64,
    device: &'a Device,
}

impl<'a> Broadcast<'a> {
    fn new(
        dtype: DType,
        nan: NanPolicy,
        shape: &'a [u64],
        operands: Vec<Operand>,
        target: Binding,
        device: &'a Device,
    ) -> Broadcast<'a> {
        // Where there is no binding for an operand, the whole plan is refused for the bindings that it takes.
        let max_operands = u64::from(device.limits.max_storage_bindings).saturating_sub(1).clamp(1, MAX_OPERANDS);
        let len = shape.iter().product();
        Broadcast { dtype, nan, shape, operands, len, target, in_place: false, max_operands, device }
    }

    fn dispatches(&self) -> Result<Dispatches, Error> {
        let mut dispatches = Dispatches::default();
        for indices in self.boxes()? {
            dispatches.append(self.one_box(&indices)?)?;
        }
        Ok(dispatches)
    }

    /// The whole output, if it and each operand fit a binding; otherwise boxes of consecutive elements that do.
    fn boxes(&self) -> Result<Vec<Vec<Range<u64>>>, Error> {
        let all: Vec<Range<u64>> = self.shape.iter().map(|&size| 0..size).collect();
        let mut fits = self.device.binds(self.target.bytes) && self.len <= self.writable();
        for operand in &self.operands {
            fits = fits && operand.fits(self.dtype, self.device)?;
        }
        if fits {
            return Ok(vec![all]);
        }
        let mut boxes = Vec::new();
        let window = self.device.window_elements(self.dtype)?; // or there is nothing to cut into
        self.cut(&all, window, &mut boxes)?;
        Ok(boxes)
    }

    /// Cuts a box of consecutive outputs along its outermost dimension, until every part fits.
    fn cut(&self, indices: &[Range<u64>], window: u64, boxes: &mut Vec<Vec<Range<u64>>>) -> Result<(), Error> {
        // Each box takes as many dispatches as it takes to bind every operand.
        let rounds = (self.operands.len() as u64).div_ceil(self.max_operands).max(1);
        check_count((boxes.len() as u64 + 1) * rounds)?;
        let Some(d) = indices.iter().position(|range| range.end - range.start > 1) else {
            boxes.push(indices.to_vec());
            return Ok(());
        };
        let mut part = indices.to_vec();
        let Range { start: mut at, end } = indices[d];
        while at < end {
            part[d] = at..end;
            let most = self.max_indices(d, &part, window);
            part[d] = at..end.min(at.saturating_add(most.max(1)));
            match most {
                0 => self.cut(&part, window, boxes)?,
                _ => boxes.push(part.clone()),
            }
            check_count(boxes.len() as u64 * rounds)?;
            at = part[d].end;
        }
        Ok(())
    }

    /// How many indices of a box's outermost dimension fit, with all of the inner ones; 0 where one does not.
    fn max_indices(&self, d: usize, indices: &[Range<u64>], window: u64) -> u64 {
        let inner: u64 = indices[d + 1..].iter().map(|range| range.end - range.start).product();
        let span = MAX_SPAN.saturating_sub(self.device.binding_step(&[self.dtype.bytes()])); // bound from up to a step before it on
        let fit = |operand: &Operand| operand.max_indices(d, indices, [window, span]);
        let most = self.operands.iter().map(fit).min().unwrap_or(u64::MAX).min(window.min(self.writable()) / inner);
        // Parts that begin with a whole pack can go pack by pack.
        let step = self.device.binding_step(&[self.dtype.bytes()]);
        let step = step / gcd(step, inner);
        let len = indices[d].end - indices[d].start;
        if most < len && most > step { most - most % step } else { most }
    }

    /// The most elements that shaders can count, and that invocations can write without looping for too long, even in
    /// rows of two. An operand says nothing of it: one that is repeated has fewer elements.
    fn writable(&self) -> u64 {
        let operands = (self.operands.len() as u64).min(self.max_operands);
        let row = Turns::of_row(operands, self.shape.len() as u64);
        let share = Turns::of_elements(self.dtype, row).max_writes(2);
        self.device.max_invocations.saturating_mul(share).min(MAX_BOX)
    }

    /// What one dispatch reads, and the next. Of a buffer that may be written, too, no byte is bound twice by one.
    fn groups<'r>(&self, reads: &'r [Read]) -> Vec<&'r [Read]> {
        let mut groups = Vec::new();
        let mut rest = reads;
        while !rest.is_empty() {
            let shared = self.device.limits.shared_buffers;
            let bound = |n: &usize| shared && rest[..*n].iter().any(|read| read.window.slot == rest[*n].window.slot);
            let most = rest.len().min(self.max_operands as usize);
            let (group, left) = rest.split_at((1..most).find(bound).unwrap_or(most));
            groups.push(group);
            rest = left;
        }
        groups
    }

    /// The dispatches that write one box.
    fn one_box(&self, indices: &[Range<u64>]) -> Result<Dispatches, Error> {
        let (dtype, device, in_place) = (self.dtype, self.device, self.in_place);
        let (bytes, lanes) = (dtype.bytes(), dtype.lanes());
        let shape: Vec<u64> = indices.iter().map(|range| range.end - range.start).collect();
        let first = indices.iter().zip(self.shape).fold(0, |first, (range, size)| first * size + range.start);
        let len = shape.iter().product::<u64>();
        let begin = first % device.binding_step(&[bytes]);
        // Later boxes write what follows in the last unit, unless it holds something already.
        let units = (begin + len).next_multiple_of(lanes);
        let end = if in_place && first + len < self.len { begin + len } else { units };
        let sources = self.operands.iter().map(|operand| operand.source(indices)).collect::<Result<Vec<_>, _>>()?;
        let (rows, strides) = Rows::new(&shape, &sources)?;
        let own = OutputBox {
            dtype,
            device,
            len,
            rows,
            target: Binding { binding: 1, ..self.target.part(bytes, first - begin, begin + len) },
            begin,
            end,
            keeps: !begin.is_multiple_of(lanes) || end < units,
            nan: self.nan.ignores(dtype).then_some(Override::NansIgnored),
        };
        let mut dispatches = Dispatches::default();
        let mut continues = in_place;
        for reads in own.rounds(&sources, &strides, self.max_operands)?.iter().flat_map(|round| self.groups(round)) {
            dispatches.append(own.dispatches(reads, continues)?)?;
            continues = true;
        }
        match dispatches.0.is_empty() {
            true => own.dispatches(&[], continues), // one input, in place: NaN is made canonical
            false => Ok(dispatches),
        }
    }
}

/// An input stretched to the output's shape, in parts along one dimension of it.
#[derive(PartialEq)]
struct Operand {
    dimension: usize,
    /// Where each part begins, ascending.
    parts: Vec<(u64, Source)>,
}

impl Operand {
    fn new(sources: Vec<Source>, own: &[u64], shape: &[u64]) -> Result<Operand, Error> {
        // A scalar is repeated along the last dimension, as along all.
        let dimension = shape.len().saturating_sub(own.len().max(1));
        let mut begin = 0;
        let mut parts = Vec::with_capacity(sources.len());
        for Source { slot, view } in sources {
            let mut stretched = shape.to_vec();
            let len = view.shape().first().copied().unwrap_or(1);
            if own.first().is_some_and(|&size| size != 1) {
                stretched[dimension] = len;
            }
            parts.push((begin, Source { slot, view: view.broadcast(&stretched)? }));
            begin += len;
        }
        Ok(Operand { dimension, parts })
    }

    /// The part with an index of the dimension, and where it begins.
    fn part(&self, index: u64) -> &(u64, Source) {
        &self.parts[self.parts.partition_point(|&(begin, _)| begin <= index) - 1]
    }

    /// Whether all of it lies in one part and in one window.
    fn fits(&self, dtype: DType, device: &Device) -> Result<bool, Error> {
        Ok(self.parts.len() == 1 && Extent::new(dtype, &self.parts[0].1.view, device)?.fits(device))
    }

    /// Where the part with an index of the dimension ends.
    fn part_end(&self, index: u64) -> u64 {
        let (begin, source) = self.part(index);
        begin + source.view.shape().get(self.dimension).unwrap_or(&1)
    }

    /// The elements for a box of the output, which lie in one part.
    fn source(&self, indices: &[Range<u64>]) -> Result<Source, Error> {
        let mut own = indices.to_vec();
        let (begin, Source { slot, view }) = self.part(own.get(self.dimension).map_or(0, |range| range.start));
        if let Some(range) = own.get_mut(self.dimension) {
            *range = range.start - begin..range.end - begin;
        }
        Ok(Source { slot: *slot, view: boxed(view, &own)? })
    }

    /// How many indices of a box's outermost dimension lie in one part and, if one does, in a window of so many elements; else within a
    /// span of so many, in which shaders tell the windows' addresses apart.
    fn max_indices(&self, d: usize, indices: &[Range<u64>], [window, span]: [u64; 2]) -> u64 {
        let own = &indices[self.dimension];
        let part_end = self.part_end(own.start);
        let in_part = match d == self.dimension {
            true => part_end - own.start,
            false if own.end > part_end => return 0,
            false => u64::MAX,
        };
        let strides = self.part(own.start).1.view.strides();
        let reach = |e: usize| strides[e].unsigned_abs().saturating_mul(indices[e].end - indices[e].start - 1);
        let others = (d + 1..indices.len()).map(reach).fold(1, u64::saturating_add);
        // What lies across the output is read window by window.
        let most = if others <= window { window } else { span };
        let Some(left) = most.checked_sub(others) else { return 0 };
        let in_window = left.checked_div(strides[d].unsigned_abs()).map_or(u64::MAX, |n| n + 1);
        in_window.min(in_part)
    }
}
