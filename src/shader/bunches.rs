//! Bunches of short rows: rows so short that a few of them fill whole packs, and blocks of a few such rows side by side.
//!
//! ```text
//!  rows of 3             |a a a|b b b|c c c|
//!  rows of 2, columns 3  |a b c a b c|d e f d e f|
//!  the same, of 4 in 2s  |a a b b a a b b|
//! ```

use std::ops::Range;

use super::program::{Access, Epilogue, LARGEST_BLOCK, Operator, RowBlock};
use crate::DType;

/// Bunches of short rows, as a reduction takes them.
#[derive(Clone, Copy)]
pub(crate) struct Bunches {
    pub dtype: DType,
    pub epilogue: Epilogue,
    /// What follows from end to end.
    pub block: RowBlock,
    /// Rows of a bunch.
    pub rows: u64,
    /// Whether positions meet in workgroup memory, so that neighbours store what lies side by side.
    pub exchanged: bool,
    /// Whether neighbours load it together, and leave it in workgroup memory.
    pub staged: bool,
}

/// The most packs that a bunch, or a part of one, has if it has several units of results: the text of more is longer than what
/// keeps instructions close to a core, and holds more than its registers.
pub(crate) const MOST_BUNCH_PACKS: u64 = 16;

/// The most bytes of workgroup memory that a position takes which invocations exchange: its own and, of few, a place that is no
/// one's.
const EXCHANGED_BYTES: u64 = 8;

impl Bunches {
    /// Those that a kernel takes, if it takes short rows.
    pub fn of_access(access: Access, dtype: DType, epilogue: Epilogue) -> Option<Bunches> {
        let Access::ShortRows { block, rows, exchanged, staged } = access else { return None };
        Some(Bunches { dtype, epilogue, block, rows, exchanged, staged })
    }

    /// How a kernel takes them.
    pub fn access(&self) -> Access {
        let &Bunches { block, rows, exchanged, staged, .. } = self;
        Access::ShortRows { block, rows, exchanged, staged }
    }

    /// The bytes of workgroup memory that an invocation needs: for a bunch's words, where these are staged, else for the positions of its
    /// rows, where these are exchanged.
    pub fn member_bytes(&self) -> u64 {
        match (self.staged, self.exchanged) {
            (true, _) => self.words_apart() * 4,
            (false, true) => self.rows * EXCHANGED_BYTES,
            (false, false) => 0,
        }
    }

    /// Bunches of as many rows as are worth it, but no more than divide `stretch_rows`, if that is possible. None where rows are too
    /// long.
    pub fn of_stretches(self, stretch_rows: u64) -> Option<Bunches> {
        if self.block.elements() > LARGEST_BLOCK {
            return None;
        }
        let mut bunches = Bunches { rows: self.fewest_blocks() * self.block.columns, ..self };
        let stretches_are_whole = stretch_rows.is_multiple_of(bunches.rows);
        let mut more = bunches.rows * 2;
        while more <= self.dtype.pack_elements()
            && more * self.block.len <= self.most_elements()
            && (stretch_rows.is_multiple_of(more) || !stretches_are_whole)
        {
            bunches.rows = more;
            more *= 2;
        }
        bunches.are_valid(false).then_some(bunches)
    }

    /// The same of no more than so many rows, where they need not fill packs.
    pub fn at_most(mut self, rows: u64) -> Option<Bunches> {
        while self.rows > rows {
            self.rows /= 2;
        }
        self.are_valid(true).then_some(self)
    }

    /// A power of two: they fill whole packs and whole units of results.
    fn fewest_blocks(&self) -> u64 {
        filling(self.dtype.pack_elements(), self.block.elements()).max(filling(self.lanes(), self.block.columns))
    }

    /// Elements of a bunch.
    pub fn elements(&self) -> u64 {
        self.rows * self.block.len
    }

    /// Words of a bunch of whole ones.
    pub fn words(&self) -> u64 {
        self.elements() * self.dtype.bytes() / 4
    }

    /// Words of workgroup memory from a staged bunch to the next one: an odd number, so that neighbours read from different banks.
    pub fn words_apart(&self) -> u64 {
        self.words() | 1
    }

    /// Whether a bunch can be found in workgroup memory: it is whole words, more than a pack has, with room for the positions of its rows.
    pub fn can_be_staged(&self) -> bool {
        let bytes = self.elements() * self.dtype.bytes();
        bytes.is_multiple_of(4) && bytes > 16 && self.rows <= self.words()
    }

