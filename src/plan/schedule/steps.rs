//! How often an invocation goes round its loops, at most.

use super::{Reduction, Schedule};
use crate::plan::layout::ReductionShape;
use crate::shader::{Access, Bunches, Epilogue, Operator};

impl Reduction<'_> {
    /// Loop iterations of one invocation, at most.
    pub(super) fn steps(&self, shape: &ReductionShape, schedule: &Schedule) -> u64 {
        let Schedule { access, team, line, chunk_len, column_packs, .. } = *schedule;
        let run_len = shape.run().size.min(chunk_len);
        let runs = chunk_len.div_ceil(run_len).div_ceil(team / line) + 1;
        // As if ArgMax looped over the lanes of a word wherever it compares a tile of a row: more than any kernel does.
        let lane_steps = if self.operator() == Operator::ArgMax { self.dtype.lanes() } else { 1 };
        let run_steps = match access {
            Access::Rows if self.takes_few_packs(shape.run().size) => {
                run_len / self.dtype.pack_elements() + 4 * lane_steps
            }
            Access::Rows => (run_len / (self.dtype.pack_elements() * line * 4) + 4) * lane_steps,
            Access::Columns => (run_len.div_ceil(team) + 4) * column_packs,
            Access::Strided | Access::ShortRows { .. } => run_len / line + 1,
        };
        let dims = (shape.kept.len() + shape.reduced.len()) as u64;
        let writes = if self.epilogue == Epilogue::Ones { chunk_len / self.dtype.pack_elements() / team } else { 0 };
        let finding = dims + 128 * column_packs + writes; // the position, and where it is stored
        let rows = if access == Access::Columns { self.rows_of_pack(shape) } else { 1 };
        let task = rows * runs * (run_steps + dims * 2 * column_packs) + finding;
        let lanes = schedule.epilogue(self.epilogue).lanes(self.dtype);
        let of_parts = |bunch: Bunches| bunch.parts() * (2 + 2 * dims + runs * (1 + dims) + self.lanes());
        match access {
            Access::Rows | Access::Strided if team == 1 => task * lanes,
            _ => task.max(self.bunch(access).map_or(0, of_parts)),
        }
    }

    /// Those besides for the rows that fill no bunch, which an invocation takes one after another.
    pub(super) fn rest_steps(&self, shape: &ReductionShape, schedule: &Schedule) -> u64 {
        let Access::ShortRows { rows, .. } = schedule.access else { return 0 };
        if self.epilogue == Epilogue::Ones {
            return 0; // written in whole bunches
        }
        let (run_len, kept, outer) = (shape.run().size, shape.kept.len() as u64, shape.reduced.len() as u64 - 1);
        let search = shape.reduce_len() / run_len * (1 + outer + run_len.div_ceil(4));
        rows * (kept + search + self.lanes() + 6)
    }
}
