//! Bunches of short rows: where they pay, and those whose results are whole packs while the few rows that do not fill one are another
//! dispatch's.

use std::ops::Range;

use super::layout::{Dimension, LARGEST_USUAL_BLOCK, ReductionShape, gcd};
use super::schedule::{FEWEST_FAR_LOADS, FEWEST_LOADS, Reduction, SHORT_ROWS_INVOCATIONS, Schedule};
use super::windows::Window;
use super::{Binding, Dispatches};
use crate::Error;
use crate::shader::{
    Access, Bunches, Epilogue, LARGEST_BLOCK, LONGEST_SHORT_ROW, MOST_BUNCH_PACKS, Operator, RowBlock, Stores,
};

/// The longest short rows where neighbouring invocations are to read what lies side by side, or bunches have many packs.
const LONGEST_USUAL_SHORT_ROW: u64 = 32;

/// The fewest packs of columns that are not narrow. Maxima of few rows are found as fast by packs that begin anywhere where bunches have more
/// than the usual words.
const FEWEST_WIDE_PACKS: u64 = 8;
const MANY_ROWS: u64 = 8;
const USUAL_WORDS: u64 = 1280;

/// The shortest rows, or blocks, whose bunches are staged: with as many rows as a pack has elements they would be a line of 128 bytes. The
/// most words of such a bunch, and the fewest invocations of such a workgroup.
const SHORTEST_STAGED_BLOCK: u64 = 8;
const MOST_STAGED_WORDS: u64 = 80;
const FEWEST_STAGING: u64 = 32;

/// The most packs of a bunch that an invocation of a GPU writes, and the most rows of a bunch of blocks: of more, neighbours lie too far
/// apart.
const MOST_NEAR_PACKS: u64 = 6;
const MOST_NEAR_ROWS: u64 = 48;

/// The largest blocks of windows, in bytes, whose runs are whole packs: of larger ones runs are as fast.
const LARGEST_WHOLE_WINDOWS: u64 = 256;

/// The most runs of a row that is short: those of a window of pixels.
const MAX_SHORT_RUNS: u64 = 64;

