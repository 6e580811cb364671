//! A box of a Max's output: which programs write it, and how they read the operands.

use std::ops::Range;

use super::device::{Device, FEWEST_PACKS, ROWS_OF_COLUMNS, to_u32};
use super::layout::{Source, gcd};
use super::reads::{Read, Rows, mask};
use super::schedule::{MAX_STEPS, SHORT_ROWS_INVOCATIONS};
use super::{Binding, Dispatch, Dispatches, check_count};
use crate::error::within;
use crate::shader::{
    BroadcastParams, FIRST_OPERAND, LONGEST_WRITTEN_ROW, MaxAccess, MaxOperands, Override, Params, Program, TILE_PACKS,
    WALK_DIMS,
};
use crate::{AdapterKind, DType, Error};

/// The fewest packs of a row that ends within one.
const FEWEST_RAGGED_PACKS: u64 = 2;

/// The packs of a row of columns that neighbours write side by side, at least.
const FEWEST_SPREAD_PACKS: u64 = 128;

/// How a Max is written, and the elements that it writes at once.
#[derive(Clone, Copy)]
struct Writer {
    operands: MaxOperands,
    access: MaxAccess,
    write_len: u64,
    /// Elements of a row; 1 where they are written one by one.
    row_len: u64,
    /// How packs are shared out; others are, one after another.
    tasks: Option<Tasks>,
}

/// What an invocation writes, and the invocations that there are to do it.
#[derive(Clone, Copy)]
struct Tasks {
    share: u64,
    invocations: u64,
    /// Neighbours that take turns along rows.
    neighbours: u64,
    /// Whether neighbours write side by side.
    spread: bool,
}

/// The loop iterations of an invocation.
pub(super) struct Turns {
    /// Elements that are written at once.
    write_len: u64,
    /// The turns that this takes.
    each: u64,
    /// The turns that it takes to begin a row.
    row: u64,
}

impl Turns {
    /// Of finding where a row begins in each operand.
    pub fn of_row(operands: u64, dimensions: u64) -> u64 {
        1 + operands + dimensions * (1 + operands)
    }

    /// Of single elements in rows that may begin and end within a unit, each of which may have something to be kept. lavapipe
    /// walks through the loops of a branch once, also where no invocation takes it.
    pub fn of_elements(dtype: DType, row: u64) -> Turns {
        Turns { write_len: dtype.lanes(), each: 1, row: row + 4 * dtype.lanes() }
    }

    /// The writes of an invocation that stay below [`MAX_STEPS`], where rows have so many elements. The first and the last
    /// row may be begun for little, and in the first unit something be kept.
    pub fn max_writes(&self, row_len: u64) -> u64 {
        let left = MAX_STEPS - 2 * (self.row + self.each) - self.write_len;
        (left * row_len / (self.each * row_len + self.write_len * self.row)).max(1)
    }
}

/// A box of the output, within its binding.
pub(super) struct OutputBox<'a> {
    pub dtype: DType,
    pub device: &'a Device,
    pub len: u64,
    pub rows: Rows,
    pub target: Binding,
    /// The first element.
    pub begin: u64,
    /// The first element after it that is kept as it is.
    pub end: u64,
    /// Whether there are elements around it to be kept.
    pub keeps: bool,
    pub nan: Option<Override>,
}