    /// Packs of a bunch.
    pub fn packs(&self) -> u64 {
        self.elements() / self.dtype.pack_elements()
    }

    /// Whether a bunch is of whole packs and units, and of no more blocks than a pack has elements. Those of `ragged` stretches, and
    /// staged ones, need not fill packs, but where these are written.
    pub fn are_valid(&self, ragged: bool) -> bool {
        let blocks = self.rows / self.block.columns.max(1);
        let fewest = || match (ragged || self.staged) && self.epilogue != Epilogue::Ones {
            true => filling(self.lanes(), self.block.columns),
            false => self.fewest_blocks(),
        };
        self.block.len >= 2
            && (1..=LARGEST_BLOCK).contains(&self.block.columns)
            && (1..=self.block.len).contains(&self.block.turn)
            && self.block.len.is_multiple_of(self.block.turn)
            && (self.block.columns == 1) == (self.block.turn == self.block.len)
            && self.block.elements() <= LARGEST_BLOCK
            && self.rows == blocks * self.block.columns
            && blocks.is_power_of_two()
            && (fewest()..=self.dtype.pack_elements()).contains(&blocks)
    }

    /// The parts that a bunch is taken in, one after another.
    pub fn parts(&self) -> u64 {
        self.rows / self.part_rows()
    }

    /// A part has whole units of results and, if that can be, no more of them than a pack has elements. Ones and zeros are written by one
    /// who knows all winners of a pack.
    pub fn part_rows(&self) -> u64 {
        if self.epilogue == Epilogue::Ones {
            return self.rows;
        }
        let mut rows = self.rows;
        let is_too_much = |rows| rows * self.block.len > self.most_elements() || rows > self.dtype.pack_elements();
        while is_too_much(rows)
            && (rows / self.block.columns).is_multiple_of(2)
            && (rows / 2).is_multiple_of(self.lanes())
        {
            rows /= 2;
        }
        rows
    }

    fn most_elements(&self) -> u64 {
        let most = match self.epilogue.operator() {
            Operator::ReduceMax => 160,
            Operator::ArgMax => 64,
        };
        (MOST_BUNCH_PACKS * self.dtype.pack_elements()).min(most)
    }

    /// Whether the results of each part are whole packs, where one takes so many bytes.
    pub fn fill_result_packs(&self, result_bytes: u64) -> bool {
        (self.part_rows() * result_bytes).is_multiple_of(16)
    }

    /// The rows whose results share a unit.
    pub fn lanes(&self) -> u64 {
        self.epilogue.lanes(self.dtype)
    }

    /// The row that an element belongs to, and its number in that row.
    pub fn place(&self, element: u64) -> (u64, u64) {
        let (block, within) = (element / self.block.elements(), element % self.block.elements());
        let of_all = self.block.turn * self.block.columns;
        let (turns, within) = (within / of_all, within % of_all);
        (block * self.block.columns + within / self.block.turn, turns * self.block.turn + within % self.block.turn)
    }

    /// The elements of these rows.
    pub fn elements_of(&self, rows: &Range<u64>) -> Range<u64> {
        rows.start * self.block.len..rows.end * self.block.len
    }

    /// The packs that these rows lie in.
    pub fn packs_of(&self, rows: &Range<u64>) -> Range<u64> {
        let (pack, elements) = (self.dtype.pack_elements(), self.elements_of(rows));
        elements.start / pack..elements.end.div_ceil(pack)
    }

    /// For each pack that these rows lie in the first whose elements belong to the same of them, place by place.
    pub fn alike_packs(&self, rows: &Range<u64>) -> Vec<u64> {
        let (pack, elements) = (self.dtype.pack_elements(), self.elements_of(rows));
        let mut distinct: Vec<(Vec<Option<u64>>, u64)> = Vec::new();
        let first = |n: u64| {
            let row = |e| elements.contains(&e).then(|| self.place(e).0);
            let own: Vec<_> = (n * pack..(n + 1) * pack).map(row).collect();
            match distinct.iter().find(|(rows, _)| *rows == own) {
                Some(&(_, first)) => first,
                None => {
                    distinct.push((own, n));
                    n
                }
            }
        };
        self.packs_of(rows).map(first).collect()
    }
}

/// The fewest blocks, a power of two, that fill a number of elements which is one, too.
fn filling(elements: u64, block: u64) -> u64 {
    elements >> block.trailing_zeros().min(elements.trailing_zeros())
}
