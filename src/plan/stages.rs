//! Two stages: maxima over dimensions that lie far apart, with others between them, are reduced over the outermost first. What is left
//! is small, and lies in one piece.
//!
//! ```text
//!  over 0 and 2 of [753, 3, 3, 2]    over 0: 753 rows of 18 columns -> scratch 1: [3, 3, 2]    over 1: -> [3, 2]
//! ```

use std::slice;

use super::layout::{ReductionShape, Source};
use super::reduce::{reduce, reduce_whole};
use super::schedule::{FEWEST_LOADS, Reduction, USUAL_PARTS};
use super::windows::{Window, whole_window};
use super::{Binding, Dispatches};
use crate::dtype::padded_bytes;
use crate::shader::Access;
use crate::{Error, View};

/// The packs of columns, or of a run, of which there are many: then two stages gain nothing.
const MANY_PACKS: u64 = 16;

/// The dispatches of both stages, if that pays beside all in one window. What the first one leaves takes no more room than records usually do.
pub(super) fn reduce_in_stages(
    reduction: &Reduction,
    source: &Source,
    at_once: &Window,
    targets: &[Binding],
) -> Result<Option<Dispatches>, Error> {
    let Some([first, rest]) = stages(reduction, &source.view, &at_once.shape) else { return Ok(None) };
    let kept: Vec<usize> = (0..source.view.rank()).filter(|d| !first.contains(d)).collect();
    let left = View::new(kept.iter().map(|&d| source.view.shape()[d]).collect::<Vec<_>>())?;
    let bytes = padded_bytes(reduction.dtype, left.len()).unwrap_or(u64::MAX);
    if bytes > reduction.scratch_budget(at_once.shape.seen(), USUAL_PARTS) || !reduction.device.binds_packs() {
        return Ok(None);
    }
    let first = Reduction { reduced: &first, out_len: left.len(), ..*reduction };
    let Some(window) = whole_window(&first, slice::from_ref(source))? else { return Ok(None) };
    if !first_stage_pays(reduction, at_once, &window) {
        return Ok(None);
    }
    let scratch = Binding::scratch(1, bytes);
    let mut dispatches = reduce_whole(&first, window, &[scratch])?;
    let rest: Vec<usize> = (0..kept.len()).filter(|&n| rest.contains(&kept[n])).collect();
    let second = Reduction { reduced: &rest, ..*reduction };
    dispatches.append(reduce(&second, vec![Source { slot: scratch.slot, view: left }], targets)?)?;
    Ok(Some(dispatches))
}

/// The dimensions that each stage reduces, if there are several, and kept ones between them.
fn stages(reduction: &Reduction, view: &View, shape: &ReductionShape) -> Option<[Vec<usize>; 2]> {
    let outermost = shape.reduced.iter().map(|d| d.stride.unsigned_abs()).max().filter(|_| shape.reduced.len() > 1)?;
    let is_inner = |d: &usize| {
        let (size, stride) = (view.shape()[*d], view.strides()[*d].unsigned_abs());
        size > 1 && stride > 0 && stride < outermost
    };
    let (rest, first): (Vec<usize>, Vec<usize>) = reduction.reduced.iter().partition(|d| is_inner(d));
    (!rest.is_empty()).then_some([first, rest])
}

/// Whether all at once, elements would be loaded one by one, or packs from few columns or short runs, and in the first stage from many.
/// GPUs load these well, and wait longer for another dispatch.
fn first_stage_pays(reduction: &Reduction, at_once: &Window, first: &Window) -> bool {
    let many = MANY_PACKS * reduction.dtype.pack_elements();
    let few_columns = |shape: &ReductionShape| shape.columns().unwrap_or(1) < many;
    let slow = match at_once.schedule.access {
        Access::Strided => true,
        _ if reduction.device.spreads() => false,
        Access::Columns => few_columns(&at_once.shape) && !few_columns(&first.shape),
        Access::Rows => at_once.shape.run().size < many,
        Access::ShortRows { .. } => false,
    };
    slow && first.schedule.access != Access::Strided && reduction.loads(&at_once.shape) >= FEWEST_LOADS
}
