//! Seams: where rows of columns end within packs of the output, the packs that lie in one row are stored as such by one dispatch, and
//! those in which rows end by another.
//!
//! ```text
//!  rows of columns |a a a a a a|b b b b b b|c c c c c c|
//!  packs of four   |       |    *  |       |   *   |  *       * seams: the last ends with the outputs
//! ```
//!
//! And where stretches of short rows end within bunches, those that lie in one stretch are loaded in one piece by one dispatch, and the
//! others, of which each has two pieces, by another.

use super::layout::ReductionShape;
use super::schedule::{FEWEST_FAR_LOADS, FEWEST_RAGGED_LOADS, Reduction, Schedule};
use super::windows::Window;
use super::{Binding, Dispatch, Dispatches};
use crate::shader::{Access, Kernel, Stores};
use crate::{AdapterKind, Error};

/// The bunches of a stretch of short rows from which on those in which one ends are few.
const FEWEST_BUNCHES_OF_STRETCHES: u64 = 3;

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

    /// Whether bunches that lie in one stretch of short rows are loaded in one piece, and those in which stretches end, if there are any, by
    /// another dispatch.
    pub fn has_inner_bunches(&self, window: &Window) -> bool {
        let Some((block, rows)) = self.row_block(window.schedule.access) else { return false };
        let ragged = !window.shape.bunches_are_whole(self.dtype.pack_elements(), &block, rows);
        let fewest = if self.device.like == AdapterKind::Lavapipe { FEWEST_FAR_LOADS } else { FEWEST_RAGGED_LOADS };
        let pays = !self.device.spreads() && self.loads(&window.shape) >= fewest;
        ragged && pays && self.stretch_rows(window) >= FEWEST_BUNCHES_OF_STRETCHES * rows
    }

    /// The dispatch that reduces those bunches of short rows in which stretches end.
    pub fn bunch_seams(&self, mut window: Window, target: Binding) -> Result<Dispatch, Error> {
        let stretches = window.shape.outputs() / self.stretch_rows(&window);
        let most = window.schedule.share.max(self.device.needed_share(stretches)); // bunches for which no invocation loops too long
        window.schedule.share = self.device.share(stretches).min(most);
        self.window(&window, Stores::Seams, vec![target], None)
    }
}