impl OutputBox<'_> {
    /// The first window of every operand, then the second of those that have one, and so on. A dispatch takes so many.
    pub fn rounds(&self, sources: &[Source], strides: &[Vec<i64>], max_operands: u64) -> Result<Vec<Vec<Read>>, Error> {
        let mut rounds: Vec<Vec<Read>> = Vec::new();
        let mut count = 0;
        for (source, strides) in sources.iter().zip(strides) {
            let windows = Read::windows(self.dtype, source, strides, self.device)?;
            count += windows.len();
            check_count((count as u64).div_ceil(max_operands))?; // before there are more than a plan can have
            for (round, read) in windows.into_iter().enumerate() {
                match rounds.get_mut(round) {
                    Some(reads) => reads.push(read),
                    None => rounds.push(vec![read]),
                }
            }
        }
        Ok(rounds)
    }

    /// Whole packs, where every operand can be read so; what remains element by element.
    pub fn dispatches(&self, reads: &[Read], continues: bool) -> Result<Dispatches, Error> {
        let lanes = self.dtype.lanes();
        let units = (self.begin + self.len).div_ceil(lanes);
        let elements = |first| {
            self.dispatch(
                Writer {
                    operands: operands_of(reads),
                    access: MaxAccess::Elements,
                    write_len: lanes,
                    row_len: 1,
                    tasks: None,
                },
                reads,
                continues,
                first..units,
            )
        };
        let Some(bulk) = self.bulk(reads) else {
            return Ok(Dispatches(vec![elements(self.begin / lanes)?]));
        };
        let writes = self.len / bulk.write_len;
        let mut dispatches = Dispatches(vec![self.dispatch(bulk, reads, continues, 0..writes)?]);
        if !self.len.is_multiple_of(bulk.write_len) {
            dispatches.push(elements(writes * bulk.write_len / lanes)?)?;
        }
        Ok(dispatches)
    }

    /// How whole packs are written, if that is possible and worth it.
    fn bulk(&self, reads: &[Read]) -> Option<Writer> {
        let pack = self.dtype.pack_elements();
        let pays = |bulk: &Writer| {
            let writes = self.len / bulk.write_len;
            let pays = self.len.is_multiple_of(bulk.write_len) || writes * bulk.write_len >= FEWEST_PACKS * pack;
            self.begin == 0 && writes > 0 && pays
        };
        let columns = self.columns(reads).filter(pays);
        columns.or_else(|| self.short_rows(reads).or_else(|| self.packs(reads)).filter(pays))
    }

    /// Tiles of columns, where some operands have the same elements in every row of whole tiles, all others lie as the output does, and
    /// there are rows enough.
    fn columns(&self, reads: &[Read]) -> Option<Writer> {
        let (pack, spread) = (self.dtype.pack_elements(), self.device.spreads());
        let tile = if spread { pack } else { TILE_PACKS * pack };
        let (outer, inner) = self.rows.sizes.split_last().filter(|(_, inner)| (1..WALK_DIMS).contains(&inner.len()))?;
        let of_columns = |read: &Read| !read.partial && read.strides[inner.len()] == 0;
        let as_output =
            |read: &Read| !read.partial && self.rows.follow_one_another(&read.strides) && read.begins_with_pack(pack);
        let inner_len = inner.iter().product::<u64>();
        let fewest = tile / gcd(tile, inner_len); // of these rows one of whole tiles is made
        let wide = if spread { (FEWEST_SPREAD_PACKS * pack).div_ceil(fewest * inner_len) } else { 1 };
        let own = wide * fewest;
        let row_len = own * inner_len;
        let short = self.rows.row_len() <= LONGEST_WRITTEN_ROW;
        let ragged = short && self.rows.are_ragged(pack) && self.rows.have_ragged_stretches(pack);
        let takes = self.device.takes_columns_of_max(row_len / pack, inner_len, ragged);
        let takes = takes && outer / own >= ROWS_OF_COLUMNS;
        let known = mask(reads, of_columns);
        if !takes || known == 0 || !reads.iter().all(|read| of_columns(read) || as_output(read)) {
            return None;
        }
        let (tiles, row_tiles) = (self.len / tile, row_len / tile);
        let rows = tiles.div_ceil(row_tiles);
        let wanted = self.device.share_of_columns(tiles);
        let share = if spread { wanted } else { rows.div_ceil(rows.div_ceil(wanted)) };
        let (operands, access) = (MaxOperands { of_columns: known, ..operands_of(reads) }, MaxAccess::Columns);
        let tasks = Tasks { share, invocations: row_tiles * rows.div_ceil(share), neighbours: 1, spread };
        let fits = tasks.invocations <= self.device.max_invocations && share <= MAX_STEPS / 2;
        fits.then_some(Writer { operands, access, write_len: tile, row_len, tasks: Some(tasks) })
    }

    fn packs(&self, reads: &[Read]) -> Option<Writer> {
        let pack = self.dtype.pack_elements();
        if self.rows.are_ragged(pack) && self.rows.row_len() < FEWEST_RAGGED_PACKS * pack {
            return None;
        }
        let forms = reads.iter().map(|read| read.in_packs(&self.rows, pack)).collect::<Option<Vec<_>>>()?;
        let (of_rows, shifted) = (mask(&forms, |form| form.along_row), mask(&forms, |form| form.shifted));
        let bindings = 1 + reads.len() as u32 + (shifted & !of_rows).count_ones();
        let room = bindings <= self.device.limits.max_storage_bindings && !self.device.limits.shared_buffers;
        let pairs = shifted & !of_rows != 0 && room && self.device.has_wide_loads();
        let (operands, access) = (MaxOperands { of_rows, shifted, ..operands_of(reads) }, MaxAccess::Packs { pairs });
        let writer = Writer { operands, access, write_len: pack, row_len: self.rows.row_len(), tasks: None };
        let tasks = self.spread_parts().or_else(|| self.row_tasks(writer))?;
        Some(Writer { tasks: Some(tasks), ..writer })
    }

    /// Bunches of rows, where they lie in one piece, and there are enough to keep the device busy.
    fn short_rows(&self, reads: &[Read]) -> Option<Writer> {
        let pack = self.dtype.pack_elements();
        let (len, &rows) = (self.rows.row_len(), self.rows.sizes.get(1)?);
        let in_two_stretches = match self.rows.have_ragged_stretches(pack) {
            false => true,
            true if len.is_multiple_of(pack) => false, // whole packs of a row are as fast
            true => rows + 1 >= pack && (len < FEWEST_RAGGED_PACKS * pack || self.device.like == AdapterKind::Lavapipe),
        };
        let busy = self.len / (pack * len) * SHORT_ROWS_INVOCATIONS >= self.device.tuning.busy_invocations;
        if !(2..=LONGEST_WRITTEN_ROW).contains(&len) || !in_two_stretches || !busy {
            return None;
        }
        let forms = reads.iter().map(|read| read.in_short_rows(&self.rows, pack)).collect::<Option<Vec<_>>>()?;
        let operands = MaxOperands {
            count: reads.len() as u32,
            of_rows: mask(&forms, |form| form.along_row),
            of_columns: mask(&forms, |form| form.row_after_row),
            shifted: mask(&forms, |form| form.shifted),
        };
        let access = MaxAccess::ShortRows { len: len as u32 };
        Some(Writer { operands, access, write_len: pack * len, row_len: len, tasks: None })
    }

    /// Writes these packs, or output units.
    fn dispatch(&self, writer: Writer, reads: &[Read], continues: bool, writes: Range<u64>) -> Result<Dispatch, Error> {
        let (device, group) = (self.device, self.device.tuning.group);
        let count = writes.end - writes.start;
        let Writer { operands, access, write_len, row_len, tasks } = writer;
        let program = Program::Max { operands, access };
        let Tasks { share, invocations, neighbours, spread } = match tasks {
            Some(tasks) => tasks,
            None => self.shares(writer, count)?,
        };
        let ragged = match access {
            MaxAccess::Packs { .. } => self.rows.are_ragged(write_len),
            MaxAccess::ShortRows { .. } => self.rows.have_ragged_stretches(self.dtype.pack_elements()),
            MaxAccess::Columns | MaxAccess::Elements => false,
        };
        let overrides = [
            self.nan,
            continues.then_some(Override::Accumulate),
            (self.keeps && !program.takes_packs()).then_some(Override::PreserveEdges),
            ragged.then_some(Override::Ragged),
            Override::of_neighbours(neighbours),
            spread.then_some(Override::Spread),
            (spread && self.rows.sizes.len() == 1).then_some(Override::OneRow),
            reads.iter().any(|read| read.partial).then_some(Override::BoundsChecked),
        ];
        // Dimensions within what it finds addresses for: a row or an element.
        let inside = usize::from(matches!(access, MaxAccess::Packs { .. } | MaxAccess::ShortRows { .. }));
        let operand = |(n, read): (usize, &Read)| Binding { binding: FIRST_OPERAND + n as u32, ..read.window };
        let words = |(binding, n): (u32, u32)| Binding { binding, ..reads[n as usize].window };
        Ok(Dispatch {
            kernel: device.kernel(program, self.dtype, group, &overrides),
            params: Params::Broadcast(BroadcastParams {
                len: to_u32(self.len)?,
                share: to_u32(share)?,
                row_len: to_u32(row_len)?,
                first: to_u32(writes.start)?,
                begin: to_u32(self.begin)?,
                end: to_u32(self.end)?,
                sizes: self.rows.sizes[inside..].iter().map(|&size| to_u32(size)).collect::<Result<_, _>>()?,
                operands: reads.iter().map(|read| read.params(inside)).collect(),
            }),
            grid: device
                .grid(invocations.div_ceil(group), group * share * write_len.max(self.dtype.pack_elements()))?,
            bindings: [self.target]
                .into_iter()
                .chain(reads.iter().enumerate().map(operand))
                .chain(program.paired_operands().map(words))
                .collect(),
        })
    }

    /// Parts of four packs, where devices like neighbours to read side by side.
    fn spread_parts(&self) -> Option<Tasks> {
        let row_packs = self.rows.row_len() / self.dtype.pack_elements();
        let invocations = self.rows.count() * row_packs.div_ceil(TILE_PACKS);
        let spreads = self.device.spreads() && invocations <= self.device.max_invocations;
        spreads.then_some(Tasks { share: TILE_PACKS, invocations, neighbours: 1, spread: true })
    }

    /// Whole rows of packs, or parts of a row that are as long as one another: invocations that run in lockstep all wait for the
    /// one with most to do. Nothing where there are too many.
    fn row_tasks(&self, writer: Writer) -> Option<Tasks> {
        let pack = writer.write_len;
        let row_packs = (self.rows.row_len() / pack).max(1);
        let neighbours = self.device.neighbours_of_max(row_packs, self.rows.are_ragged(pack));
        let (turns, stretch) = self.turns(writer);
        let limit = turns.max_writes((stretch / neighbours).max(pack));
        let wanted = self.device.share(self.len / pack).min(limit) * neighbours;
        let nearest = |packs: u64, of: u64| ((packs + of / 2) / of).max(1);
        let together = nearest(wanted, row_packs) * row_packs.div_ceil(nearest(row_packs, wanted));
        let share = if neighbours > 1 { together.div_ceil(neighbours).next_multiple_of(TILE_PACKS) } else { together };
        [share.min(limit), limit].into_iter().find_map(|share| {
            let own_rows = (share * neighbours / row_packs).max(1);
            let stretches = self.rows.count().div_ceil(own_rows) * row_packs.div_ceil(share * neighbours);
            let invocations = stretches * neighbours;
            (invocations <= self.device.max_invocations).then_some(Tasks {
                share,
                invocations,
                neighbours,
                spread: false,
            })
        })
    }

    /// As many packs, bunches or output units for each invocation: several, unless finding a row's addresses takes too long.
    fn shares(&self, writer: Writer, writes: u64) -> Result<Tasks, Error> {
        let (turns, stretch) = self.turns(writer);
        let (limit, needed) = (turns.max_writes(stretch), self.device.needed_share(writes));
        within("writes of one invocation", needed, limit)?;
        let wanted = if writer.access == MaxAccess::Elements {
            self.device.share_of_elements(writes)
        } else {
            self.device.share(writes)
        };
        let share = wanted.min(limit);
        Ok(Tasks { share, invocations: writes.div_ceil(share), neighbours: 1, spread: false })
    }

    /// What an invocation takes, and the elements for which it finds the addresses once.
    fn turns(&self, Writer { operands, access, write_len, .. }: Writer) -> (Turns, u64) {
        let operands = operands.count.into();
        let (sizes, lanes, pack) = (&self.rows.sizes, self.dtype.lanes(), self.dtype.pack_elements());
        let row = Turns::of_row(operands, sizes.len() as u64 - 1);
        match access {
            // A row that ends within a pack needs the next one's beginning, too, and one more pack.
            MaxAccess::Packs { .. } => {
                (Turns { write_len, each: lanes, row: 2 * row + lanes }, (sizes[0] / write_len).max(1) * write_len)
            }
            MaxAccess::ShortRows { len } => (
                Turns { write_len, each: u64::from(len) * lanes, row: 2 * row + u64::from(len) * lanes },
                (sizes[1] / pack).max(1) * write_len, // whole bunches of a stretch of rows
            ),
            // Tiles of columns are shared out where they are chosen (`columns`).
            MaxAccess::Columns | MaxAccess::Elements => {
                (Turns::of_elements(self.dtype, row + 1 + operands), sizes.iter().take(WALK_DIMS).product())
            }
        }
    }
}

/// As many operands as are read, of which nothing is known.
fn operands_of(reads: &[Read]) -> MaxOperands {
    MaxOperands::new(reads.len() as u32)
}
