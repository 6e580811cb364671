//! Folds: columns made wider, where rows follow one another in memory. As many narrow rows as fill whole packs count as one,
//! or fewer where these would leave too many records; what is found of their columns is merged. On software wide rows are folded, too,
//! so that they begin with packs.
//!
//! ```text
//!  rows of 3    |a b c|a b c|a b c|a b c|    an output's elements lie in columns 0, 3, 6 and 9 of rows of 12: four folds
//! ```

use super::layout::{ReductionShape, gcd};
use super::schedule::{FEWEST_FAR_LOADS, FEWEST_PACKS_ACROSS, FEWEST_RAGGED_LOADS, Reduction};
use super::windows::{Block, Window};
use crate::shader::{Access, Epilogue};

/// The fewest rows that are left where several count as one.
const FEWEST_FOLDED_ROWS: u64 = 16;

/// All outputs from one window that is folded, if that pays: narrow rows into rows of several packs or, where these would leave too
/// many records, of fewer. Where software would load elements one by one otherwise, rows need not fill packs. Rows that are left over are
/// another window, which GPUs have only if no width leaves none.
pub(super) fn folded(reduction: &Reduction, window: &Window) -> Option<Block> {
    let pack = reduction.dtype.pack_elements();
    let one_by_one = window.schedule.access == Access::Strided && !reduction.device.spreads();
    let narrowest = if one_by_one { 2 } else { pack };
    let widths = (narrowest.ilog2()..=(FEWEST_PACKS_ACROSS * pack).ilog2()).rev().map(|n| 1 << n);
    let wider = widths.filter(|&width| window.shape.columns() < Some(pack.max(width)));
    let narrow = |leaves_rows| wider.clone().find_map(|width| folded_into(reduction, window, width, leaves_rows));
    if reduction.device.spreads() {
        return narrow(false).or_else(|| if rest_pays_on_gpus(reduction, window) { narrow(true) } else { None });
    }
    narrow(true).or_else(|| wide_folded(reduction, window))
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
    let Window { slot, extent, ref shape, .. } = *window;
    let folds = folds(reduction, shape, width)?;
    let (main, rest) = (main_shape(shape, folds), rest_shape(shape, folds));
    if rest.is_some() && !leaves_rows {
        return None;
    }
    let seen = shape.seen();
    let records = main.outputs().saturating_mul(reduction.record_bytes());
    let max_chunks = reduction.max_chunks(main.outputs(), seen).min(reduction.max_records(reduction.out_len) / folds);
    if records > reduction.scratch_budget(seen) || max_chunks == 0 {
        return None;
    }
    let schedule = reduction.of_records().schedule(&main, max_chunks)?;
    if schedule.access != Access::Columns {
        return None;
    }
    let whole = Window { slot, extent, schedule, shape: main, first_output: 0, first_position: 0 };
    let mut folded = Block { folds, ..Block::of_one(reduction, whole) };
    if let Some(rest) = rest {
        let schedule = reduction.of_records().schedule(&rest, 1)?;
        let first_position = shape.run().size / folds;
        folded.windows.push(Window { slot, extent, schedule, shape: rest, first_output: 0, first_position });
        folded.epilogue = Epilogue::Record;
    }
    Some(folded)
}

/// Whether GPUs wait less for another dispatch, of the rows left over, than for what is loaded otherwise: for many single elements, but not
/// for packs that begin anywhere.
fn rest_pays_on_gpus(reduction: &Reduction, window: &Window) -> bool {
    window.schedule.access == Access::Strided && reduction.loads(&window.shape) >= FEWEST_FAR_LOADS
}

/// The rows that fill whole stretches of `width` elements, if there are enough.
fn folds(reduction: &Reduction, shape: &ReductionShape, width: u64) -> Option<u64> {
    let (&[run], Some(&columns)) = (&shape.reduced[..], shape.kept.first()) else { return None };
    let folds = width / gcd(columns.size, width);
    let in_one_piece = columns.stride == 1 && run.stride == columns.size as i64;
    let pays = run.size >= FEWEST_FOLDED_ROWS * folds && reduction.loads(shape) >= FEWEST_RAGGED_LOADS;
    (in_one_piece && folds > 1 && pays).then_some(folds)
}

/// So many rows as one, whose columns are so many times as many; without the rows left over.
fn main_shape(shape: &ReductionShape, folds: u64) -> ReductionShape {
    let mut main = spread_outputs(shape, folds);
    main.kept[0].size *= folds;
    main.reduced[0].size /= folds;
    main.reduced[0].stride *= folds as i64;
    main
}

/// The rows left over, if there are any, as part of one more.
fn rest_shape(shape: &ReductionShape, folds: u64) -> Option<ReductionShape> {
    let run = shape.run();
    let rows = run.size % folds;
    let mut rest = spread_outputs(shape, folds);
    rest.kept[0].size *= rows;
    rest.reduced[0].size = 1;
    rest.start += (run.size - rows) * run.stride as u64;
    (rows > 0).then_some(rest)
}

/// Outputs in places so many times as far apart, but for those side by side.
fn spread_outputs(shape: &ReductionShape, folds: u64) -> ReductionShape {
    let mut spread = shape.clone();
    spread.kept[1..].iter_mut().for_each(|d| d.logical_stride *= folds);
    spread
}
