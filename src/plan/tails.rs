//! Tails: where all outputs are one row of columns that ends within a pack, what fills whole packs is stored so, in a dispatch of its
//! own, and the tail in another.

use std::ops::Range;

use super::schedule::{FEWEST_FAR_LOADS, Reduction};
use super::windows::{Block, Window};
use crate::shader::{Access, Epilogue};

/// Outputs begin a part of a target where they are a multiple of so many: as many bytes as any device aligns bindings to.
const PART_OUTPUTS: u64 = 256;

/// The most rows where it pays, but on GPUs: of more there is less to store.
const MOST_ROWS: u64 = 64;

/// The block, or what fills whole packs and the tail.
pub(super) fn without_tail(reduction: &Reduction, block: Block) -> Vec<Block> {
    cut(reduction, &block).unwrap_or_else(|| vec![block])
}

fn cut(reduction: &Reduction, block: &Block) -> Option<Vec<Block>> {
    let [Window { ref shape, ref schedule, .. }] = block.windows[..] else { return None };
    let columns = shape.columns()?;
    let whole = columns / PART_OUTPUTS * PART_OUTPUTS;
    let pays = block.is_direct()
        && schedule.access == Access::Columns
        && columns == shape.outputs()
        && !reduction.stores_whole_packs(shape)
        && whole > 0
        && shape.reduce_len() <= most_rows(reduction, block.epilogue)
        && reduction.loads(shape) >= FEWEST_FAR_LOADS;
    if !pays {
        return None;
    }
    [0..whole, whole..columns].into_iter().map(|columns| part(reduction, block, columns)).collect()
}

/// A GPU waits longer for another dispatch than it takes to store values in words, or a few positions.
fn most_rows(reduction: &Reduction, epilogue: Epilogue) -> u64 {
    match (reduction.device.spreads(), epilogue) {
        (false, _) => MOST_ROWS,
        (true, Epilogue::Index) => reduction.dtype.pack_elements(),
        (true, _) => 0,
    }
}

fn part(reduction: &Reduction, block: &Block, columns: Range<u64>) -> Option<Block> {
    let Window { slot, extent, ref shape, first_output, first_position, .. } = block.windows[0];
    let mut shape = shape.clone();
    shape.kept[0].size = columns.end - columns.start;
    shape.start += columns.start;
    let schedule = reduction.schedule(&shape, block.epilogue, 1)?;
    let outputs = block.outputs.start + columns.start..block.outputs.start + columns.end;
    let first_output = first_output + columns.start;
    let windows = vec![Window { slot, extent, shape, schedule, first_output, first_position }];
    Some(Block { outputs, windows, folds: 1, epilogue: block.epilogue })
}
