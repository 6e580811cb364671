//! Seams: where rows of columns end within packs of the output, the packs that lie in one row are stored as such by one dispatch, and
//! those in which rows end by another.
//!
//! ```text
//!  rows of columns |a a a a a a|b b b b b b|c c c c c c|
//!  packs of four   |       |    *  |       |   *   |  *       * seams: the last ends with the outputs
//! ```

use super::layout::ReductionShape;
use super::schedule::{FEWEST_FAR_LOADS, Reduction, Schedule};
use super::windows::Window;
use super::{Binding, Dispatches};
use crate::Error;
use crate::shader::{Access, Epilogue, Kernel, Stores};

/// The fewest packs of a row: of a seam's two rows each is reduced as if all of the pack were its.
const FEWEST_PACKS: u64 = 8;

/// The same where there are so few rows to reduce that it matters how results are stored.
const FEW_ROWS: u64 = 16;
const FEWEST_PACKS_OF_FEW_ROWS: u64 = 4;

/// The same on GPUs, which wait longer for another dispatch.
const FEWEST_PACKS_ON_GPUS: u64 = 64;

/// The rows to reduce up to which it does not matter how few seams there are.
const MOST_ROWS: u64 = 64;

impl Reduction<'_> {
    /// What a window's dispatch stores of columns. Where these are seams, the packs that lie in one row are another dispatch's.
    pub fn stores(&self, Window { shape, schedule, .. }: &Window) -> Stores {
        let by_one = (schedule.team, schedule.chunks) == (1, 1);
        let fewest = || self.fewest_seam_columns(shape);
        if schedule.access != Access::Columns
            || !Kernel::stores_packs(self.dtype, self.epilogue, schedule.column_packs > 1)
        {
            Stores::Results
        } else if self.stores_whole_packs(shape) {
            Stores::Packs
        } else if by_one && fewest().is_some_and(|fewest| shape.columns() >= Some(fewest)) {
            Stores::Seams
        } else {
            Stores::Results
        }
    }

    /// The fewest columns of which this pays, if it does.
    pub fn fewest_seam_columns(&self, shape: &ReductionShape) -> Option<u64> {
        let pack = self.dtype.pack_elements();
        let shares_words = self.epilogue.lanes(self.dtype) > 1;
        let fewest = match (self.device.spreads(), self.epilogue) {
            (false, _) if shares_words => pack * 3 / 2, // what else there is is slow
            (false, _) if shape.reduce_len() <= FEW_ROWS => FEWEST_PACKS_OF_FEW_ROWS * pack,
            (false, _) => FEWEST_PACKS * pack,
            // Values are stored in words at little cost there, and so are the positions of many rows.
            (true, Epilogue::Index | Epilogue::Winner) if shape.reduce_len() <= pack => FEWEST_PACKS_ON_GPUS * pack,
            (true, _) => return None,
        };
        // Few seams of many rows would be waited for: too few invocations reduce them.
        let waited_for = shape.reduce_len() > MOST_ROWS.max(shape.rows_of_columns().saturating_mul(8));
        (!waited_for && self.loads(shape) >= FEWEST_FAR_LOADS).then_some(fewest)
    }

    /// The dispatches of a window whose outputs are stored as they are found.
    pub fn direct(&self, window: &Window, targets: Vec<Binding>) -> Result<Dispatches, Error> {
        if let [target] = targets[..]
            && let Some(dispatches) = self.bunches_in_packs(window, target)?
        {
            return Ok(dispatches);
        }
        match (self.stores(window), &targets[..]) {
            (Stores::Seams, &[target]) => {
                let whole = Binding { bytes: target.bytes / 16 * 16, ..target };
                let packs = self.window(window, Stores::Packs, vec![whole], None)?;
                let alone = Window { schedule: Schedule { column_packs: 1, ..window.schedule }, ..window.clone() };
                let seams = self.window(&alone, Stores::Seams, vec![target], None)?;
                Ok(Dispatches(vec![packs, seams]))
            }
            (stores, _) => Ok(Dispatches(vec![self.window(window, stores, targets, None)?])),
        }
    }
}
