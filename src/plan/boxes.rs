//! Boxes of a tensor's indices: ranges of each dimension.

use std::ops::Range;
use std::{iter, slice};

use super::check_count;
use crate::{Error, View};

/// A box of indices: a range for each dimension.
pub(super) type Indices = Vec<Range<u64>>;

/// Of a view, these indices of each dimension.
pub(super) fn boxed(view: &View, indices: &[Range<u64>]) -> Result<View, Error> {
    let starts = view.strides().iter().zip(indices).map(|(&stride, range)| stride * range.start as i64);
    let offset = starts.fold(view.offset(), u64::wrapping_add_signed); // stays within the view's extent
    let shape: Vec<u64> = indices.iter().map(|range| range.end - range.start).collect();
    View::strided(shape, view.strides(), offset)
}

/// A range in parts of so many, and the rest.
pub(super) fn in_parts(range: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let Range { start, end } = range;
    let count = (end - start).div_ceil(most);
    (0..count).map(move |n| start + n * most..end.min(start + (n + 1) * most))
}

/// A dimension's indices, so many at a time.
pub(super) fn ranges(range: Range<u64>, len: u64) -> Result<Indices, Error> {
    check_count((range.end - range.start).div_ceil(len))?;
    Ok(in_parts(range, len).collect())
}

/// Consecutive elements of a row-major tensor, as boxes of it.
pub(super) fn consecutive(shape: &[u64], elements: Range<u64>) -> Vec<Indices> {
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
pub(super) fn overlaps(range: &Range<u64>, others: &Indices) -> Indices {
    let overlap = |other: &Range<u64>| range.start.max(other.start)..range.end.min(other.end);
    others.iter().map(overlap).filter(|overlap| !overlap.is_empty()).collect()
}

/// Every box that has one of the ranges of each dimension, row-major.
pub(super) fn boxes<'b>(ranges: impl Iterator<Item = &'b Indices>) -> Result<Vec<Indices>, Error> {
    let mut all: Vec<Indices> = vec![vec![]];
    for ranges in ranges {
        check_count((all.len() as u64).saturating_mul(ranges.len() as u64))?;
        let with = |known: Indices| ranges.iter().map(move |range| [&known[..], slice::from_ref(range)].concat());
        all = all.into_iter().flat_map(with).collect();
    }
    Ok(all)
}
