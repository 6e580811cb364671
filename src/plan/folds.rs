//! Folds: columns made wider, where rows follow one another in memory. As many narrow rows as fill whole packs count as one,
//! or fewer where these would leave too many records; what is found of their columns is merged. On software wide rows are folded, too,
//! so that they begin with packs. Blocks may begin and end anywhere within the rows that count as one.
//!
//! ```text
//!  rows of 3    |a b c|a b c|a b c|a b c|    an output's elements lie in columns 0, 3, 6 and 9 of rows of 12: four folds
//! ```

use super::layout::{ReductionShape, gcd};
use super::schedule::{FEWEST_LOADS, FEWEST_PACKS_ACROSS, Reduction, USUAL_PARTS};
use super::windows::{Block, Window};
use crate::shader::Access;

/// The fewest rows that are left where several count as one.
const FEWEST_FOLDED_ROWS: u64 = 24;

/// The parts of the input of which records may take one where otherwise elements would be loaded one by one, or packs begin anywhere. Those
/// of words and more cost SwiftShader little, which loads words.
pub(super) const PARTS_OF_ELEMENTS: u64 = 4;
const PARTS_OF_RAGGED_PACKS: u64 = 8;

/// All outputs from one window that is folded, if that pays.
pub(super) fn folded(reduction: &Reduction, window: &Window) -> Option<Block> {
    if reduction.device.spreads() { folded_on_gpus(reduction, window) } else { folded_on_software(reduction, window) }
}

/// Narrow rows into rows of several packs or, where these would leave too many records, of fewer.
fn folded_on_gpus(reduction: &Reduction, window: &Window) -> Option<Block> {
    let pack = reduction.dtype.pack_elements();
    let narrow = |width: &u64| window.shape.columns() < Some(*width);
    let mut widths = powers_of_two(pack, FEWEST_PACKS_ACROSS * pack).filter(narrow);
    widths.find_map(|width| folded_into(reduction, window, width, USUAL_PARTS))
}

/// Rows into rows of packs, since packs that begin anywhere take longer; where these would leave too many records, those of elements that
/// are loaded one by one into narrower ones. Panels of wide rows begin anywhere at little cost: they are folded where blocks
/// begin with packs.
fn folded_on_software(reduction: &Reduction, window: &Window) -> Option<Block> {
    let into = |width, parts| folded_into(reduction, window, width, parts);
    let pack = reduction.dtype.pack_elements();
    let ragged_costs = reduction.dtype.lanes() > 1 || reduction.device.has_wide_loads();
    match window.schedule.access {
        Access::Strided => powers_of_two(2, pack).find_map(|width| into(width, PARTS_OF_ELEMENTS)),
        Access::Columns if window.schedule.column_packs > 4 => None, // eight see all of a row
        Access::Columns if window.schedule.column_packs > 1 => {
            into(pack, USUAL_PARTS).filter(|block| !block.windows[0].shape.has_lead)
        }
        Access::Columns if ragged_costs => into(pack, PARTS_OF_RAGGED_PACKS),
        Access::Columns => into(pack, USUAL_PARTS),
        Access::Rows | Access::ShortRows { .. } => None,
    }
}

/// The greatest first.
fn powers_of_two(least: u64, most: u64) -> impl Iterator<Item = u64> {
    (least.ilog2()..=most.ilog2()).rev().map(|n| 1 << n)
}

/// Folded into whole stretches of `width` elements, a power of two.
fn folded_into(reduction: &Reduction, window: &Window, width: u64, parts: u64) -> Option<Block> {
    let folds = folds(reduction, &window.shape, width)?;
    let shape = folded_shape(&window.shape, folds, reduction.dtype.pack_elements());
    let seen = window.shape.seen();
    let records = shape.outputs().saturating_mul(reduction.record_bytes());
    let max_chunks = reduction.max_chunks(shape.outputs(), seen).min(reduction.max_records(reduction.out_len) / folds);
    if records > reduction.scratch_budget(seen, parts) || max_chunks == 0 {
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
    let pays = run.size >= FEWEST_FOLDED_ROWS * folds && reduction.loads(shape) >= FEWEST_LOADS;
    (in_one_piece && folds > 1 && pays).then_some(folds)
}

/// So many rows as one, whose columns are so many times as many. What is left of a block is the beginning of one more.
fn folded_shape(shape: &ReductionShape, folds: u64, pack: u64) -> ReductionShape {
    let mut folded = shape.clone();
    folded.rest_len = folded.reduced[0].size % folds * folded.kept[0].size;
    folded.kept[0].size *= folds;
    folded.reduced[0].size /= folds;
    folded.reduced[0].stride *= folds as i64;
    folded.has_lead = folded.kept[0].size.is_multiple_of(pack) && !folded.columns_are_whole(pack);
    folded
}
