//! Folds: columns made wider, where rows follow one another in memory. As many narrow rows as fill whole packs count as one,
//! or fewer where these would leave too many records; what is found of their columns is merged. On software wide rows are folded, too,
//! so that they begin with packs.
//!
//! ```text
//!  rows of 3    |a b c|a b c|a b c|a b c|    an output's elements lie in columns 0, 3, 6 and 9 of rows of 12: four folds
//! ```

use super::layout::{ReductionShape, gcd};
use super::schedule::{FEWEST_PACKS_ACROSS, FEWEST_RAGGED_LOADS, Reduction};
use super::windows::{Block, Window};
use crate::shader::Access;

/// The fewest rows that are left where several count as one.
const FEWEST_FOLDED_ROWS: u64 = 16;

/// All outputs from one window that is folded, if that pays: narrow rows into rows of several packs or, where these would leave too
/// many records, of fewer. Where software would load elements one by one otherwise, rows need not fill packs.
pub(super) fn folded(reduction: &Reduction, window: &Window) -> Option<Block> {
    let pack = reduction.dtype.pack_elements();
    let spreads = reduction.device.spreads();
    let one_by_one = window.schedule.access == Access::Strided;
    let narrowest = if one_by_one && !spreads { 2 } else { pack };
    let widths = (narrowest.ilog2()..=(FEWEST_PACKS_ACROSS * pack).ilog2()).rev().map(|n| 1 << n);
    let mut wider = widths.filter(|&width| window.shape.columns() < Some(pack.max(width)));
    // Blocks of which rows are left over begin within packs. For GPUs that pays only where they would load elements one by one.
    let leaves_rows = one_by_one || !spreads;
    let narrow = wider.find_map(|width| folded_into(reduction, window, width, leaves_rows));
    if spreads { narrow } else { narrow.or_else(|| wide_folded(reduction, window)) }
}

/// The same of rows of any width on software, where packs that begin anywhere take longer: as many as fill whole packs or, on a device
/// that pays for each word, at least words. Elsewhere rows that lie near one another stay near.
fn wide_folded(reduction: &Reduction, window: &Window) -> Option<Block> {
    let Reduction { device, dtype, .. } = *reduction;
    if window.schedule.access != Access::Columns {
        return None;
    }
    let filling = |width| {
        let block = folded_into(reduction, window, width, true)?;
        block.windows[0].shape.columns_are_whole(width).then_some(block)
    };
    let of_packs = filling(dtype.pack_elements());
    match device.has_wide_loads() {
        true => {
            let rows_are_far = |window: &Window| reduction.rows_are_far(&window.shape);
            of_packs.filter(|block| rows_are_far(window) || !rows_are_far(&block.windows[0]))
        }
        false => of_packs.or_else(|| filling(dtype.lanes())),
    }
}

/// Folded into whole stretches of `width` elements, a power of two.
fn folded_into(reduction: &Reduction, window: &Window, width: u64, leaves_rows: bool) -> Option<Block> {
    let folds = folds(reduction, &window.shape, width)?;
    let shape = folded_shape(&window.shape, folds);
    if shape.rest_len > 0 && !leaves_rows {
        return None;
    }
    let seen = window.shape.seen();
    let records = shape.outputs().saturating_mul(reduction.record_bytes());
    let max_chunks = reduction.max_chunks(shape.outputs(), seen).min(reduction.max_records(reduction.out_len) / folds);
    if records > reduction.scratch_budget(seen) || max_chunks == 0 {
        return None;
    }
    let schedule = reduction.of_records().schedule(&shape, max_chunks)?;
    if schedule.access != Access::Columns {
        return None;
    }
    Some(Block { folds, ..Block::of_one(reduction, Window { shape, schedule, ..window.clone() }) })
}

/// The rows that fill whole stretches of `width` elements, if there are enough.
fn folds(reduction: &Reduction, shape: &ReductionShape, width: u64) -> Option<u64> {
    let (&[run], Some(&columns)) = (&shape.reduced[..], shape.kept.first()) else { return None };
    let folds = width / gcd(columns.size, width);
    let in_one_piece = columns.stride == 1 && run.stride == columns.size as i64;
    let pays = run.size >= FEWEST_FOLDED_ROWS * folds && reduction.loads(shape) >= FEWEST_RAGGED_LOADS;
    (in_one_piece && folds > 1 && pays).then_some(folds)
}

/// So many rows as one, whose columns are so many times as many. The rows left over are the beginning of one more.
fn folded_shape(shape: &ReductionShape, folds: u64) -> ReductionShape {
    let mut folded = shape.clone();
    folded.rest_len = folded.reduced[0].size % folds * folded.kept[0].size;
    folded.kept[0].size *= folds;
    folded.reduced[0].size /= folds;
    folded.reduced[0].stride *= folds as i64;
    folded
}
