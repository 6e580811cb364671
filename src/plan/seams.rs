//! Seams: where rows of columns end within packs of the output, the packs that lie in one row are stored as such by one dispatch, and
//! those in which rows end by another.
//!
//! ```text
//!  rows of columns |a a a a a a|b b b b b b|c c c c c c|
//!  packs of four   |       |    *  |       |   *   |  *       * seams: the last ends with the outputs
//! ```

use super::layout::ReductionShape;
use super::schedule::{Reduction, Schedule};
use super::windows::Window;
use super::{Binding, Dispatches};
use crate::Error;
use crate::shader::{Access, Kernel, Stores};

impl Reduction<'_> {
    /// What a dispatch stores of columns. Where these are seams, the packs that lie in one row are another dispatch's.
    pub fn stores(&self, shape: &ReductionShape, schedule: &Schedule) -> Stores {
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

    /// The dispatches of a window whose outputs are stored as they are found.
    pub fn direct(&self, window: &Window, targets: Vec<Binding>) -> Result<Dispatches, Error> {
        if let [target] = targets[..]
            && let Some(dispatches) = self.bunches_in_packs(window, target)?
        {
            return Ok(dispatches);
        }
        match (self.stores(&window.shape, &window.schedule), &targets[..]) {
            (Stores::Seams, &[target]) => {
                let whole = Binding { bytes: target.bytes / 16 * 16, ..target };
                let packs = self.window(window, Stores::Packs, vec![whole], None)?;
                let alone =
                    Window { schedule: Schedule { column_packs: 1, share: 1, ..window.schedule }, ..window.clone() };
                let seams = self.window(&alone, Stores::Seams, vec![target], None)?;
                Ok(Dispatches(vec![packs, seams]))
            }
            (stores, _) => Ok(Dispatches(vec![self.window(window, stores, targets, None)?])),
        }
    }
}
