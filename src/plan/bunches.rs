//! Bunches of short rows whose results are whole packs, and the few rows that do not fill one, which are another dispatch's.

use std::ops::Range;

use super::layout::{Dimension, gcd};
use super::schedule::{FEWEST_RAGGED_LOADS, Reduction, Schedule};
use super::windows::Window;
use super::{Binding, Dispatches, target_part};
use crate::Error;
use crate::shader::{Access, Stores};

impl Reduction<'_> {
    /// Ones and zeros by bunches of so many slices and, of the few that do not fill one, unit by unit.
    pub fn bunches_of_ones(&self, window: &Window, rows: u64, target: Binding) -> Result<Option<Dispatches>, Error> {
        self.whole_bunches(window, rows, target, Stores::Results)
    }

    /// The results of a window's bunches as whole packs, if they are such and it pays. GPUs wait longer for another
    /// dispatch of the rest.
    pub fn bunches_in_packs(&self, window: &Window, target: Binding) -> Result<Option<Dispatches>, Error> {
        let Access::ShortRows { rows, .. } = window.schedule.access else { return Ok(None) };
        let rest = window.shape.outputs() % u64::from(rows);
        let rest_pays = !self.device.spreads() && self.loads(&window.shape) >= FEWEST_RAGGED_LOADS;
        if rest > 0 && !rest_pays {
            return Ok(None);
        }
        let dispatches = self.whole_bunches(window, rows.into(), target, Stores::Packs)?;
        Ok(dispatches.filter(|all| all.0.iter().all(|dispatch| dispatch.kernel.exists())))
    }

    /// Whole bunches, and then the rows that are left, which begin where a binding may.
    fn whole_bunches(
        &self,
        window: &Window,
        rows: u64,
        target: Binding,
        stores: Stores,
    ) -> Result<Option<Dispatches>, Error> {
        let Window { shape, schedule, .. } = window;
        let Some((&Dimension { size, stride, logical_stride }, inner)) = shape.kept.split_last() else {
            return Ok(None);
        };
        let [result_bytes] = self.target_bytes()[..] else { return Ok(None) };
        let around = shape.outputs() / size;
        let step = rows / gcd(around, rows);
        let binding_step = self.device.binding_step(&[1]);
        let begins = binding_step / gcd(around * result_bytes, binding_step);
        let whole = if size.is_multiple_of(step) { size } else { size - size % (step / gcd(step, begins) * begins) };
        if whole == 0 {
            return Ok(None);
        }
        let alone = Schedule { access: Access::Strided, team: 1, line: 1, column_packs: 1, share: 1, ..*schedule };
        let share = self.device.needed_share(self.units((size - whole) * around, &alone));
        let alone = Schedule { share, ..alone };
        let mut dispatches = Dispatches::default();
        for (Range { start, end }, schedule, stores) in
            [(0..whole, *schedule, stores), (whole..size, alone, Stores::Results)]
        {
            if start == end {
                continue;
            }
            let mut shape = shape.clone();
            shape.kept = [inner, &[Dimension { size: end - start, stride, logical_stride }]].concat();
            shape.start = shape.start.wrapping_add_signed(stride * start as i64); // stays within the view's extent
            let outputs = start * around..end * around;
            let target = target_part(target, result_bytes, outputs.start, outputs.end - outputs.start);
            let window = Window { shape, schedule, first_output: outputs.start, ..window.clone() };
            dispatches.push(self.window(&window, stores, vec![target], None)?)?;
        }
        Ok(Some(dispatches))
    }
}