impl Reduction<'_> {
    /// The bunches that a kernel takes, if it takes short rows.
    pub fn bunch(&self, access: Access) -> Option<Bunches> {
        Bunches::of_access(access, self.dtype, self.epilogue)
    }

    /// The bunch of an invocation that finds it in workgroup memory, where neighbours have left what they loaded side by side: on GPUs,
    /// of rows or blocks that follow one another from end to end, and of which the packs of a usual bunch would be a cache line and more
    /// of its own. It has no more rows than are whole words, of elements and of results.
    fn staged_bunch(&self, shape: &ReductionShape, block: RowBlock) -> Option<Bunches> {
        let RowBlock { len, columns, .. } = block;
        let Reduction { dtype, epilogue, device, .. } = *self;
        let rows = columns * (dtype.lanes() / gcd(columns, dtype.lanes()));
        let own = Bunches { dtype, epilogue, block, rows, exchanged: false, staged: true };
        let (bytes, count) = (own.member_bytes(), shape.outputs().div_ceil(rows));
        let longest = if columns == 1 { LONGEST_USUAL_SHORT_ROW } else { LARGEST_USUAL_BLOCK };
        let in_order = shape.reduce_len() == len && shape.start.is_multiple_of(dtype.pack_elements());
        let short = (SHORTEST_STAGED_BLOCK..=longest).contains(&block.elements())
            && (self.operator() == Operator::ReduceMax || own.elements() <= device.most_positions(epilogue));
        let fits = own.can_be_staged()
            && own.words() <= MOST_STAGED_WORDS
            && device.group_of_members(bytes) >= FEWEST_STAGING
            && count <= device.invocations_of_members(bytes);
        let pays = device.spreads()
            && (columns == 1 || !columns.is_multiple_of(dtype.pack_elements()))
            && count * SHORT_ROWS_INVOCATIONS >= device.tuning.busy_invocations;
        (!shape.has_stretches(&block) && epilogue != Epilogue::Ones && in_order && short && fits && pays).then_some(own)
    }

    /// Bunches of rows that follow one another, or of blocks of them that do, if they are so short that bunches pay.
    pub fn bunches(&self, shape: &ReductionShape) -> Option<Bunches> {
        let [windows, rows] = [shape.window_block(), shape.row_block()];
        let staged = [windows, rows].into_iter().flatten().find_map(|block| self.staged_bunch(shape, block));
        let usual = [windows.filter(|block| self.windows_pay(block)), rows].into_iter().flatten();
        staged.or_else(|| usual.into_iter().find_map(|block| self.bunches_of(shape, block)))
    }

    /// Whether blocks of rows in two dimensions are faster than their runs, where those are whole packs and blocks large. No GPU was
    /// asked.
    fn windows_pay(&self, block: &RowBlock) -> bool {
        let whole = (block.turn * block.columns).is_multiple_of(self.dtype.pack_elements());
        let large = block.elements().saturating_mul(self.dtype.bytes()) > LARGEST_WHOLE_WINDOWS;
        !self.device.spreads() && self.epilogue != Epilogue::Ones && !(whole && large)
    }

    fn bunches_of(&self, shape: &ReductionShape, block: RowBlock) -> Option<Bunches> {
        let pack = self.dtype.pack_elements();
        let RowBlock { len, columns, .. } = block;
        let stretch_rows = shape.stretch_rows(&block);
        let Reduction { dtype, epilogue, .. } = *self;
        let own = Bunches { dtype, epilogue, block, rows: 0, exchanged: false, staged: false };
        let wanted_rows = if shape.has_stretches(&block) { stretch_rows } else { pack };
        let mut bunches = own.of_stretches(wanted_rows)?;
        if epilogue == Epilogue::Ones && columns == 1 && len > self.device.longest_fused_slice() {
            return None;
        }
        if self.device.spreads() && !self.lie_near(&bunches) {
            return None;
        }
        let loads = self.loads(shape);
        let bunches_pay = match self.are_whole(shape, &bunches) {
            true => self.whole_bunches_pay(&bunches, loads),
            false => {
                // A bunch has rows of one stretch and the next one.
                bunches = bunches.at_most(stretch_rows + columns)?;
                block.elements() <= self.device.longest_ragged_short_row(dtype) && loads >= FEWEST_LOADS
            }
        };
        let short = bunches_pay
            && shape.reduce_len() / len <= MAX_SHORT_RUNS
            && shape.outputs() / pack * SHORT_ROWS_INVOCATIONS >= self.device.tuning.busy_invocations;
        short.then_some(bunches)
    }

    /// Whether bunches are whole packs, and begin with one: those of as few rows as stretches have may be neither.
    pub fn are_whole(&self, shape: &ReductionShape, bunches: &Bunches) -> bool {
        bunches.are_valid(false) && shape.bunches_are_whole(self.dtype.pack_elements(), &bunches.block, bunches.rows)
    }

    /// Whether neighbours that take such a bunch each read and write near enough one another, for a GPU. Columns of whole packs, and slices
    /// of several, need no bunches there.
    fn lie_near(&self, bunches: &Bunches) -> bool {
        let &Bunches { block, rows, epilogue, .. } = bunches;
        let RowBlock { len, columns, .. } = block;
        let pack = self.dtype.pack_elements();
        match (epilogue, columns) {
            (Epilogue::Ones, 1) => bunches.packs() <= MOST_NEAR_PACKS && (len <= pack || !len.is_multiple_of(pack)),
            _ if columns > 1 && columns.is_multiple_of(pack) => false,
            (Epilogue::Ones, _) => bunches.packs() <= MOST_NEAR_PACKS || self.dtype.bytes() <= 2,
            _ => columns == 1 || rows <= MOST_NEAR_ROWS,
        }
    }

    /// Whether whole bunches pay: those of many packs, which take seconds to compile, where there are many of the smallest elements.
    fn whole_bunches_pay(&self, bunches: &Bunches, loads: u64) -> bool {
        let few_packs = bunches.packs() <= MOST_BUNCH_PACKS;
        let longest = match bunches.block.columns {
            1 if few_packs && !self.device.spreads() => LONGEST_SHORT_ROW,
            1 => LONGEST_USUAL_SHORT_ROW,
            _ if loads >= FEWEST_LOADS && self.large_blocks_pay(bunches) => LARGEST_BLOCK,
            _ => LARGEST_USUAL_BLOCK,
        };
        if self.operator() == Operator::ArgMax && bunches.elements() > self.device.most_positions(bunches.epilogue) {
            return false;
        }
        bunches.block.elements() <= longest && (few_packs || self.dtype.bytes() > 1 || loads >= FEWEST_FAR_LOADS)
    }

    /// Whether large blocks are of narrow columns, or of windows: on software, whatever else there is for these loads elements one by one, or
    /// packs that begin anywhere, and takes up to ten times as long; but two rows are a maximum of both. Whether their text is short enough
    /// to be compiled.
    fn large_blocks_pay(&self, bunches: &Bunches) -> bool {
        let pack = self.dtype.pack_elements();
        let RowBlock { len, columns, turn } = bunches.block;
        let narrow = columns < FEWEST_WIDE_PACKS * pack && !columns.is_multiple_of(pack);
        let words = bunches.words() * self.dtype.key_words();
        let few_rows = self.operator() == Operator::ReduceMax && (len == 2 || len < MANY_ROWS && words > USUAL_WORDS);
        let compiles = words <= self.device.most_bunch_words(self.operator());
        !self.device.spreads() && (turn > 1 || narrow && !few_rows) && compiles
    }

    /// The results of a window's bunches as whole packs, if they are such and it pays. GPUs wait longer for another
    /// dispatch of the rest.
    pub fn bunches_in_packs(&self, window: &Window, target: Binding) -> Result<Option<Dispatches>, Error> {
        let bunches = self.bunch(window.schedule.access).filter(|own| !own.staged); // staged ones have the rest in their dispatch
        let Some(Bunches { rows, .. }) = bunches else { return Ok(None) };
        let rest = window.shape.outputs() % rows;
        let rest_pays = !self.device.spreads() && self.loads(&window.shape) >= FEWEST_LOADS;
        if rest > 0 && !rest_pays {
            return Ok(None);
        }
        let dispatches = self.whole_bunches(window, target, Stores::Packs)?;
        Ok(dispatches.filter(|all| all.0.iter().all(|dispatch| dispatch.kernel.exists())))
    }

    /// Whole bunches, and then the rows that are left, which begin where a binding may: of the one target.
    pub fn whole_bunches(&self, window: &Window, target: Binding, stores: Stores) -> Result<Option<Dispatches>, Error> {
        let Window { shape, schedule, .. } = window;
        let Some((&Dimension { size, stride, logical_stride }, inner)) = shape.kept.split_last() else {
            return Ok(None);
        };
        let (rows, result_bytes) = (self.unit_results(schedule), self.target_bytes()[0]);
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
            let target = target.part(result_bytes, outputs.start, outputs.end - outputs.start);
            let window = Window { shape, schedule, first_output: outputs.start, ..window.clone() };
            dispatches.push(self.window(&window, stores, vec![target], None)?)?;
        }
        Ok(Some(dispatches))
    }
}
